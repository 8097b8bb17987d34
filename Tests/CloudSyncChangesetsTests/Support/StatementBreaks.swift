import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Testing

@testable import CloudSyncChangesets

/// Work on a history that is broken off at each of its statements.
enum StatementBreaks {
  /// A database whose connection breaks off at a statement.
  final class BreakingDatabase: SyncDatabase {
    private let file: DatabaseFile
    private let place = Locked<Int?>(nil)

    init(_ file: DatabaseFile) { self.file = file }

    func breakOff(at statement: Int?) { place.withLock { $0 = statement } }

    func write<Value: Sendable>(_ body: @Sendable (OpaquePointer) throws -> Value) throws -> Value {
      let statement = place.withLock { $0 }
      return try file.write { handle in
        guard let statement else { return try body(handle) }
        let connection = SQLiteConnection(borrowing: handle)
        return try connection.withFault(StatementFault(at: statement)) { try body(handle) }
      }
    }
  }

  /// Runs work that is broken off at each of its statements, and says how many there were.
  static func breaking(
    _ prepare: (HistoryBench) throws -> Void,
    _ work: (ChangesetRepository) throws -> Void,
    _ state: (HistoryBench) throws -> [String]
  ) throws -> Int {
    let reference = try HistoryBench()
    try prepare(reference)
    let before = try state(reference)
    try work(reference.repository)
    let after = try state(reference)
    #expect(before != after)
    // In the suite every twenty-fifth one.
    for statement in stride(from: 1, through: 2_000, by: SuiteSize.count(25, long: 1)) {
      let bench = try HistoryBench()
      try prepare(bench)
      let database = BreakingDatabase(bench.database)
      let repository = try ChangesetRepository(database, options: HistoryBench.options())
      database.breakOff(at: statement)
      do { try work(repository) } catch {
        let found = try state(bench)
        #expect(found == before || found == after)
        #expect(try bench.repository.verify().problems == [])
        // The next try does it.
        database.breakOff(at: nil)
        if found == before { try work(repository) }
        #expect(try state(bench) == after)
        continue
      }
      #expect(try state(bench) == after)
      return statement - 1
    }
    return 0
  }
}
