import CloudSyncTestSupport
import Testing

@testable import CloudSyncCore

@Suite("Timestamps as coarse as a cloud's")
struct RecordTimestampTests {
  private static let millisecond: Int64 = 1_000_000

  @Test("Timestamps are rounded down, in places and lists too; nothing else changes")
  func rounding() {
    var place = Location(latitude: 1, longitude: 2)
    place.timestamp = Timestamp(nanoseconds: 1_999_999)
    let time = FieldValue.timestamp(Timestamp(nanoseconds: 5_000_001))
    let record = RecordFixtures.record([
      "a": time, "b": .location(place), "c": .list([time, time]), "d": .int64(5_000_001),
    ])

    let rounded = record.roundingTimestamps(to: Self.millisecond)

    place.timestamp = Timestamp(nanoseconds: 1_000_000)
    let coarse = FieldValue.timestamp(Timestamp(nanoseconds: 5_000_000))
    #expect(rounded["a"] == coarse && rounded["c"] == .list([coarse, coarse]))
    #expect(rounded["b"] == .location(place) && rounded["d"] == .int64(5_000_001))
    #expect(rounded.roundingTimestamps(to: Self.millisecond) == rounded)
    #expect(record.roundingTimestamps(to: 1) == record)
  }

  @Test(
    "Times before 1970 are rounded down too, and the ends of the range to multiples within it",
    arguments: [
      (-1, -1_000_000), (-1_000_000, -1_000_000), (-1_000_001, -2_000_000), (0, 0), (999_999, 0),
      (Int64.min, Int64.min / 1_000_000 * 1_000_000),
      (Int64.max, Int64.max / 1_000_000 * 1_000_000),
    ]
  )
  func early(nanoseconds: Int64, expected: Int64) {
    let rounded = Timestamp(nanoseconds: nanoseconds).rounded(toMultipleOf: Self.millisecond)
    #expect(rounded.nanoseconds == expected)
  }

  @Test("A session rounds what is submitted and what a resolver makes to the handler's unit")
  func session() throws {
    let fine = FieldValue.timestamp(Timestamp(nanoseconds: 7_000_003))
    let coarse = FieldValue.timestamp(Timestamp(nanoseconds: 7_000_000))
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      guard number == 0 else { return .success(ScriptedHandler.allSaved(operation)) }
      let edit = operation.records[0]
      let server = RecordFixtures.record(["y": 1], tag: "server").named(edit.recordID)
      let error = SyncError(.serverRecordChanged, clientRecord: edit, serverRecord: server)
      return .success(.init(failures: [ItemFailure(edit.recordID, error)]))
    }
    let bench = SessionHarness(
      resolver: ConflictResolver { client, server in
        var merged = server
        merged["x"] = client["x"]
        merged["z"] = fine
        return merged
      },
      timestampUnit: .milliseconds(1),
      script: script
    )
    bench.start()
    let accepted = Locked<[Record]>([])
    try bench.session.modify(
      ModifyOperation(records: [SessionHarness.record("a", ["x": fine])]),
      accepted: { operation in accepted.withLock { $0 = operation.records } }
    )
    bench.world.run()

    #expect(accepted.withLock { $0.map { $0["x"] } } == [coarse])
    let sent = bench.handler.modifyCalls.map { $0.saves[0] }
    #expect(sent.map { $0["x"] } == [coarse, coarse])
    #expect(sent.last?["z"] == coarse)
  }

  @Test(
    "5. A response with an asset that was lost: what the cloud has, wherever its file lies, is saved"
  )
  func asset() {
    let digest = RecordFixtures.asset
    let mine = Asset(sha256: digest.sha256, byteCount: digest.byteCount, location: "/here")
    let theirs = Asset(sha256: digest.sha256, byteCount: digest.byteCount, location: "/cloud")
    let edit = RecordFixtures.record(["f": .asset(mine), "l": .list([.asset(mine)])])
    let server = RecordFixtures.record(["f": .asset(theirs), "l": .list([.asset(theirs)])])

    #expect(server.contains(edit: edit))
    #expect(edit.difference(from: server).fields == [])
    #expect(edit.edit(from: server).fields == [])
    let other = Asset(sha256: digest.sha256, byteCount: digest.byteCount + 1, location: "/here")
    #expect(!server.contains(edit: RecordFixtures.record(["f": .asset(other)])))
    #expect(edit != server)
  }

  @Test("5. A session takes the resend for saved, and nobody is asked about a conflict")
  func assetResend() throws {
    let digest = RecordFixtures.asset
    let mine = Asset(sha256: digest.sha256, byteCount: digest.byteCount, location: "/here")
    let theirs = Asset(sha256: digest.sha256, byteCount: digest.byteCount, location: "/cloud")
    var script = ScriptedHandler.Script()
    // The first response is lost after the cloud has saved the record: it refuses the second one.
    script.modify = { operation, number in
      guard number > 0 else { return .failure(.serverResponseLost) }
      var server = operation.records[0].withChangeTag("server")
      server["f"] = FieldValue.asset(theirs)
      let error = SyncError(.serverRecordChanged, serverRecord: server)
      return .success(.init(failures: [ItemFailure(server.recordID, error)]))
    }
    let conflicts = Locked(0)
    let bench = SessionHarness(
      resolver: ConflictResolver { client, _ in
        conflicts.withLock { $0 += 1 }
        return client
      },
      script: script
    )
    bench.start()
    try bench.modify([SessionHarness.record("a", ["f": .asset(mine)])])
    bench.world.advance(by: .seconds(60))

    let calls = bench.handler.modifyCalls
    #expect(calls.count == 2 && Set(calls.map(\.token)).count == 1)
    #expect(conflicts.withLock { $0 } == 0)
    let response = try #require(bench.completions.entries.first?.response)
    #expect(response.alreadyInCloud.map(\.changeTag) == ["server"])
    #expect(response.unsaved.isEmpty && bench.state.parkedRecords.isEmpty)
  }
}

extension Record {
  fileprivate func named(_ recordID: RecordID) -> Record {
    var record = Record(recordType: "Note", recordID: recordID, changeTag: changeTag)
    for field in fields { record[field.name] = field.value }
    return record
  }
}
