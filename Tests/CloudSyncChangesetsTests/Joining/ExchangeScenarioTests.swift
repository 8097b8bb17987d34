import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncChangesets

/// Scenarios of several replicas that no other suite is about.
@Suite struct ExchangeScenarioTests {
  private static func three() throws -> [HistoryBench] {
    let benches = try ["desk", "phone", "pad"].map { try HistoryBench(replica: $0) }
    try benches[0].commit("INSERT INTO people VALUES('a', 'Ada', 1, 'n'), ('b', 'Bob', 2, NULL)")
    for bench in benches[1...] { try bench.sync(from: benches[0]) }
    return benches
  }

  // MARK: 14

  @Test func blameNamesTheWriterOfEachCellBehindTwoMerges() throws {
    let benches = try Self.three()
    for bench in benches { bench.pass(seconds: 10) }
    try benches[0].commit("UPDATE people SET name = 'Ada L.' WHERE id = 'a'")
    benches[1].pass(seconds: 10)
    try benches[1].commit("UPDATE people SET score = 5 WHERE id = 'a'")
    benches[2].pass(seconds: 20)
    try benches[2].commit("UPDATE people SET note = 'm' WHERE id = 'a'")
    try HistoryBench.settle(benches)
    try HistoryBench.expectEqual(benches)
    for bench in benches {
      let origins = try bench.repository.blame("people", [.string("a")])
      #expect(
        origins.map { "\($0.column) \($0.changeset.replica ?? "-")" }
          == ["name desk", "note pad", "score phone"]
      )
    }
    #expect(try benches[0].repository.log().filter { $0.kind == .merge }.count == 2)
  }

  @Test func commitsAreComparedAcrossAMergeAndAMigration() throws {
    let benches = try Self.three()
    let start = try #require(try benches[0].repository.head().id)
    try benches[0].commit("UPDATE people SET name = 'Ada L.' WHERE id = 'a'")
    try benches[1].commit("DELETE FROM people WHERE id = 'b'")
    let side = try #require(try benches[1].repository.head().id)
    try HistoryBench.settle(benches)
    let migration = "ALTER TABLE people ADD COLUMN size DEFAULT 7"
    try ChangesetRepository.migrate(benches[0].database, options: HistoryBench.options()) {
      try SQLiteConnection(borrowing: $0).execute(migration)
    }
    try benches[0].commit("UPDATE people SET size = 8")
    let end = try #require(try benches[0].repository.head().id)
    let repository = benches[0].repository
    #expect(
      try repository.diff(Revision(start), Revision(end)).map(\.text) == [
        "update people 'a' [name: 'Ada' → 'Ada L.', size: 7 → 8]",
        "delete people 'b' [name: 'Bob' → NULL, score: 2 → NULL, size: 7 → NULL]",
      ]
    )
    #expect(
      try repository.diff(Revision(end), Revision(side)).map(\.text)
        == ["update people 'a' [name: 'Ada L.' → 'Ada', size: 8 → 7]"]
    )
  }

  // MARK: 23

  @Test func eightIdleReplicasMakeSevenMergesAndAreSilent() throws {
    let benches = try (0..<8).map { try HistoryBench(replica: "r\($0)") }
    for (number, bench) in benches.enumerated() {
      try bench.commit("INSERT INTO people(id, score) VALUES('p\(number)', \(number))")
    }
    for bench in benches {
      for other in benches where other !== bench { try bench.take(from: other) }
    }
    // All merge at once.
    for bench in benches {
      try bench.repository.mergeAll()
      try bench.repository.pull()
    }
    try HistoryBench.expectEqual(benches)
    for bench in benches {
      for other in benches where other !== bench { try bench.take(from: other) }
      #expect(try bench.repository.mergeAll() == [])
      #expect(try bench.rows("SELECT count(*) FROM changesets_log") == ["15"])
    }
  }

  // MARK: 25

  @Test func aRowUnderATakenIntegerComesBackUnderANewKey() throws {
    let schema = "CREATE TABLE marks(id INTEGER PRIMARY KEY, name TEXT);"
    let benches = try ["desk", "phone"].map { try HistoryBench(schema, replica: $0) }
    try benches[0].commit("INSERT INTO marks VALUES(1, 'mine')")
    benches[1].pass(seconds: 9)
    try benches[1].commit("INSERT INTO marks VALUES(1, 'theirs')")
    try benches[0].sync(from: benches[1])
    #expect(try benches[0].rows("SELECT * FROM marks") == ["1, 'theirs'"])
    let conflict = try #require(try benches[0].repository.conflicts().first)
    #expect(conflict.isSetAside)
    try benches[0].repository.restoreConflict(conflict, key: [.int64(2)])
    #expect(try benches[0].rows("SELECT * FROM marks") == ["1, 'theirs'", "2, 'mine'"])
    try benches[1].sync(from: benches[0])
    try HistoryBench.expectEqual(benches, "SELECT * FROM marks")
  }

  // MARK: 30

  @Test func ofTwoValuesThatAHandlerHasDroppedTheLaterComesBack() throws {
    let benches = try Self.three()
    let deciding = try ChangesetRepository(
      benches[0].database,
      options: ChangesetOptions(replica: "desk", handler: { _ in .row(["score": .int64(7)]) })
    )
    try benches[0].commit("UPDATE people SET score = 10 WHERE id = 'a'")
    benches[1].pass(seconds: 9)
    try benches[1].commit("UPDATE people SET score = 20 WHERE id = 'a'")
    try benches[0].take(from: benches[1])
    try deciding.mergeAll()
    try deciding.pull()
    #expect(try benches[0].rows("SELECT score FROM people WHERE id = 'a'") == ["7"])
    let conflict = try #require(try deciding.conflicts().first)
    #expect(conflict.lost.count == 2)
    try deciding.restoreConflict(conflict)
    #expect(try benches[0].rows("SELECT score FROM people WHERE id = 'a'") == ["20"])
    #expect(try deciding.verify().problems == [])
    try benches[1].sync(from: benches[0])
    try HistoryBench.expectEqual([benches[0], benches[1]])
  }

  @Test func aQuestionIsGoneWhenAnothersMergeComesFirst() throws {
    let benches = try Self.three()
    let asking = try ChangesetRepository(
      benches[0].database,
      options: ChangesetOptions(replica: "desk", handler: { _ in .later })
    )
    try benches[0].commit("UPDATE people SET score = 10 WHERE id = 'a'")
    benches[1].pass(seconds: 9)
    try benches[1].commit("UPDATE people SET score = 20 WHERE id = 'a'")
    try benches[0].take(from: benches[1])
    #expect(try asking.mergeAll() == [])
    #expect(try asking.conflicts().first?.kind == .question)
    try benches[1].sync(from: benches[0])
    try benches[0].take(from: benches[1])
    #expect(try asking.mergeAll() == [])
    #expect(try asking.conflicts().allSatisfy { $0.kind != .question })
    #expect(try asking.pull() != nil)
    try HistoryBench.expectEqual([benches[0], benches[1]])
  }

  // MARK: 52

  @Test func packsThatOverlapGiveEachCommitOnce() throws {
    let (one, other) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    for number in 1...5 { try one.commit("INSERT INTO people(id) VALUES('p\(number)')") }
    let whole = try one.repository.read { (work) throws(ChangesetError) in
      try PackBuilder(work: work).next(after: 0)?.pack
    }
    let pack = try #require(whole)
    for range in [0..<3, 1..<5, 0..<5] {
      var part = Pack()
      part.schemas = pack.schemas
      part.entries = Array(pack.entries[range])
      try other.repository.take(packNamed: Pack.name(of: part.bytes), bytes: part.bytes)
    }
    #expect(try other.rows("SELECT count(*) FROM changesets_log") == ["5"])
    try other.repository.pull()
    try HistoryBench.expectEqual([one, other])
  }

  // MARK: 55

  @Test func packsThatAreFalseOrTooNewAreListedWithTheReason() throws {
    let (one, other) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    try one.commit("INSERT INTO people(id) VALUES('a')")
    try one.commit("INSERT INTO people(id) VALUES('b')")
    let whole = try one.repository.read { (work) throws(ChangesetError) in
      try PackBuilder(work: work).next(after: 0)?.pack
    }
    let pack = try #require(whole)
    var newer = pack.bytes
    newer["cloudsync-pack".utf8.count] = 200
    var short = pack.bytes
    short.removeLast(3)
    // A commit whose bytes are in order, and that leads to another state than it says.
    var false1 = pack
    false1.entries[0].header.stateHash = StateHash(high: 1, low: 2)
    false1.entries.removeLast()
    // A body with what no writer writes.
    var false2 = pack
    false2.entries[0].body.append(0)
    for bytes in [newer, short, false1.bytes, false2.bytes] {
      try other.repository.take(packNamed: Pack.name(of: bytes), bytes: bytes)
    }
    let reasons = try other.repository.status().refused.map(\.reason)
    #expect(reasons.count == 4)
    #expect(reasons.contains { $0.contains("newer version") })
    #expect(reasons.contains { $0.contains("does not follow its parents") })
    #expect(try other.rows("SELECT count(*) FROM changesets_log") == ["0"])
    try other.repository.take(packNamed: Pack.name(of: pack.bytes), bytes: pack.bytes)
    try other.repository.pull()
    try HistoryBench.expectEqual([one, other])
  }

  // MARK: 61

  @Test func aCloneWhileAnotherPushesIsWhole() async throws {
    let cloud = LocalCloud()
    let desk = try HistoryBench(replica: "desk")
    try desk.commit("INSERT INTO people(id) VALUES('a')")
    let remote = try RemoteBench.remote(desk, cloud)
    try await remote.sync()
    try desk.commit("INSERT INTO people(id) VALUES('b')")
    let database = try DatabaseFile(path: ":memory:", createsFile: true)
    async let pushed = remote.push()
    let clone = try await ChangesetRemote.clone(
      into: database,
      from: RemoteBench.handler(cloud, device: "phone"),
      zoneID: RemoteBench.zone,
      options: HistoryBench.options(replica: "phone")
    )
    #expect(try await pushed.count == 1)
    #expect(try clone.verify().problems == [])
    let phone = try ChangesetRemote(
      clone,
      operationHandler: RemoteBench.handler(cloud, device: "phone"),
      zoneID: RemoteBench.zone
    )
    try await phone.sync()
    #expect(try clone.head() == (try desk.repository.head()))
    #expect(try database.rows("SELECT id FROM people ORDER BY id") == ["'a'", "'b'"])
  }
}
