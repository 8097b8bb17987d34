import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Testing

@testable import CloudSyncSQLite

@Suite("Tables with as many columns as SQLite allows")
struct WideTableTests {
  private static let wideKey = "id, c1, c2, c3, c4, c5, c6, c7"
  /// As many columns as one word has bits, one more, and as many as there can be.
  private static let few = [(60, ""), (61, ""), (2_000, ""), (61, wideKey)]
  private static let all = few + [(500, ""), (1_999, wideKey)]

  @Test(
    "Edits of any of their columns are captured",
    arguments: SuiteSize.isLong ? all : few
  )
  func columns(count: Int, key: String) throws {
    let columns = (1..<count).map { "c\($0)" }.joined(separator: ", ")
    let rule = key.isEmpty ? ", PRIMARY KEY(id)" : ", PRIMARY KEY(\(key)), UNIQUE(c8, c9)"
    let harness = try CaptureHarness("CREATE TABLE t(id TEXT, \(columns)\(rule))", kept: ["c9"])
    let values = (1..<count).map { "\($0)" }.joined(separator: ", ")
    try harness.execute("INSERT INTO t VALUES('a', \(values))")
    try harness.read()
    #expect(try harness.isSame())
    for numbers in [[9], [count - 1], [10, count - 2]] {
      let sets = Set(numbers).map { "c\($0) = 'x\($0)'" }.joined(separator: ", ")
      try harness.execute("UPDATE t SET \(sets)")
      let rows = try harness.read()
      guard case .updated(let columns, _)? = rows.first?.edits.first else {
        Issue.record("no update of \(numbers)")
        continue
      }
      #expect(columns.map(\.name) == Set(numbers).sorted().map { "c\($0)" })
      #expect(try harness.isSame())
    }
  }
}
