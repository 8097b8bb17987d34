import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

/// What a migration drops is gone for replicas whose app has dropped it too, and for no others.
@Suite struct DroppedColumnTests {
  private static func migrate(_ bench: HistoryBench, _ sql: String) throws {
    try ChangesetRepository.migrate(bench.database, options: HistoryBench.options()) {
      try SQLiteConnection(borrowing: $0).execute(sql)
    }
  }

  private static func benches() throws -> [HistoryBench] {
    let benches = try ["desk", "phone"].map { try HistoryBench(replica: $0) }
    try benches[0]
      .commit("INSERT INTO people(id, name, note) VALUES('a', 'Ada', 'x'), ('b', 'Bob', 'y')")
    try benches[1].sync(from: benches[0])
    return benches
  }

  /// Each replica's app makes something of the column before it drops it.
  @Test(arguments: [true, false])
  func aReplicaThatHasItWaitsSoThatItsOwnMigrationFindsWhatItHeld(isEdited: Bool) throws {
    let benches = try Self.benches()
    let (desk, phone) = (benches[0], benches[1])
    let migration = """
      UPDATE people SET name = name || ' ' || note; ALTER TABLE people DROP COLUMN note
      """
    try Self.migrate(desk, migration)
    if isEdited { try phone.commit("UPDATE people SET score = 7 WHERE id = 'a'") }
    try phone.take(from: desk)
    if isEdited {
      // Its own commits have nothing to be merged with that it knows.
      try phone.repository.pull()
      #expect(try phone.repository.status().heads.count == 2)
    } else {
      let error = #expect(throws: ChangesetError.self) { try phone.repository.pull() }
      #expect(error?.code == .needsUpgrade)
    }
    #expect(try phone.rows("SELECT note FROM people ORDER BY id") == ["'x'", "'y'"])

    try Self.migrate(phone, migration)
    try HistoryBench.settle([desk, phone])
    for bench in [desk, phone] {
      #expect(try bench.rows("SELECT name FROM people ORDER BY id") == ["'Ada x'", "'Bob y'"])
      #expect(try bench.repository.verify().problems == [])
    }
  }

  @Test
  func whoHasDroppedItAndAddsItAgainWaitsForNobody() throws {
    let benches = try Self.benches()
    let (desk, phone) = (benches[0], benches[1])
    for bench in benches { try Self.migrate(bench, "ALTER TABLE people DROP COLUMN note") }
    try HistoryBench.settle([desk, phone])
    try desk.commit("UPDATE people SET score = 7 WHERE id = 'a'")
    try Self.migrate(phone, "ALTER TABLE people ADD COLUMN note TEXT")
    try phone.take(from: desk)
    try phone.repository.pull()
    try Self.migrate(desk, "ALTER TABLE people ADD COLUMN note TEXT")
    try HistoryBench.settle([desk, phone])

    for bench in [desk, phone] {
      #expect(
        try bench.rows("SELECT score, note FROM people ORDER BY id") == ["7, NULL", "NULL, NULL"]
      )
      #expect(try bench.repository.verify().problems == [])
    }
  }
}
