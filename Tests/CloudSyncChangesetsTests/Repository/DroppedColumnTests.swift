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

  /// The schema after the drop is that before the column came: on the way to the other replica's HEAD nothing was dropped.
  @Test(arguments: [0, 1, 2, 3], [true, false])
  func aColumnThatWasAddedWithADefaultAndDroppedElsewhereIsWaitedFor(
    number: Int,
    isMerged: Bool
  ) throws {
    let schema = "CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, name TEXT)"
    let benches = try ["desk", "phone"].map { try HistoryBench(schema, replica: $0) }
    let (desk, phone) = (benches[0], benches[1])
    try desk.commit("INSERT INTO people VALUES('\(number)', 'Ada')")
    try phone.sync(from: desk)
    for bench in benches {
      try Self.migrate(bench, "ALTER TABLE people ADD COLUMN size INTEGER DEFAULT 5")
    }
    try HistoryBench.settle([desk, phone])
    if isMerged { try phone.commit("UPDATE people SET name = 'Ida'") }
    try Self.migrate(desk, "ALTER TABLE people DROP COLUMN size")
    try phone.take(from: desk)
    if isMerged {
      try phone.repository.pull()
      #expect(try phone.repository.status().heads.count == 2)
    } else {
      let error = #expect(throws: ChangesetError.self) { try phone.repository.pull() }
      #expect(error?.code == .needsUpgrade)
    }
    #expect(try phone.rows("SELECT size FROM people") == ["5"])
    #expect(try phone.repository.verify().problems == [])

    try Self.migrate(phone, "ALTER TABLE people DROP COLUMN size")
    try HistoryBench.settle([desk, phone])
    let fresh = try HistoryBench(schema, replica: "fresh")
    try fresh.sync(from: desk)
    for bench in [desk, phone, fresh] {
      #expect(
        try bench.rows("SELECT * FROM people") == ["'\(number)', '\(isMerged ? "Ida" : "Ada")'"]
      )
      #expect(try bench.repository.verify().problems == [])
    }
  }
}
