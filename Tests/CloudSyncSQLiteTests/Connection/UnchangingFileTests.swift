import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Testing

/// Files that may be looked at and nothing else, as on a medium that nobody can write.
@Suite("A file that nobody changes")
struct UnchangingFileTests {
  @Test(
    "It is read whatever its name, and refuses to be written",
    arguments: ["plain", "a?mode=rw", "50%25 #1", "é 'x\""]
  )
  func reading(name: String) throws {
    let folder = try TestFolder("unchanging")
    let path = folder.file(name)
    do {
      let writer = try SQLiteConnection(path: path)
      try writer.execute("CREATE TABLE t(v); INSERT INTO t VALUES(7)")
    }

    let reader = try SQLiteConnection(path: path, access: .unchanging)

    #expect(try reader.integer("SELECT v FROM t") == 7)
    let error = #expect(throws: SQLiteError.self) { try reader.execute("DELETE FROM t") }
    #expect(error?.kind == .readOnly)
  }
}
