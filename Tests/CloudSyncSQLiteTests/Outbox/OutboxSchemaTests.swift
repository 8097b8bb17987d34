import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncSQLite

@Suite("The tables of the outbox")
struct OutboxSchemaTests {
  @Test("They are made once; other versions are refused with what to do", arguments: [-2, 1])
  func versions(difference: Int64) throws {
    let connection = try SQLiteConnection(path: ":memory:")
    try OutboxSchema.prepare(on: connection)
    try OutboxSchema.prepare(on: connection)
    #expect(try OutboxSchema.installedVersion(on: connection) == OutboxSchema.version)
    let version = OutboxSchema.version + difference
    try connection.execute("UPDATE cloudsync_info SET value = \(version) WHERE key = 'version'")
    let error = #expect(throws: SyncEngineError.self) { try OutboxSchema.prepare(on: connection) }
    #expect(error?.reason.contains(difference < 0 ? "detach" : "update") == true)
  }

  @Test(
    "The version before is this one where no key has several columns",
    arguments: [1, 2]
  )
  func versionBefore(keyColumns: Int) throws {
    let connection = try SQLiteConnection(path: ":memory:")
    try OutboxSchema.prepare(on: connection)
    try OutboxSchema.widen(on: connection, keys: keyColumns, kept: 0)
    try connection.execute("UPDATE cloudsync_info SET value = 8 WHERE key = 'version'")
    if keyColumns > 1 {
      #expect(throws: SyncEngineError.self) { try OutboxSchema.prepare(on: connection) }
    } else {
      try OutboxSchema.prepare(on: connection)
      let version = "SELECT value FROM cloudsync_info WHERE key = 'version'"
      #expect(try connection.integer(version) == OutboxSchema.version)
    }
  }

  @Test("A key with a collation of the app's own is refused, and nothing is left behind")
  func collation() throws {
    let harness = try CaptureHarness("CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, a)")
    #expect(KeyCollation(name: "nocase") == .nocase)
    #expect(KeyCollation(name: "unicode") == nil)
    #expect(harness.tables.first?.key == [KeyColumn(name: "id", collation: .binary)])
  }
}
