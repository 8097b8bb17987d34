import CloudSyncChangesets
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSession
import Foundation
import SQLiteBaseline

/// What a history of a database costs, beside plain writes in the same run.
struct HistoryBenchmarks {
  static let schema =
    "CREATE TABLE player(uuid TEXT PRIMARY KEY NOT NULL, name TEXT, score INT, photo INT);"

  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "history-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }

  func database(_ name: String, _ schema: String = Self.schema) throws -> DatabaseFile {
    let file = try DatabaseFile(path: folder.appending(path: name).path, createsFile: true)
    try file.execute(schema)
    return file
  }

  static func insertion(_ number: Int) -> String {
    "INSERT INTO player VALUES('player-\(number)-\(number &* 2_654_435_761 % 1_000_003)', 'Name', \(number), 1)"
  }

  /// Inserts rows with one prepared statement, as apps do.
  static func insert(_ numbers: Range<Int>, into handle: OpaquePointer) {
    var statement: OpaquePointer?
    sqlite3_prepare_v2(handle, "INSERT INTO player VALUES(?1, 'Name', ?2, 1)", -1, &statement, nil)
    for number in numbers {
      let key = "player-\(number)-\(number &* 2_654_435_761 % 1_000_003)"
      sqlite3_bind_text(statement, 1, key, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
      sqlite3_bind_int64(statement, 2, Int64(number))
      sqlite3_step(statement)
      sqlite3_reset(statement)
    }
    sqlite3_finalize(statement)
  }

  /// Milliseconds of the processors that a body takes: what others do on the machine counts little.
  static func milliseconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ProcessorTime.now
    try body()
    return (ProcessorTime.now - start) / 1e6
  }

  /// The median of some numbers.
  static func median(_ numbers: [Double]) -> Double { numbers.sorted()[numbers.count / 2] }

  /// Microseconds of a transaction of so many rows: plain, with a session, and committed.
  func commit(
    rows: Int,
    count: Int
  ) throws -> (plain: Double, session: Double, history: Double) {
    let plain = try database("plain\(rows).db")
    let session = try database("session\(rows).db", Self.schema + HistoryBaselines.sessionTable)
    let tracked = try database("tracked\(rows).db")
    let repository = try ChangesetRepository(tracked)
    var (number, times): (Int, [[Double]]) = (0, [[], [], []])
    // In turns, so that whatever else the machine does hits all; the first turn warms up.
    for turn in 0...10 {
      let bodies: [(Range<Int>) throws -> Void] = [
        { try HistoryBaselines.plain(plain, $0) },
        { try HistoryBaselines.session(session, $0) },
        { numbers in try repository.commit { Self.insert(numbers, into: $0) } },
      ]
      for (place, body) in bodies.enumerated() {
        let time = try Self.milliseconds {
          for index in 0..<count / 10 {
            let first = number + index * rows
            try body(first..<first + rows)
          }
        }
        if turn > 0 { times[place].append(time * 1000 / Double(count / 10)) }
      }
      number += count / 10 * rows
    }
    return (Self.median(times[0]), Self.median(times[1]), Self.median(times[2]))
  }

  /// Two replicas with a cloud between them.
  func pair(
    _ name: String,
    schema: String = Self.schema
  ) throws -> (
    one: ChangesetRemote, other: ChangesetRemote, [ChangesetRepository], [DatabaseFile]
  ) {
    let cloud = LocalCloud()
    let zone = ZoneID(name: "History")
    let files = try ["a", "b"].map { try database("\(name)-\($0).db", schema) }
    let repositories = try zip(files, ["a", "b"])
      .map { file, device in
        try ChangesetRepository(file, options: ChangesetOptions(replica: device))
      }
    let remotes = try zip(repositories, ["a", "b"])
      .map { repository, device in
        try ChangesetRemote(
          repository,
          operationHandler: cloud.connect(
            device: device,
            account: AccountIdentity("ada"),
            zoneID: zone
          ),
          zoneID: zone
        )
      }
    return (remotes[0], remotes[1], repositories, files)
  }

  /// Waits for what a remote does.
  static func wait<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    let box = ResultBox<Value>()
    let done = DispatchSemaphore(value: 0)
    Task {
      do { box.result = .success(try await body()) } catch { box.result = .failure(error) }
      done.signal()
    }
    done.wait()
    guard let result = box.result else { throw CancellationError() }
    return try result.get()
  }
}

/// Carries a result from a task to who waits for it.
final class ResultBox<Value>: @unchecked Sendable {
  // It is unchecked because the semaphore orders the one write before the one read.
  var result: Result<Value, any Error>?
}
