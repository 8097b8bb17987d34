import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension WireValue {
  /// A field as it came; its value is nil if its type is unknown.
  struct Field {
    var value: FieldValue?
    var isEncrypted = false
  }

  /// Reads a field.
  ///
  /// - Parameters:
  ///   - zoneID: The zone of the record, which references that name none mean.
  ///   - assets: Says where the file of an asset lies; nil if the asset cannot be taken.
  ///   - reader: Stands before the field.
  /// - Returns: The field.
  /// - Throws: What is wrong with the bytes.
  static func field(
    in zoneID: ZoneID,
    with assets: @escaping (WireAsset) -> Asset?,
    from reader: inout JSONReader
  ) throws(WireError) -> Field {
    var field = Field()
    var type: String?
    var value: JSONReader?
    try reader.object { (reader, name) throws(WireError) in
      switch name {
      case "value": value = try reader.deferred()
      case "type": type = try reader.optionalString()
      case "isEncrypted": field.isEncrypted = try reader.isNull() ? false : try reader.bool()
      default: try reader.skipValue()
      }
    }
    guard var value else { throw reader.failure("a field has no value") }
    if try value.isNull() {
      field.value = .null
    } else {
      let bare = Bare(zoneID: zoneID, assets: assets)
      field.value = try bare.value(type: type, from: &value)
    }
    return field
  }

  /// Reads values without their types around them.
  private struct Bare {
    let zoneID: ZoneID
    let assets: (WireAsset) -> Asset?

    func value(type: String?, from reader: inout JSONReader) throws(WireError) -> FieldValue? {
      guard let type else { return try untyped(from: &reader) }
      if let element = Self.elementType(of: type) {
        var values: [FieldValue] = []
        var isKnown = true
        try reader.array { (reader) throws(WireError) in
          if let value = try single(type: element, from: &reader) {
            values.append(value)
          } else {
            isKnown = false
          }
        }
        return isKnown ? .list(values) : nil
      }
      return try single(type: type, from: &reader)
    }

    /// The type of a list's elements; nil if the type is that of one value.
    private static func elementType(of type: String) -> String? {
      // One byte tells it of most types; comparing characters costs more.
      guard type.utf8.last == UInt8(ascii: "T"), type.hasSuffix("_LIST") else { return nil }
      return String(type.dropLast(5))
    }

    /// An empty list has no type; nothing else is sent without one.
    private func untyped(from reader: inout JSONReader) throws(WireError) -> FieldValue? {
      if reader.isString() { return .string(try reader.string()) }
      guard reader.isArray() else { return nil }
      var isEmpty = true
      try reader.array { (reader) throws(WireError) in
        isEmpty = false
        try reader.skipValue()
      }
      return isEmpty ? .list([]) : nil
    }

    private func single(
      type: String,
      from reader: inout JSONReader
    ) throws(WireError) -> FieldValue? {
      switch type {
      case "STRING": return .string(try reader.string())
      case "INT64": return .int64(try reader.int64())
      case "DOUBLE": return .double(try reader.double())
      case "TIMESTAMP": return .timestamp(try reader.timestamp())
      case "BYTES", "ENCRYPTED_BYTES":
        guard let data = Data(base64Encoded: try reader.string()) else {
          throw reader.failure("the text is not base64")
        }
        return .data(data)
      case "REFERENCE": return .reference(try reference(from: &reader))
      case "ASSETID", "ASSET":
        guard let asset = assets(try WireAsset(from: &reader)) else {
          throw reader.failure("the file of an asset is not to be had")
        }
        return .asset(asset)
      case "LOCATION": return .location(try location(from: &reader))
      default:
        try reader.skipValue()
        return nil
      }
    }

    private func reference(from reader: inout JSONReader) throws(WireError) -> Reference {
      var recordName: String?
      var action = Reference.Action.none
      var zone = zoneID
      try reader.object { (reader, name) throws(WireError) in
        switch name {
        case "recordName": recordName = try reader.string()
        // A third one, VALIDATE, asks the server to look whether the target is there.
        case "action": action = try reader.optionalString() == "DELETE_SELF" ? .deleteSelf : .none
        case "zoneID":
          zone = try reader.isNull() ? zoneID : WireZone.read(like: zoneID, from: &reader)
        default: try reader.skipValue()
        }
      }
      guard let recordName else { throw reader.failure("a reference names no record") }
      return Reference(recordID: RecordID(name: recordName, zoneID: zone), action: action)
    }

    private func location(from reader: inout JSONReader) throws(WireError) -> Location {
      var location = Location(latitude: 0, longitude: 0)
      try reader.object { (reader, name) throws(WireError) in
        if try reader.isNull() { return }
        switch name {
        case "latitude": location.latitude = try reader.double()
        case "longitude": location.longitude = try reader.double()
        case "altitude": location.altitude = try reader.double()
        case "horizontalAccuracy": location.horizontalAccuracy = try reader.double()
        case "verticalAccuracy": location.verticalAccuracy = try reader.double()
        case "course": location.course = try reader.double()
        case "speed": location.speed = try reader.double()
        case "timestamp": location.timestamp = try reader.timestamp()
        default: try reader.skipValue()
        }
      }
      return location
    }
  }
}

extension JSONReader {
  /// Reads a number of floating point, or the text that stands for one that is not finite.
  mutating func double() throws(WireError) -> Double {
    let text = try numberText()
    if text.hasPrefix("bits:"), let bits = UInt64(text.dropFirst(5), radix: 16) {
      return Double(bitPattern: bits)
    }
    guard let number = Double(text), number.isFinite else {
      throw failure("\(text.prefix(40)) is no number")
    }
    return number
  }
}
