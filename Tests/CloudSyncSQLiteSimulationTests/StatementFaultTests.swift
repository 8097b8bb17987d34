import CloudSyncSQLite
import CloudSyncSQLiteSimulation
import CloudSyncSQLiteSupport
import Testing

@Suite("Writes that break off")
struct StatementFaultTests {
  private static let schema = "CREATE TABLE t(a INTEGER PRIMARY KEY); INSERT INTO t VALUES(1);"

  /// Writes two rows in a transaction, with a fault at a statement; returns the rows that are there.
  private func rows(_ fault: FaultyDatabase.Fault, at statement: Int) throws -> [String] {
    let file = try DatabaseFile(path: ":memory:")
    try file.execute(Self.schema)
    let database = FaultyDatabase(file)
    database.arm(fault: fault, at: statement)
    let succeeded: Bool
    do {
      try database.write { handle in
        let connection = SQLiteConnection(borrowing: handle)
        try connection.transaction { () throws(SQLiteError) in
          try connection.execute("INSERT INTO t VALUES(2)")
          try connection.execute("INSERT INTO t VALUES(3)")
        }
      }
      succeeded = true
    } catch {
      succeeded = false
    }
    #expect(succeeded == (database.strikes == 0))
    return try file.lines(sql: "SELECT a FROM t")
  }

  @Test("Nothing of a transaction stays in which any statement fails", arguments: 1...4)
  func rollsBack(statement: Int) throws {
    #expect(try rows(.fails, at: statement) == ["1"])
    #expect(try rows(.ends, at: statement) == ["1"])
  }

  @Test("A statement that never comes fails nothing")
  func isNotReached() throws { #expect(try rows(.fails, at: 5) == ["1", "2", "3"]) }

  @Test("A connection is as good as ever after a failure, and a process that ends writes no more")
  func afterwards() throws {
    let file = try DatabaseFile(path: ":memory:")
    try file.execute(Self.schema)
    let database = FaultyDatabase(file)
    let insert: @Sendable (OpaquePointer) throws -> Void = { handle in
      try SQLiteConnection(borrowing: handle).execute("INSERT INTO t VALUES(NULL)")
    }
    database.arm(fault: .fails, at: 1)
    #expect(throws: (any Error).self) { try database.write(insert) }
    try database.write(insert)
    #expect(try file.lines(sql: "SELECT count(*) FROM t") == ["2"])
    database.end()
    #expect(throws: FaultyDatabase.ProcessHasEnded.self) { try database.write(insert) }
    #expect(try file.lines(sql: "SELECT count(*) FROM t") == ["2"])
  }
}
