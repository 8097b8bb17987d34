import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

/// Edits that one replica makes while another's migration moves or computes the same values: what is only computed is no
/// edit.
@Suite struct MigratedEditTests {
  private static func migrate(_ bench: HistoryBench, _ sql: String) throws {
    try ChangesetRepository.migrate(bench.database, options: HistoryBench.options()) {
      try SQLiteConnection(borrowing: $0).execute(sql)
    }
  }

  /// A desk that has migrated after something else was edited there, and a phone that has edited before both and migrates
  /// later; each takes what the other has.
  private static func meet(
    desk edit: String = "UPDATE people SET note = 'later' WHERE id = 'b'",
    phone other: String,
    migration: String = "ALTER TABLE people RENAME COLUMN name TO called"
  ) throws -> (desk: HistoryBench, phone: HistoryBench) {
    let (desk, phone) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    try desk.commit(
      "INSERT INTO people(id, name, score) VALUES('a', 'Ada', 1), ('b', 'Bob', 2), ('c', 'Cy', 3)"
    )
    try phone.sync(from: desk)
    try phone.commit(other)
    desk.pass(seconds: 1_000)
    try desk.commit(edit)
    try migrate(desk, migration)
    try migrate(phone, migration)
    try HistoryBench.settle([desk, phone])
    try HistoryBench.expectEqual([desk, phone])
    return (desk, phone)
  }

  @Test func anEditOfAColumnThatIsRenamedElsewhereStays() throws {
    let (desk, _) = try Self.meet(phone: "UPDATE people SET name = 'Eve' WHERE id = 'a'")
    #expect(
      try desk.rows("SELECT called, note FROM people ORDER BY id")
        == ["'Eve', NULL", "'Bob', 'later'", "'Cy', NULL"]
    )
    #expect(try desk.repository.conflicts().flatMap(\.lost) == [])
  }

  @Test func itStaysWhereTheRowWasEditedLaterToo() throws {
    let (desk, _) = try Self.meet(
      desk: "UPDATE people SET note = 'later' WHERE id = 'a'",
      phone: "UPDATE people SET name = 'Eve' WHERE id = 'a'"
    )
    #expect(try desk.rows("SELECT called, note FROM people WHERE id = 'a'") == ["'Eve', 'later'"])
  }

  @Test func ofTwoEditsTheLaterStays() throws {
    let (desk, _) = try Self.meet(
      desk: "UPDATE people SET name = 'Desk' WHERE id = 'a'",
      phone: "UPDATE people SET name = 'Eve' WHERE id = 'a'"
    )
    #expect(try desk.rows("SELECT called FROM people WHERE id = 'a'") == ["'Desk'"])
    let lost = try desk.repository.conflicts().flatMap(\.lost).map(\.value)
    #expect(lost == [.string("Eve")])
  }

  @Test func whatIsComputedFromAnEditIsAsNewAsThat() throws {
    let (desk, _) = try Self.meet(
      phone: "UPDATE people SET score = 10 WHERE id = 'a'",
      migration: "ALTER TABLE people ADD COLUMN twice INTEGER; UPDATE people SET twice = 2 * score"
    )
    #expect(try desk.rows("SELECT score, twice FROM people WHERE id = 'a'") == ["10, 20"])
  }

  @Test func whatIsComputedOfWhatWasThereIsAsNewAsThat() throws {
    let (desk, _) = try Self.meet(
      desk: "UPDATE people SET note = 'later' WHERE id = 'a'",
      phone: "UPDATE people SET score = 5 WHERE id = 'a'",
      migration: "ALTER TABLE people ADD COLUMN unit; UPDATE people SET score = 100 * score"
    )
    #expect(try desk.rows("SELECT score, note FROM people WHERE id = 'a'") == ["500, 'later'"])
  }

  @Test func aRowThatIsDeletedElsewhereDoesNotComeBackByAMigration() throws {
    let (desk, _) = try Self.meet(phone: "DELETE FROM people WHERE id = 'a'")
    #expect(try desk.rows("SELECT called FROM people ORDER BY id") == ["'Bob'", "'Cy'"])
    #expect(try desk.repository.conflicts() == [])
  }

  /// Two migrations that come to other values, and each replica goes on from its own: the others' edits still count.
  @Test(arguments: [false, true]) func whatTwoMigrationsMakeOtherwiseIsNoEdit(
    isSwapped: Bool
  ) throws {
    let pair = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    let (desk, phone) = isSwapped ? (pair.1, pair.0) : pair
    try desk.commit(
      "INSERT INTO people(id, name, score) VALUES('a', 'Ada', 1), ('b', 'Bob', 2), ('c', 'Cy', 3)"
    )
    try phone.sync(from: desk)
    let column = "ALTER TABLE people ADD COLUMN unit"
    try Self.migrate(desk, "\(column); UPDATE people SET score = score + 2000 WHERE id <> 'b'")
    try Self.migrate(phone, "\(column); UPDATE people SET score = score + 1000")
    try phone.sync(from: desk)
    try desk.commit("UPDATE people SET score = 7 WHERE id = 'a'; DELETE FROM people WHERE id = 'c'")
    phone.pass(seconds: 1_000)
    try phone.commit("UPDATE people SET note = 'later' WHERE id = 'b'")
    try HistoryBench.settle([desk, phone])
    try HistoryBench.expectEqual([desk, phone])
    let rows = try desk.rows("SELECT id, score, note FROM people ORDER BY id")
    #expect(rows == ["'a', 7, NULL", "'b', 1002, 'later'"])
  }

  @Test func anEditBringsADeletedRowBackWithWhatWasComputed() throws {
    let (desk, _) = try Self.meet(
      desk: "UPDATE people SET note = 'later' WHERE id = 'a'",
      phone: "DELETE FROM people WHERE id = 'a'"
    )
    #expect(try desk.rows("SELECT called, note FROM people WHERE id = 'a'") == ["'Ada', 'later'"])
  }
}
