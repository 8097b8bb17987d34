import CloudSyncCore
import CloudSyncTestSupport
import CloudSyncWire
import Foundation
import Testing

@Suite("Hostile bytes on the wire")
struct WireHostileTests {
  private static let zone = ZoneID(name: "Notes")

  private static func record(_ name: String) -> Record {
    Record(
      recordType: "Note",
      recordID: RecordID(name: name, zoneID: zone),
      fields: [
        "text": "a\u{0}é\"", "number": .double(-0.5), "list": [1, 2],
        "link": .reference(Reference(recordID: RecordID(name: "x", zoneID: zone))),
      ],
      changeTag: "tag-\(name)"
    )
  }

  /// Everything that reads bytes of the other side.
  private static let readers: [@Sendable ([UInt8]) -> Void] = [
    { _ = read($0) },
    { bytes in
      let operation = ModifyOperation(records: ["a", "b", "c"].map(record))
      _ = WireModification(operation, zoneID: zone, isAtomic: true).response(reading: bytes)
    },
    { _ = WireLookup([record("a").recordID], zoneID: zone).response(reading: $0) },
    { _ = WireFailure.read($0, zoneID: zone) },
    { bytes in
      let assets = WireAsset.unlocated
      _ = try? WireModification(reading: bytes, scope: .private, with: assets, limit: 400)
    },
    { _ = try? WireLookup(reading: $0, scope: .shared, limit: 400) },
    { _ = try? WireZoneChanges(reading: $0, scope: .private) },
    { _ = try? WireZones.changes(reading: $0, scope: .private, limit: 9) },
    { _ = try? WireZones.names(reading: $0, scope: .private, limit: 9) },
    { _ = WireZones.error(in: "zones", reading: $0, zoneID: zone) },
    { _ = try? WireSubscriptions.subscription(reading: $0, scope: .private) },
    { _ = try? WireAssetUpload.tokens(reading: $0, limit: 9) },
    { _ = WireAssetUpload.asset(reading: $0) },
    { _ = try? WireDatabaseChanges.syncToken(reading: $0) },
    { _ = WireCaller.name(reading: $0) },
  ]

  /// The body of a response with three records and a deletion.
  private static let page: [UInt8] = {
    let page = FetchOperation.Response(
      changedRecords: ["a", "b", "c"].map(record),
      deletedRecords: [DeletedRecord(recordID: record("d").recordID)],
      changeToken: ChangeToken(Data([1, 2, 3])),
      hasMore: true
    )
    return WireZoneChanges(zoneID: zone, syncToken: nil).body(of: .success(page))
  }()

  private static func read(_ bytes: [UInt8]) -> Result<FetchOperation.Response, SyncError> {
    WireZoneChanges(zoneID: zone, syncToken: nil).page(reading: bytes)
  }

  @Test("45. A body that is cut anywhere is no page, and no crash")
  func cut() throws {
    #expect(try Self.read(Self.page).get().changedRecords.count == 3)
    for count in Self.page.indices {
      let error = Self.read(Array(Self.page[..<count])).failure
      #expect(error?.code == .networkFailure, "\(count)")
    }
  }

  @Test("45. A response to a modification or a look-up that is cut anywhere is lost as a whole")
  func cutAnswers() throws {
    let records = ["a", "b", "c"].map(Self.record)
    let operation = ModifyOperation(records: records)
    let modification = WireModification(operation, zoneID: Self.zone, isAtomic: false)
    var conflict = SyncError(.serverRecordChanged, "why")
    conflict.serverRecord = records[2]
    let answer = modification.body(
      of: ModifyOperation.Response(
        savedRecords: Array(records.prefix(2)),
        failures: [ItemFailure(records[2].recordID, conflict)]
      )
    )
    #expect(try modification.response(reading: answer).get().savedRecords.count == 2)
    let lookup = WireLookup(records.map(\.recordID), zoneID: Self.zone)
    let found = lookup.body(of: FetchOperation.Response(changedRecords: records, changeToken: nil))
    #expect(try lookup.response(reading: found).get().changedRecords.count == 3)
    for count in answer.indices {
      let error = modification.response(reading: Array(answer[..<count])).failure
      #expect(error?.code == .serverResponseLost, "\(count)")
    }
    for count in found.indices {
      let error = lookup.response(reading: Array(found[..<count])).failure
      #expect(error?.code == .networkFailure, "\(count)")
    }
  }

  @Test("48. Changed bytes give an error, a failure of a record or another value, and no crash")
  func changed() {
    var random = SplitMix64(seed: 4)
    let operation = ModifyOperation(
      records: [Self.record("a"), Self.record("b")],
      recordIDsToDelete: [Self.record("c").recordID]
    )
    let modification = WireModification(operation, zoneID: Self.zone, isAtomic: true)
    let recordIDs = operation.records.map(\.recordID)
    let messages = [
      Self.page, modification.body(), WireLookup(recordIDs, zoneID: Self.zone).body,
      WireZones.body(creating: Self.zone), WireSubscriptions.body(subscribingTo: Self.zone),
      WireZoneChanges(zoneID: Self.zone, syncToken: "t", resultsLimit: 9).body,
      Array(#"{"serverErrorCode":"CONFLICT","reason":"r","retryAfter":1.5,"reset":true}"#.utf8),
      Array(#"{"zones":[{"zoneID":{"zoneName":"Notes"},"atomic":true}],"syncToken":"AA=="}"#.utf8),
      Array(#"{"singleFile":{"size":1,"receipt":"r"},"tokens":[{"fieldName":"f"}]}"#.utf8),
    ]
    // More of them by hand, from another seed each time.
    let wanted = ProcessInfo.processInfo.environment["CLOUDSYNC_FUZZ_ROUNDS"].flatMap { Int($0) }
    if let wanted { random = SplitMix64(seed: UInt64(wanted)) }
    for round in 0..<(wanted ?? SuiteSize.count(1_200, long: 500_000)) {
      var bytes = messages[round % messages.count]
      for _ in 0...Int(random.below(4)) {
        let place = Int(random.below(UInt64(bytes.count)))
        switch random.below(3) {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
        case 1 where bytes.count > 1: bytes.remove(at: place)
        default: bytes.insert(contentsOf: bytes[place...].prefix(9), at: place)
        }
      }
      for read in Self.readers { read(bytes) }
    }
  }

  @Test(
    "48. Numbers out of reach, deep nesting, half characters, bad UTF-8: an error",
    arguments: [
      #"{"zones":[{"zoneID":{"zoneName":"a"},"syncToken":"\ud800"}]}"#,
      #"{"zones":[{"a":1e999999},{}]}"#, #"{"zones":[{"syncToken":"t","moreComing":1}]}"#,
      String(repeating: "[", count: 10_000), String(repeating: #"{"a":"#, count: 10_000),
      #"{"zones":[{"syncToken":"\u12"}]}"#, #"{"zones":[{"syncToken":"\x"}]}"#, "", " ", "nul",
      #"{"zones":[{"syncToken":01}]}"#, #"{"zones":[]}"#, "{\"zones\":\"\u{1}\"}",
      #"{"zones":[{"syncToken":"t"},{"syncToken":"t"}]}"#, #"{"zones":[{"syncToken":"t"}]} x"#,
    ]
  )
  func malformed(text: String) {
    #expect(Self.read(Array(text.utf8)).failure?.code == .networkFailure)
  }

  @Test("48. Bytes that are not UTF-8 are an error")
  func badUTF8() {
    let bytes = Array(#"{"zones":[{"syncToken":""#.utf8) + [0xff, 0xc0] + Array(#""}]}"#.utf8)
    #expect(Self.read(bytes).failure?.code == .networkFailure)
  }

  @Test("A record that cannot be read is a failure of the page; the others come")
  func oneBadRecord() throws {
    for bad in [
      #"{"value":"x","type":"INT64"}"#, #"{"value":"1e999","type":"DOUBLE"}"#,
      #"{"value":"%","type":"BYTES"}"#, #"{"value":{},"type":"REFERENCE"}"#, #"{"type":"STRING"}"#,
      #"{"value":{"sha256":"AA=="},"type":"ASSETID"}"#, "7", #"{"value":"x","type":"STRING_LIST"}"#,
      #"{"value":["x",{"a":["b"]}],"type":"STRING_LIST"}"#, #"{"\q":1}"#,
      #"{"value":["x"],"type":"STRING"}"#,
    ] {
      let text = """
        {"zones":[{"zoneID":{"zoneName":"Notes"},"syncToken":"t","records":[
        {"recordName":"bad","recordType":"Note","fields":{"f":\(bad)}},
        {"recordName":"good","recordType":"Note","fields":{}},
        {"recordName":"typeless","fields":{}},
        {"recordName":"gone","recordType":null,"deleted":true,"recordChangeTag":"t"}]}]}
        """
      let page = try Self.read(Array(text.utf8)).get()
      #expect(page.failures.map(\.recordID.name) == ["bad", "typeless"], "\(bad)")
      #expect(page.changedRecords.map(\.recordID.name) == ["good"])
      #expect(page.deletedRecordIDs.map(\.name) == ["gone"])
    }
  }

  @Test("A record of a look-up that cannot be read is a failure of its own; the others come")
  func oneBadRecordOfLookup() throws {
    let text = """
      {"records":[{"recordName":"a","recordType":"Note","fields":{}},
      {"recordName":"b","recordType":"Note","fields":{"f":{"value":{},"type":"ASSETID"}}}]}
      """
    let lookup = WireLookup(["a", "b"].map { Self.record($0).recordID }, zoneID: Self.zone)
    let page = try lookup.response(reading: Array(text.utf8)).get()
    #expect(page.changedRecords.map(\.recordID.name) == ["a"])
    #expect(page.failures.map(\.recordID.name) == ["b"])
    #expect(page.failures.map(\.error.code) == [.invalidArguments])
  }

  @Test("Requests come back as they were sent, operations in any order")
  func requests() throws {
    let operation = ModifyOperation(
      records: [Self.record("a"), Self.record("b").withChangeTag(nil)],
      recordIDsToDelete: [Self.record("c").recordID]
    )
    let sent = WireModification(operation, zoneID: Self.zone, isAtomic: true)
    let read = try WireModification(
      reading: sent.body(),
      scope: .private,
      with: WireAsset.unlocated,
      limit: 3
    )
    #expect(read.operation.records == operation.records)
    #expect(read.operation.recordIDsToDelete == operation.recordIDsToDelete)
    #expect(read.isAtomic && read.zoneID == Self.zone && read.order == [0, 1, 2])
    #expect(throws: WireError.self) {
      try WireModification(
        reading: sent.body(),
        scope: .private,
        with: WireAsset.unlocated,
        limit: 2
      )
    }
    let mixed = """
      {"zoneID":{"zoneName":"Notes"},"operations":[
      {"operationType":"forceDelete","record":{"recordName":"c"}},
      {"record":{"recordName":"a","recordType":"Note","fields":{}},"operationType":"create"}]}
      """
    let other = try WireModification(
      reading: Array(mixed.utf8),
      scope: .private,
      with: WireAsset.unlocated,
      limit: 9
    )
    #expect(other.order == [1, 0] && other.isAtomic)
    let answer = ModifyOperation.Response(
      savedRecords: [other.operation.records[0].withChangeTag("t")],
      deletedRecordIDs: other.operation.recordIDsToDelete
    )
    let text = String(decoding: other.body(of: answer), as: UTF8.self)
    #expect(text.hasPrefix(#"{"records":[{"recordName":"c""#))
  }

  @Test("Operations that are not served, and updates without a tag, are refused")
  func refusedOperations() {
    for (type, tag) in [("forceUpdate", "t"), ("replace", "t"), ("update", nil), ("", "t")] {
      let tagged = tag.map { #","recordChangeTag":"\#($0)""# } ?? ""
      let text = """
        {"operations":[{"operationType":"\(type)",
        "record":{"recordName":"a","recordType":"Note"\(tagged)}}]}
        """
      #expect(throws: WireError.self) {
        try WireModification(
          reading: Array(text.utf8),
          scope: .private,
          with: WireAsset.unlocated,
          limit: 9
        )
      }
    }
  }

  @Test("Paths, write tokens and waits are read as they are written, and nothing else is")
  func texts() {
    let database = WireDatabase(container: "iCloud.org.example", environment: "development")
    for endpoint in WireEndpoint.allCases {
      let found = WireDatabase.parse(database.path(of: endpoint))
      #expect(found?.database == database && found?.rest == endpoint.rawValue)
    }
    for path in ["", "/", "/database/1/a/b", "/database/2/a/b/private/x", "/database/1/a/b/own/x"] {
      #expect(WireDatabase.parse(path) == nil, "\(path)")
    }
    let token = WriteToken(nonce: .max, number: 17)
    #expect(WireHeader.writeToken("\(token)") == token)
    for text in ["", "-", "1", "1-2-3", "g-1", "1-"] {
      #expect(WireHeader.writeToken(text) == nil)
    }
    for nanoseconds: Int64 in [0, 1, 999_999_999, 1_000_000_000, 23_500_000_000, .max] {
      let text = WireDurationText.text(nanoseconds: nanoseconds)
      #expect(WireDurationText.nanoseconds(text) == nanoseconds)
    }
  }
}
