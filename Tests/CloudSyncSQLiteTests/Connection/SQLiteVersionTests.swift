import CloudSyncSQLiteSupport
import Testing

@Suite("The version of SQLite")
struct SQLiteVersionTests {
  @Test("From 3.37 on it is taken, the one at hand among them", arguments: [3_037_000, 3_039_004])
  func new(number: Int32) throws {
    try SQLiteVersion.check(number)
    try SQLiteVersion.check()
  }

  @Test("An older one is refused with both versions")
  func old() {
    do throws(SQLiteError) {
      try SQLiteVersion.check(3_036_001)
      Issue.record("3.36.1 was taken")
    } catch {
      #expect(error.message.contains("3.37.0") && error.message.contains("3.36.1"))
    }
  }
}
