import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport
import Testing

/// Tables that are declared with a collation of the app's.
@Suite("Collations that a connection does not have")
struct MissingCollationTests {
  /// Where the collation is named.
  enum Place: CaseIterable, Sendable {
    case column, index
  }

  @Test("A check names the table and the collation, and no other table", arguments: Place.allCases)
  func named(_ place: Place) throws {
    let database = try DatabaseFile(path: ":memory:")
    try database.execute(
      """
      CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT);
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT COLLATE NOCASE);
      CREATE INDEX titles ON notes(title COLLATE NOCASE);
      """
    )
    // What a connection with the collation would have made.
    try database.execute(
      """
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, 'NOCASE', 'localized')
        WHERE name = '\(place == .column ? "notes" : "titles")';
      PRAGMA writable_schema = RESET;
      """
    )

    let violations = try SyncEngine.check(database, tables: ["lists", "notes"])

    #expect(violations.map(\.table) == ["notes"])
    #expect(violations.map(\.code) == [.missingCollation])
    #expect(violations.first?.reason.contains("no such collation sequence: localized") == true)
    #expect(violations.first?.isWarning == false)
  }
}
