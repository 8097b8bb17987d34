import CloudSyncChangesets
import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import Testing

#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

/// What the status costs where the cloud has records that are no use.
@Suite struct RefusedRecordTests {
  /// How often a connection runs a statement that reads what such records hold.
  private final class Reads: Sendable {
    private let count = Locked(0)

    static func count(of database: DatabaseFile, during body: () throws -> Void) throws -> Int {
      let reads = Reads()
      let context = Unmanaged.passRetained(reads)
      defer { context.release() }
      try reads.listen(to: database, context.toOpaque())
      try body()
      try database.write { handle in _ = sqlite3_trace_v2(handle, 0, nil, nil) }
      return reads.count.withLock { $0 }
    }

    private func listen(to database: DatabaseFile, _ context: UnsafeMutableRawPointer) throws {
      let address = Int(bitPattern: context)
      try database.write { handle in
        _ = sqlite3_trace_v2(
          handle,
          UInt32(SQLITE_TRACE_STMT),
          { _, context, statement, _ in
            guard let context, let statement,
              let text = sqlite3_sql(OpaquePointer(statement)).map({ String(cString: $0) })
            else { return 0 }
            let reads = Unmanaged<Reads>.fromOpaque(context).takeUnretainedValue()
            if text.contains("changesets_refused"), text.contains("bytes") {
              reads.count.withLock { $0 += 1 }
            }
            return 0
          },
          UnsafeMutableRawPointer(bitPattern: address)
        )
      }
    }
  }

  private static func expectOneRead(_ bench: HistoryBench, refused count: Int) throws {
    var found = 0
    let reads = try Reads.count(of: bench.database) {
      found = try bench.repository.status().refused.count
    }
    #expect(found == count && reads == 1)
  }

  @Test func theirContentsAreReadOnce() async throws {
    let (desk, phone) = try await SquashBench.pair()
    try await RemoteBench.write([1, 2, 3], as: "pack-0", desk.cloud)
    try await phone.remote.fetch()
    try Self.expectOneRead(phone.bench, refused: 1)
  }

  @Test func afterASquashToo() async throws {
    let (desk, phone) = try await SquashBench.pair()
    try phone.bench.commit("UPDATE people SET name = 'late' WHERE id = 'p1'")
    desk.bench.pass(seconds: 100 * SquashBench.day)
    try await desk.fill(6...8)
    try await desk.remote.squash(depth: 0)
    try await phone.remote.push()
    try await desk.remote.fetch()
    try Self.expectOneRead(desk.bench, refused: 1)
    try desk.repository.rebaseOthers()
    try Self.expectOneRead(desk.bench, refused: 0)
  }
}
