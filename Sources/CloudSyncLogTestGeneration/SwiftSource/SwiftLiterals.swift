import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes values as Swift expressions, and remembers which helpers they need.
struct SwiftLiterals {
  /// The zone that the file has a constant for.
  let zoneID: ZoneID?
  private(set) var needsFoundation = false
  private(set) var needsID = false
  private(set) var needsData = false
  private(set) var needsWith = false

  init(zoneID: ZoneID?) { self.zoneID = zoneID }

  mutating func needFoundation() { needsFoundation = true }

  // MARK: Identities

  mutating func id(_ id: RecordID) -> SwiftCode {
    if let zoneID, id.zoneID == zoneID {
      needsID = true
      return .text("id(\(SwiftCode.literal(id.name)))")
    }
    return .call(
      "RecordID",
      [("name", .text(SwiftCode.literal(id.name))), ("zoneID", Self.zone(id.zoneID))]
    )
  }

  static func zone(_ zone: ZoneID) -> SwiftCode {
    var arguments: [(label: String?, value: SwiftCode)] = [
      ("name", .text(SwiftCode.literal(zone.name)))
    ]
    if !UTF8Bytes.equal(zone.owner, ZoneID.currentUser) {
      arguments.append(("owner", .text(SwiftCode.literal(zone.owner))))
    }
    if zone.scope != .private { arguments.append(("scope", .text(".\(zone.scope)"))) }
    return .call("ZoneID", arguments)
  }

  mutating func ids(_ ids: [RecordID]) -> SwiftCode { .array(ids.map { id($0) }) }

  static func time(_ time: Timestamp) -> SwiftCode {
    .text("Timestamp(nanoseconds: \(SwiftCode.digits(time.nanoseconds)))")
  }

  static func code(_ code: SyncError.Code) -> String {
    code.isUnknown ? ".unknown(\(code.rawValue))" : ".\(code)"
  }

  // MARK: Bytes

  /// Bytes as the text that they are, one by one, or in Base64.
  mutating func data(_ data: Data) -> SwiftCode {
    needsFoundation = true
    if data.isEmpty { return "Data()" }
    if data.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) {
      return .text("Data(\(SwiftCode.literal(String(decoding: data, as: UTF8.self))).utf8)")
    }
    if data.count <= 16 {
      let bytes = data.map { "0x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }
      return .call("Data", .array(bytes.map(SwiftCode.text)))
    }
    needsData = true
    return .text("data(\"\(data.base64EncodedString())\")")
  }

  mutating func token(_ token: ChangeToken) -> SwiftCode {
    .call("ChangeToken", data(token.bytes))
  }

  // MARK: Records

  mutating func record(_ record: Record) -> SwiftCode {
    var arguments: [(label: String?, value: SwiftCode)] = [
      ("recordType", .text(SwiftCode.literal(record.recordType))),
      ("recordID", id(record.recordID)),
    ]
    if !record.fields.isEmpty {
      let pairs = record.fields.map { (key: SwiftCode.literal($0.name), value: value($0.value)) }
      arguments.append(("fields", .dictionary(pairs)))
    }
    if let tag = record.changeTag {
      arguments.append(("changeTag", .text(SwiftCode.literal(tag))))
    }
    var changes: [String] = []
    if !record.encryptedKeys.isEmpty {
      let keys = record.encryptedKeys.map(SwiftCode.literal).joined(separator: ", ")
      changes.append("$0.encryptedKeys = [\(keys)]")
    }
    if let parent = record.parent { changes.append("$0.parent = \(id(parent).source())") }
    if let share = record.share { changes.append("$0.share = \(id(share).source())") }
    if let date = record.creationDate {
      changes.append("$0.creationDate = \(Self.time(date).source())")
    }
    if let date = record.modificationDate {
      changes.append("$0.modificationDate = \(Self.time(date).source())")
    }
    return with(.call("Record", arguments), changes)
  }

  /// A value that is changed before it is used.
  mutating func with(_ value: SwiftCode, _ changes: [String]) -> SwiftCode {
    if changes.isEmpty { return value }
    needsWith = true
    return .call("with", value, .closure(changes))
  }

  mutating func records(_ records: [Record]) -> SwiftCode {
    .array(records.map { record($0) })
  }

  mutating func value(_ value: FieldValue) -> SwiftCode {
    switch value {
    case .null: return ".null"
    case .string(let text): return .text(SwiftCode.literal(text))
    case .int64(let number): return .text(SwiftCode.digits(number))
    case .double(let number): return .text(".double(\(SwiftCode.literal(number)))")
    case .timestamp(let time): return .call(".timestamp", Self.time(time))
    case .data(let bytes): return .call(".data", data(bytes))
    case .reference(let reference):
      var arguments: [(label: String?, value: SwiftCode)] = [
        ("recordID", id(reference.recordID))
      ]
      if reference.action == .deleteSelf { arguments.append(("action", ".deleteSelf")) }
      return .call(".reference", .call("Reference", arguments))
    case .asset(let asset):
      return .call(
        ".asset",
        .call(
          "Asset",
          [
            ("sha256", data(asset.sha256)),
            ("byteCount", .text(SwiftCode.digits(asset.byteCount))),
            ("location", .text(SwiftCode.literal(asset.location))),
          ]
        )
      )
    case .location(let location): return .call(".location", Self.location(location))
    case .list(let values): return .call(".list", .array(values.map { self.value($0) }))
    case .redacted(let redaction):
      return .call(
        ".redacted",
        .call(
          "Redaction",
          [
            ("kind", .text(SwiftCode.literal(redaction.kind))),
            ("byteCount", .text(SwiftCode.digits(redaction.byteCount))),
            ("digest", .text(SwiftCode.literal(redaction.digest))),
          ]
        )
      )
    }
  }

  private static func location(_ location: Location) -> SwiftCode {
    let numbers: [(String, Double?)] = [
      ("latitude", location.latitude), ("longitude", location.longitude),
      ("altitude", location.altitude), ("horizontalAccuracy", location.horizontalAccuracy),
      ("verticalAccuracy", location.verticalAccuracy), ("course", location.course),
      ("speed", location.speed),
    ]
    var arguments: [(label: String?, value: SwiftCode)] = numbers.compactMap { name, number in
      number.map { (name, .text(SwiftCode.literal($0))) }
    }
    if let time = location.timestamp { arguments.append(("timestamp", Self.time(time))) }
    return .call("Location", arguments)
  }
}
