package import CloudSyncCore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Values as the API has them: `{"value": …, "type": "STRING"}`.
package enum WireValue {
  /// The name of the type of a value, and of the elements of a list; nil where there is none.
  static func typeName(_ value: FieldValue) -> String? {
    switch value {
    case .null, .redacted: nil
    case .string: "STRING"
    case .int64: "INT64"
    case .double: "DOUBLE"
    case .timestamp: "TIMESTAMP"
    case .data: "BYTES"
    case .reference: "REFERENCE"
    case .asset: "ASSETID"
    case .location: "LOCATION"
    case .list(let values): values.first.flatMap(typeName).map { "\($0)_LIST" }
    }
  }

  /// Writes a field's value.
  static func write(
    _ value: FieldValue,
    isEncrypted: Bool,
    with assets: (Asset) -> WireAsset,
    to writer: inout JSONWriter
  ) {
    writer.object { writer in
      writer.name("value")
      writeBare(value, with: assets, to: &writer)
      writer.member("type", typeName(value))
      if isEncrypted { writer.member("isEncrypted", true) }
    }
  }

  private static func writeBare(
    _ value: FieldValue,
    with assets: (Asset) -> WireAsset,
    to writer: inout JSONWriter
  ) {
    switch value {
    case .null, .redacted: writer.null()
    case .string(let text): writer.string(text)
    // In quotes: not every reader has numbers of 64 bits.
    case .int64(let number): writer.string(String(number))
    case .double(let number): writeDouble(number, to: &writer)
    case .timestamp(let timestamp): writer.raw(String(WireTime.milliseconds(timestamp)))
    case .data(let data): writer.string(data.base64EncodedString())
    case .reference(let reference): write(reference, to: &writer)
    case .asset(let asset): assets(asset).write(to: &writer)
    case .location(let location): write(location, to: &writer)
    case .list(let values):
      writer.array(values) { writer, value in writeBare(value, with: assets, to: &writer) }
    }
  }

  private static func writeDouble(_ number: Double, to writer: inout JSONWriter) {
    if number.isFinite {
      writer.raw("\(number)")
    } else {
      // All bits of a number that is none.
      writer.string("bits:" + String(number.bitPattern, radix: 16))
    }
  }

  private static func write(_ reference: Reference, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("recordName", reference.recordID.name)
      writer.member("action", reference.action == .deleteSelf ? "DELETE_SELF" : "NONE")
      writer.name("zoneID")
      WireZone.write(reference.recordID.zoneID, to: &writer)
    }
  }

  private static func write(_ location: Location, to writer: inout JSONWriter) {
    writer.object { writer in
      for (name, value) in location.numbers {
        guard let value else { continue }
        writer.name(name)
        writeDouble(value, to: &writer)
      }
      if let timestamp = location.timestamp {
        writer.member("timestamp", WireTime.milliseconds(timestamp))
      }
    }
  }
}

/// An asset as the API has it.
///
/// The project's own server names a file by its digest and length; Apple's gives a receipt for an
/// upload and an address for a download.
package struct WireAsset: Sendable, Hashable {
  package var sha256: Data?
  package var byteCount: Int64?
  package var receipt: String?
  package var downloadURL: String?
  /// Apple's checksum, reference checksum and key, which go back as they came.
  package var opaque: [String: String] = [:]

  package init(
    sha256: Data? = nil,
    byteCount: Int64? = nil,
    receipt: String? = nil,
    downloadURL: String? = nil
  ) {
    self.sha256 = sha256
    self.byteCount = byteCount
    self.receipt = receipt
    self.downloadURL = downloadURL
  }

  /// The asset for the project's own server, which has the file already or refuses it.
  package init(_ asset: Asset) { self.init(sha256: asset.sha256, byteCount: asset.byteCount) }

  static let opaqueNames = ["fileChecksum", "referenceChecksum", "wrappingKey"]

  package func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("sha256", sha256?.base64EncodedString())
      if let byteCount { writer.member("size", byteCount) }
      writer.member("receipt", receipt)
      writer.member("downloadURL", downloadURL)
      for name in Self.opaqueNames {
        guard let value = opaque[name] else { continue }
        writer.name(ofField: name)
        writer.string(value)
      }
    }
  }

  package init(from reader: inout JSONReader) throws(WireError) {
    self.init()
    try reader.object { (reader, name) throws(WireError) in
      switch name {
      case "sha256":
        guard let data = Data(base64Encoded: try reader.string()), data.count == 32 else {
          throw reader.failure("a SHA-256 digest has 32 bytes")
        }
        sha256 = data
      case "size":
        let size = try reader.int64()
        guard size >= 0 else { throw reader.failure("a length is not negative") }
        byteCount = size
      case "receipt": receipt = try reader.optionalString()
      case "downloadURL": downloadURL = try reader.optionalString()
      case let name where Self.opaqueNames.contains(name):
        opaque[name] = try reader.optionalString()
      default: try reader.skipValue()
      }
    }
  }
}

extension JSONReader {
  /// Reads text, or null.
  package mutating func optionalString() throws(WireError) -> String? {
    try isNull() ? nil : try string()
  }
}
