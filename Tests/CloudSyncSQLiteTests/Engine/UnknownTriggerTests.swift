import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("A trigger of the app's that the engine did not find in the schema when it was made")
struct UnknownTriggerTests {
  private static let schema =
    "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER)"

  /// Made while the engine runs, or temporary on the connection that the engine uses.
  @Test("What it changes in the row that came is taken back, or sent", arguments: ["", "TEMP "])
  func touches(kind: String) throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1)")
    try bench.sync(mac, phone)
    try phone.execute(
      """
      CREATE \(kind)TRIGGER touch AFTER UPDATE OF title ON notes
      BEGIN UPDATE notes SET stars = stars + 1 WHERE id = new.id; END
      """
    )
    try mac.execute("UPDATE notes SET title = 'A2'")
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    let rows = "SELECT * FROM notes"
    #expect(try mac.lines(rows) == phone.lines(rows))
  }

  @Test(
    "A row that it deletes at once is listed, in the status and by verifying",
    arguments: ["", "TEMP "]
  )
  func deletes(kind: String) async throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try bench.sync(mac, phone)
    try phone.execute(
      """
      CREATE \(kind)TRIGGER sweep AFTER INSERT ON notes
      BEGIN DELETE FROM notes WHERE stars = 0; END
      """
    )
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 0)")
    try mac.execute("INSERT INTO notes VALUES('b', 'B', 3)")
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)
    let rows = "SELECT * FROM notes ORDER BY id"
    let differences = try await phone.engine.verify().differences
    #expect(try mac.lines(rows) == ["'a'|'A'|0", "'b'|'B'|3"])
    #expect(try phone.lines(rows) == ["'b'|'B'|3"])
    #expect(differences.map(\.recordName) == ["a:notes"])
    #expect(try bench.unclean(phone).count == 1)
  }
}
