import CloudSyncSQLiteSupport
import Testing

@Suite("SQLite values")
struct SQLiteValueTests {
  @Test(
    "A value survives binding, storing and its literal exactly",
    arguments: [
      SQLiteValue.null, .integer(.min), .integer(.max), .real(-0.0), .real(.infinity),
      .real(.leastNonzeroMagnitude), .text(""), .text("it's\u{0}é"),
      .malformedText([0xff, 0x00, 0x41]), .blob([]), .blob([0, 1, 255]),
    ]
  )
  func roundTrip(value: SQLiteValue) throws {
    let connection = try SQLiteConnection(path: ":memory:")
    try connection.execute("CREATE TABLE t(v)")
    try connection.prepare("INSERT INTO t VALUES(?1)").bind(value, at: 1).run()
    #expect(try connection.value("SELECT v FROM t") == value)
    #expect(try connection.value("SELECT \(value.literal)") == value)
    #expect(try connection.integer("SELECT \(value.literal) IS v FROM t") == 1)
  }

  @Test("What throws in a transaction leaves nothing behind, also within another")
  func transactions() throws {
    let connection = try SQLiteConnection(path: ":memory:")
    try connection.execute("CREATE TABLE t(v)")
    try connection.transaction { () throws(SQLiteError) in
      try connection.execute("INSERT INTO t VALUES(1)")
      #expect(throws: SQLiteError.self) {
        try connection.transaction { () throws(SQLiteError) in
          try connection.execute("INSERT INTO t VALUES(2)")
          try connection.execute("INSERT INTO missing VALUES(2)")
        }
      }
    }
    #expect(throws: SQLiteError.self) {
      try connection.transaction { () throws(SQLiteError) in
        try connection.execute("DELETE FROM t; nonsense")
      }
    }
    #expect(try connection.integer("SELECT sum(v) FROM t") == 1)
    #expect(!connection.isInTransaction)
  }
}
