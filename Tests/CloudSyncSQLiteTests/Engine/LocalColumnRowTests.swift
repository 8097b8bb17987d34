import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Local columns of rows that move, come again or are edited from outside")
struct LocalColumnRowTests {
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT, open INTEGER DEFAULT 7);
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id) ON UPDATE CASCADE ON DELETE CASCADE,
      title TEXT, place REAL
    )
    """
  private static let tables = ["lists", "notes"]
  private static var options: SyncEngineOptions {
    var options = SyncEngineOptions()
    options.tables["lists"] = SyncEngineOptions.Table()
    options.tables["lists"]?.localColumns = ["open"]
    options.tables["notes"] = SyncEngineOptions.Table()
    options.tables["notes"]?.localColumns = ["place"]
    return options
  }

  private func pair() throws -> (SyncHarness, SyncHarness.Device, SyncHarness.Device) {
    let (bench, mac, phone) = try SyncHarness.pair(
      Self.schema,
      tables: Self.tables,
      options: Self.options
    )
    try mac.execute(
      "INSERT INTO lists VALUES('l', 'L', 1); INSERT INTO notes VALUES('a', 'l', 'A', 1)",
      at: 1
    )
    try bench.sync(mac, phone)
    try phone.execute("UPDATE lists SET open = 2; UPDATE notes SET place = 2", at: 2)
    return (bench, mac, phone)
  }

  @Test("Who changes a key keeps them; a child that follows its parent keeps them everywhere")
  func changedKey() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("UPDATE lists SET id = 'm'", at: 3)
    try bench.sync(mac, phone, mac)
    #expect(try mac.lines("SELECT * FROM lists") == ["'m'|'L'|1"])
    #expect(try mac.lines("SELECT * FROM notes") == ["'a'|'m'|'A'|1.0"])
    // The row of another key is another row here.
    #expect(try phone.lines("SELECT * FROM lists") == ["'m'|'L'|7"])
    #expect(try phone.lines("SELECT * FROM notes") == ["'a'|'m'|'A'|2.0"])
    for device in [mac, phone] { #expect(try bench.unclean(device) == []) }
  }

  @Test("A row that is made again by REPLACE sends its other columns only")
  func replaced() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("REPLACE INTO notes VALUES('a', 'l', 'B', 5)", at: 3)
    try bench.sync(mac, phone)
    #expect(try mac.lines("SELECT * FROM notes") == ["'a'|'l'|'B'|5.0"])
    #expect(try phone.lines("SELECT title FROM notes") == ["'B'"])
    try phone.execute("UPDATE notes SET place = 3, title = 'C'", at: 4)
    try bench.sync(phone, mac)
    #expect(try mac.lines("SELECT * FROM notes") == ["'a'|'l'|'C'|5.0"])
    #expect(try phone.lines("SELECT * FROM notes") == ["'a'|'l'|'C'|3.0"])
  }

  @Test("An UPSERT of nothing but local columns sends nothing, one of both sends the others")
  func upserted() throws {
    let (bench, mac, phone) = try pair()
    let tags = try bench.cloudTags()
    let upsert =
      "INSERT INTO notes VALUES('a', 'l', 'Z', 8) ON CONFLICT(id) DO UPDATE SET place = 8"
    try mac.execute(upsert, at: 3)
    try bench.sync(mac)
    #expect(try bench.cloudTags() == tags)
    try mac.execute("\(upsert), title = excluded.title", at: 4)
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT * FROM notes") == ["'a'|'l'|'Z'|2.0"])
  }

  @Test("Edits at once of a column and of a local one meet in the column alone")
  func conflict() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("UPDATE notes SET title = 'older', place = 4", at: 3)
    try phone.execute("UPDATE notes SET title = 'newer', place = 5", at: 4)
    try bench.sync(phone, mac, phone)
    #expect(try mac.lines("SELECT title, place FROM notes") == ["'newer'|4.0"])
    #expect(try phone.lines("SELECT title, place FROM notes") == ["'newer'|5.0"])
  }

  @Test("They stay through a lost zone, a fetch of everything and a row that others deleted")
  func lostZone() throws {
    let (bench, mac, phone) = try pair()
    try phone.engine.resync()
    try bench.sync(phone)
    #expect(try phone.lines("SELECT * FROM notes") == ["'a'|'l'|'A'|2.0"])
    try mac.execute("UPDATE notes SET title = 'B'", at: 3)
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT * FROM notes") == ["'a'|'l'|'B'|2.0"])
    // Edits alone of a local column do not bring a row back.
    try mac.execute("DELETE FROM notes", at: 5)
    try phone.execute("UPDATE notes SET place = 6", at: 6)
    try bench.sync(mac, phone, mac)
    #expect(try phone.lines("SELECT * FROM notes") == [])
    #expect(try mac.lines("SELECT * FROM notes") == [])
  }
}
