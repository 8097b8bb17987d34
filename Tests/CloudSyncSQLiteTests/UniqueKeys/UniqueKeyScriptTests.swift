import CloudSyncCore
import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

/// `CLOUDSYNC_UNIQUE_SCRIPTS=10000` has that many seeds tried, `CLOUDSYNC_UNIQUE_SEED` one only.
@Suite("Random rows with equal values of unique keys")
struct UniqueKeyScriptTests {
  private func check(_ policy: UniqueKeyPolicy, deletes: Bool, from first: Int) throws -> Int {
    var parked = 0
    for number
      in first..<(first
      + (TestSettings.number("CLOUDSYNC_UNIQUE_SCRIPTS") ?? SuiteSize.count(2, long: 100)))
    {
      if let only = TestSettings.number("CLOUDSYNC_UNIQUE_SEED"), only != number { continue }
      let script = try UniqueKeyScript(seed: UInt64(number), policy: policy, deletes: deletes)
      if let text = try script.run() {
        Issue.record(Comment(rawValue: "seed \(number): \(text)"))
        return 1
      }
      parked += try script.parkedCount()
    }
    return parked
  }

  @Test("Whatever comes first, the newest rows are in the tables and the others beside them")
  func newest() throws {
    #expect(try check(.newest, deletes: true, from: 0) > 0)
  }

  @Test("Rows that are merged are the same everywhere, and no reference is lost")
  func merge() throws {
    _ = try check(.merge, deletes: false, from: 10_000)
    _ = try check(.merge, deletes: true, from: 20_000)
  }

  @Test("Rows that get other values get the same everywhere, and none is parked")
  func rename() throws {
    let policy = UniqueKeyPolicy.rename { conflict in
      zip(conflict.columns, conflict.values)
        .map { column, value in
          switch value {
          case .string(let text): .string(text + " \(conflict.attempt)")
          case .int64(let number) where column == "place": .int64(number + Int64(conflict.attempt))
          default: value
          }
        }
    }
    _ = try check(policy, deletes: true, from: 30_000)
  }
}
