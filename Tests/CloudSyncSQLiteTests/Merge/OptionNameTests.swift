import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSimulator
import Testing

@Suite("Names of tables and columns in an engine's options")
struct OptionNameTests {
  private static let schema =
    "CREATE TABLE Notes(id TEXT PRIMARY KEY NOT NULL, views INTEGER NOT NULL DEFAULT 0)"

  private static func options(_ table: String, _ column: String) -> SyncEngineOptions {
    var options = SyncEngineOptions()
    options.tables[table] = .init()
    options.tables[table]?.merging = TableMergePolicy(columns: [column: .counter])
    return options
  }

  @Test(
    "They count however they are capitalized",
    arguments: [("Notes", "views"), ("notes", "VIEWS"), ("NOTES", "Views")]
  )
  func anyCase(table: String, column: String) throws {
    let options = Self.options(table, column)
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"], options: options)
    try mac.execute("INSERT INTO notes VALUES('a', 10)")
    try bench.sync(mac, phone)
    try mac.execute("UPDATE notes SET views = views + 1")
    try phone.execute("UPDATE notes SET views = views + 2")
    try bench.sync(mac, phone)
    for device in [mac, phone] { #expect(try device.lines("SELECT views FROM notes") == ["13"]) }
  }

  @Test("An engine without tables is refused")
  func noTables() {
    let error = #expect(throws: SyncEngineError.self) {
      try SyncHarness().device("mac", Self.schema, tables: [])
    }
    #expect(error?.description.contains("No tables are named") == true, "\(error as Any)")
  }

  @Test("A name that is not there is refused, and told", arguments: ["note", "viewz"])
  func unknown(name: String) throws {
    let options = name == "note" ? Self.options(name, "views") : Self.options("notes", name)
    let error = #expect(throws: SyncEngineError.self) {
      try SyncHarness().device("mac", Self.schema, tables: ["Notes"], options: options)
    }
    #expect(error?.description.contains("\"\(name)\"") == true, "\(error as Any)")
  }
}
