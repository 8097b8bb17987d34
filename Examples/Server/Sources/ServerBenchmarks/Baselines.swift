import CloudSyncLocalCloud
import CloudSyncSession
import Foundation
import SQLiteBaseline
import Synchronization

/// What the server is held against, in the same run.
enum Baselines {
  /// Commits a second of one row each, by SQLite itself, with a write-ahead log and `synchronous = FULL`.
  static func plainCommits(in folder: String, count: Int) throws -> Double {
    var handle: OpaquePointer?
    guard sqlite3_open("\(folder)/plain.sqlite", &handle) == SQLITE_OK else {
      throw BenchmarkFailure("plain.sqlite cannot be opened")
    }
    defer { sqlite3_close(handle) }
    let schema = """
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      CREATE TABLE items(place INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, body BLOB NOT NULL);
      """
    guard sqlite3_exec(handle, schema, nil, nil, nil) == SQLITE_OK else {
      throw BenchmarkFailure("no table")
    }
    return try perSecond(count) {
      for number in 0..<count {
        let text = "INSERT INTO items(name, body) VALUES('n\(number)', zeroblob(200))"
        guard sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK else {
          throw BenchmarkFailure("no row")
        }
      }
    }
  }

  /// Records a second that a cloud in a file saves, 200 a request, and that it gives, 200 a page.
  static func inProcess(in folder: String, requests: Int) throws -> (saved: Double, fetched: Double)
  {
    let cloud = LocalCloud(store: try SQLiteStore(path: "\(folder)/process.sqlite"))
    let zoneID = ZoneID(name: "Notes")
    let handler = cloud.connect(device: "mac", account: AccountIdentity("alice"), zoneID: zoneID)
    func context(_ number: Int) -> RequestContext {
      RequestContext(
        attempt: Attempt(epoch: 1, number: UInt64(number)),
        writeToken: WriteToken(nonce: 1, number: UInt64(number)),
        deadline: .distantFuture
      )
    }
    let failures = Atomic(0)
    handler.handle(createZoneOperation: CreateZoneOperation(zoneID: zoneID), context: context(0)) {
      _ in
    }
    let text = String(repeating: "a", count: 100)
    let saved = try perSecond(requests * 200) {
      for request in 1...requests {
        let records = (0..<200)
          .map {
            Record(
              recordType: "Note",
              recordID: RecordID(name: "\(request)-\($0)", zoneID: zoneID),
              fields: ["text": .string(text), "rank": .double(1.5)]
            )
          }
        handler.handle(
          modifyOperation: ModifyOperation(records: records),
          context: context(request)
        ) {
          if case .failure = $0 { failures.add(1, ordering: .relaxed) }
        }
      }
    }
    let pages = Mutex((token: ChangeToken?.none, hasMore: true, count: 0))
    let fetched = try perSecond(requests * 200) {
      while pages.withLock({ $0.hasMore }) {
        let operation = FetchOperation(changeToken: pages.withLock { $0.token })
        handler.handle(fetchOperation: operation, context: context(0)) { result in
          pages.withLock { pages in
            guard case .success(let page) = result else {
              pages.hasMore = false
              return
            }
            pages = (page.changeToken, page.hasMore, pages.count + page.changedRecords.count)
          }
        }
      }
    }
    guard failures.load(ordering: .relaxed) == 0, pages.withLock({ $0.count }) == requests * 200
    else {
      throw BenchmarkFailure("the cloud in this process did not do its work")
    }
    return (saved, fetched)
  }

  /// How many of something a second.
  static func perSecond(_ count: Int, _ body: () throws -> Void) throws -> Double {
    let start = ContinuousClock.now
    try body()
    let duration = ContinuousClock.now - start
    return Double(count) / max(1e-9, seconds(duration))
  }

  static func seconds(_ duration: Duration) -> Double {
    let (seconds, attoseconds) = duration.components
    return Double(seconds) + Double(attoseconds) / 1e18
  }
}
