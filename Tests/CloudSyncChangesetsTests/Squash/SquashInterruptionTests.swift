import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Testing

@testable import CloudSyncChangesets

/// Squashes and rebases that are broken off at any request and any statement.
@Suite struct SquashInterruptionTests {
  @Test(arguments: [ChangingHandler.Break.before, .after])
  func aSquashGoesOnWhateverRequestFails(kind: ChangingHandler.Break) async throws {
    for place in stride(from: 0, to: 100, by: SuiteSize.count(3, long: 1)) {
      let cloud = LocalCloud()
      let bench = try HistoryBench(replica: "desk")
      let handler = ChangingHandler(RemoteBench.handler(cloud, device: "desk"))
      let remote = try ChangesetRemote(
        bench.repository,
        operationHandler: handler,
        zoneID: RemoteBench.zone
      )
      for number in 1...6 {
        try bench.commit("INSERT INTO people(id, score) VALUES('p\(number)', \(number))")
        try await remote.push()
      }
      // The process ends with this request.
      let count = Locked(0)
      handler.breaks.withLock {
        $0 = (
          ask: {
            count.withLock { count in
              count += 1
              return count > place ? kind : nil
            }
          }, tell: { remote.stop() }
        )
      }
      do {
        let removed = try await remote.squash(depth: 1).removedRecords
        #expect(removed == 4 && place > 5)
        return
      } catch { #expect(error.code == .cloud) }
      // Whatever was reached, new copies get all, and the next process goes on.
      let desk = try SquashBench(bench, cloud, "desk")
      try await desk.expectClone()
      let summary = try await desk.remote.squash(depth: 1)
      #expect(summary.beginning?.generation == 5 && summary.waitingFor == [])
      #expect(try RemoteBench.packs(cloud).count == 2)
      try await desk.expectClone()
      #expect(try await desk.remote.squash(depth: 1).removedRecords == 0)
    }
    Issue.record("it never ended")
  }

  /// What a squash gives to replicas: a snapshot with its commits behind it, and a horizon.
  private static func told() throws -> (snapshot: Snapshot, pack: Pack, report: ReplicaReport) {
    let desk = try HistoryBench(replica: "desk")
    for number in 1...6 {
      try desk.commit("INSERT INTO people(id, score) VALUES('p\(number)', \(number))")
    }
    return try desk.repository.read { (work) throws(ChangesetError) in
      let row = try work.log.row(4)
      let place = ReplicaReport.Place(id: row.id, generation: row.generation)
      guard let pack = try PackBuilder(work: work).next(after: 3)?.pack else {
        throw ChangesetError(.misuse, "no pack")
      }
      return (
        try SnapshotMaking(work: work).snapshot(of: row), pack,
        ReplicaReport(replica: "desk", horizon: place)
      )
    }
  }

  private static func take(
    _ told: (snapshot: Snapshot, pack: Pack, report: ReplicaReport),
    _ repository: ChangesetRepository
  ) throws {
    try repository.write { (work) throws(ChangesetError) in
      let zone = ZoneReports(connection: work.connection)
      let bytes = told.snapshot.bytes
      let place = ReplicaReport.Place(id: told.snapshot.id, generation: 4)
      try zone.keep(snapshot: .init(name: Snapshot.name(of: bytes), place: place), bytes: bytes)
      try zone.keep(report: told.report, name: "replica-desk")
      _ = try Intake(work: work).take(pack: told.pack)
      _ = try HorizonAdoption(work: work).runTakingWaiting()
    }
  }

  private static func state(_ bench: HistoryBench) throws -> [String] {
    try bench.rows("SELECT * FROM people ORDER BY id")
      + bench.rows("SELECT hex(id), remote FROM changesets_log ORDER BY seq")
      + bench.rows("SELECT branch, seq, is_head FROM changesets_heads ORDER BY number")
  }

  @Test func aHorizonIsTakenUpOrNot() throws {
    let told = try Self.told()
    let count = try StatementBreaks.breaking(
      { try $0.commit("INSERT INTO people(id, name) VALUES('mine', 'Mine')") },
      { try Self.take(told, $0) },
      Self.state
    )
    #expect(count > 30)
  }

  @Test func aRebaseIsMadeOrNotMade() throws {
    let told = try Self.told()
    let count = try StatementBreaks.breaking(
      { bench in
        try bench.commit("INSERT INTO people(id, name) VALUES('mine', 'Mine')")
        try bench.commit("INSERT INTO people(id, name) VALUES('p2', 'Two')")
        try Self.take(told, bench.repository)
      },
      { _ = try $0.rebase() },
      Self.state
    )
    #expect(count > 30)
  }

  @Test func everyFlippedBitOfASnapshotIsRefused() throws {
    let told = try Self.told()
    let bytes = told.snapshot.bytes
    #expect(try Snapshot(bytes) == told.snapshot)
    let name = Snapshot.name(of: bytes)
    // In the suite one bit of each byte.
    for place in bytes.indices {
      for bit in stride(from: place % 8, to: 8, by: SuiteSize.count(8, long: 1)) {
        var changed = bytes
        changed[place] ^= 1 << UInt8(bit)
        if Snapshot.name(of: changed) == name { Issue.record("the name of byte \(place)") }
        // Whoever does not look at the name gets another commit, or other contents than it has.
        if let other = try? Snapshot(changed), other == told.snapshot {
          Issue.record("bit \(bit) of byte \(place) means nothing")
        }
      }
    }
  }

  @Test func aSnapshotWithOtherRowsIsNotTaken() throws {
    var told = try Self.told()
    let bench = try HistoryBench(replica: "phone")
    let whole = try told.snapshot.whole()
    var rows = whole.changes
    rows.tables[0].rows.removeLast()
    told.snapshot.state = CommitWriter.body(of: Commit(header: whole.header, changes: rows))
    let error = #expect(throws: ChangesetError.self) { try Self.take(told, bench.repository) }
    #expect(error?.code == .damaged)
    #expect(try bench.rows("SELECT count(*) FROM changesets_log") == ["0"])
  }
}
