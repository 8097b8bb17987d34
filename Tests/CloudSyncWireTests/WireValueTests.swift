import CloudSyncCore
import CloudSyncWire
import Foundation
import Testing

@Suite("Values on the wire")
struct WireValueTests {
  private static let zone = ZoneID(name: "Notes")
  private static let target = RecordID(name: "target", zoneID: zone)

  /// The record after the way through bytes.
  private func returned(_ record: Record) throws -> Record {
    let changes = WireZoneChanges(zoneID: Self.zone, syncToken: nil)
    let token = try #require(ChangeToken(Data([1])))
    let page = FetchOperation.Response(changedRecords: [record], changeToken: token)
    let read = try changes.page(reading: changes.body(of: .success(page))).get()
    #expect(read.failures == [])
    return try #require(read.changedRecords.first)
  }

  private static let digest = Data((0..<32).map { UInt8($0 &* 7) })

  /// Values that come back exactly.
  private static let exact: [FieldValue] = [
    .null, "", "plain", "é", "e\u{301}", "\u{0}\u{1}\u{1f}\u{7f}\u{1f469}\u{200d}\u{1f680}",
    "\u{2028}\"\\/\n\r\t\u{8}\u{c}",
    .int64(0), .int64(.min), .int64(.max), .int64(1 << 53 + 1), .int64(-1),
    .double(0.0), .double(-0.0), .double(0.1), .double(.leastNonzeroMagnitude),
    .double(.greatestFiniteMagnitude),
    .double(1), .double(1e21), .double(.infinity), .double(-.infinity), .double(.nan),
    .double(Double(bitPattern: 0x7ff8_dead_beef_0001)), .double(.pi),
    .timestamp(Timestamp(nanoseconds: 1_700_000_000_123_000_000)),
    .timestamp(Timestamp(nanoseconds: -1_000_000)), .timestamp(Timestamp(nanoseconds: 0)),
    .data(Data()), .data(Data([0])), .data(Data((0..<256).map { UInt8($0) })),
    .reference(Reference(recordID: target)),
    .reference(Reference(recordID: target, action: .deleteSelf)),
    .asset(Asset(sha256: digest, byteCount: 1 << 40, location: "")),
    .location(Location(latitude: -0.0, longitude: 179.999_999_999_9)),
    .location(
      Location(
        latitude: 1,
        longitude: .nan,
        altitude: .infinity,
        horizontalAccuracy: 0.1,
        verticalAccuracy: 2,
        course: 3,
        speed: 4,
        timestamp: Timestamp(nanoseconds: 5_000_000)
      )
    ),
    [], ["a", ""], [1, 2], [.double(1), .double(-0.0)], [.data(Data([1])), .data(Data())],
    [.reference(Reference(recordID: target))], [.timestamp(Timestamp(nanoseconds: 0))],
    [.asset(Asset(sha256: digest, byteCount: 0, location: ""))],
    [.location(Location(latitude: 1, longitude: 2))],
  ]

  @Test("48. Every value comes back bit for bit", arguments: exact.indices)
  func comesBack(index: Int) throws {
    let value = Self.exact[index]
    let record = Record(
      recordType: "Note",
      recordID: RecordID(name: "n", zoneID: Self.zone),
      fields: ["f": value],
      changeTag: "t"
    )
    #expect(try returned(record)["f"] == value)
  }

  @Test("48. Each of the first 256 characters comes back from each place of a text")
  func everyPlace() throws {
    for code in UInt32(0)..<256 {
      let character = Character(try #require(Unicode.Scalar(code)))
      let texts = (0..<18)
        .map { place in
          String(repeating: "a", count: place) + String(character)
            + String(repeating: "é!", count: 17 - place)
        }
      let record = Record(
        recordType: "Note",
        recordID: RecordID(name: texts[Int(code % 18)], zoneID: Self.zone),
        fields: ["f": .list(texts.map(FieldValue.string))]
      )
      #expect(try returned(record) == record, "\(code)")
    }
  }

  @Test("24. Whole numbers, numbers with a point and numbers of 64 bits stay what they are")
  func numbers() throws {
    let record = Record(
      recordType: "Note",
      recordID: RecordID(name: "n", zoneID: Self.zone),
      fields: ["a": .int64(1), "b": .double(1.0), "c": .int64(9_007_199_254_740_993)]
    )
    #expect(try returned(record).fields == record.fields)
  }

  @Test("What a record has beside its fields comes back too; marks of encryption stay")
  func wholeRecord() throws {
    var record = Record(
      recordType: "Note",
      recordID: RecordID(name: "n \"\\ ü", zoneID: Self.zone),
      fields: ["b": 1, "a": "x", "ä": 2],
      changeTag: "tag"
    )
    record.encryptedKeys = ["a"]
    record.parent = Self.target
    record.share = RecordID(name: "share", zoneID: Self.zone)
    record.creationDate = Timestamp(nanoseconds: 1_000_000)
    record.modificationDate = Timestamp(nanoseconds: 2_000_000)

    #expect(try returned(record) == record)
  }

  @Test("Timestamps are cut to milliseconds, the ends of the range too")
  func times() throws {
    for (nanoseconds, expected) in [
      (1_999_999, 1_000_000), (-1, -1_000_000), (Int64.max, Int64.max / 1_000_000 * 1_000_000),
    ] as [(Int64, Int64)] {
      let record = Record(
        recordType: "Note",
        recordID: RecordID(name: "n", zoneID: Self.zone),
        fields: ["f": .timestamp(Timestamp(nanoseconds: nanoseconds))]
      )
      let value = try returned(record)["f"]
      #expect(value == .timestamp(Timestamp(nanoseconds: expected)))
    }
  }

  private func field(_ json: String) -> FieldValue? {
    let text = """
      {"zones":[{"zoneID":{"zoneName":"Notes"},"syncToken":"t","records":[
      {"recordName":"n","recordType":"Note","fields":{"f":\(json)}}]}]}
      """
    let changes = WireZoneChanges(zoneID: Self.zone, syncToken: nil)
    return (try? changes.page(reading: Array(text.utf8)).get())?.changedRecords.first?["f"]
  }

  @Test("Apple's forms are read: numbers or text, a missing zone, VALIDATE, parts of milliseconds")
  func appleForms() {
    #expect(field(#"{"type":"INT64","value":7}"#) == 7)
    #expect(field(#"{"value":"-9223372036854775808","type":"INT64"}"#) == .int64(.min))
    #expect(field(#"{"value":1e3,"type":"INT64"}"#) == 1_000)
    #expect(field(#"{"value":"1.5","type":"DOUBLE"}"#) == 1.5)
    #expect(
      field(#"{"value":12.75,"type":"TIMESTAMP"}"#)
        == .timestamp(Timestamp(nanoseconds: 12_000_000))
    )
    #expect(
      field(#"{"value":{"recordName":"target","action":"VALIDATE"},"type":"REFERENCE"}"#)
        == .reference(Reference(recordID: Self.target))
    )
    let foreign = #"{"recordName":"target","zoneID":{"zoneName":"Notes","ownerRecordName":"_u"}}"#
    #expect(
      field(#"{"value":\#(foreign),"type":"REFERENCE"}"#)
        == .reference(Reference(recordID: Self.target))
    )
    #expect(field(#"{"value":"AQ==","type":"ENCRYPTED_BYTES"}"#) == .data(Data([1])))
    #expect(field(#"{"value":[],"type":"STRING_LIST"}"#) == [])
  }

  @Test("49. A field of an unknown type, and members that nobody knows, are ignored")
  func unknownTypes() {
    #expect(field(#"{"value":{"a":[1,{}]},"type":"HOLOGRAM"}"#) == nil)
    #expect(field(#"{"value":[1],"type":"HOLOGRAM_LIST"}"#) == nil)
    #expect(field(#"{"value":"x","type":"STRING","more":[true,null]}"#) == "x")
  }

  @Test("49. Unknown fields and members of a record are no part of it, nor of its next edit")
  func unknownMembers() throws {
    let text = """
      {"zones":[{"zoneID":{"zoneName":"Notes"},"syncToken":"t","pluginFields":{},"records":[
      {"recordName":"n","recordType":"Note","recordChangeTag":"t1","pluginFields":{"a":[1,null]},
      "fields":{"f":{"type":"STRING","value":"x"},"hologram":{"type":"HOLOGRAM","value":[{}]},
      "l":{"type":"HOLOGRAM_LIST","value":[1]}}}]}]}
      """
    let changes = WireZoneChanges(zoneID: Self.zone, syncToken: nil)
    let page = try changes.page(reading: Array(text.utf8)).get()
    #expect(page.failures == [])
    var record = try #require(page.changedRecords.first)
    #expect(record.fields.map(\.name) == ["f"])

    // Even all that was read, sent back whole, sets only what is known: an update leaves the rest.
    record["f"] = "y"
    let operation = ModifyOperation(records: [record])
    let body = WireModification(operation, zoneID: Self.zone, isAtomic: false).body()
    let sent = String(decoding: body, as: UTF8.self)
    #expect(sent.contains(#""operationType":"update""#))
    #expect(!sent.contains("hologram") && !sent.contains("HOLOGRAM"))
    #expect(!sent.contains(#""l""#) && !sent.contains("pluginFields"))
    let read = try WireModification(reading: body, scope: .private, with: { _ in nil }, limit: 1)
    #expect(read.operation.records.map(\.changeTag) == ["t1"])
    #expect(read.operation.records.map(\.fields) == [[RecordField(name: "f", value: "y")]])
  }

  @Test("What no service can hold is told before anything is sent")
  func problems() {
    let redacted = FieldValue.redacted(Redaction(kind: "string", byteCount: 1, digest: "d"))
    for bad: FieldValue in [[[1]], [1, "x"], [.null], redacted, .list([.double(1), 1])] {
      #expect(WireFormat.own.problem(bad) != nil)
    }
    for value in Self.exact { #expect(WireFormat.own.problem(value) == nil) }
    #expect(WireFormat.apple.problem(.double(.nan)) != nil)
    #expect(WireFormat.apple.problem(.double(1)) == nil)
    #expect(WireFormat.apple.problem([.double(.infinity)]) != nil)
  }
}
