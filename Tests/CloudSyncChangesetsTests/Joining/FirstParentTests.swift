import CloudSyncChangesets
import CloudSyncTestSupport
import Testing

/// Which parent a merge's changes are against is the same on every replica.
@Suite struct FirstParentTests {
  private static func schema(_ column: String) -> String {
    """
    CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, name TEXT\(column));
    CREATE TABLE teams(id TEXT PRIMARY KEY NOT NULL, name TEXT);
    """
  }

  /// One app has a column with a default that the app of both commits lacks.
  @Test(arguments: SuiteSize.some(2, of: Array(0..<12)))
  func itDoesNotDependOnColumnsThatOnlyTheMergingAppHas(number: Int) throws {
    let one = try HistoryBench(Self.schema(""), replica: "one")
    let other = try HistoryBench(Self.schema(""), replica: "other")
    let new = try HistoryBench(Self.schema(", size REAL DEFAULT 1.5"), replica: "new")
    try one.commit("INSERT INTO people VALUES('p\(number)', 'x')")
    try other.commit("INSERT INTO teams VALUES('t', 'y')")
    try new.sync(from: one, other)
    try other.sync(from: one)
    let merges = [try new.repository.log()[0], try other.repository.log()[0]]
    #expect(merges.map(\.kind) == [.merge, .merge])
    #expect(merges[0].parents == merges[1].parents)
    #expect(try new.rows("SELECT * FROM people") == ["'p\(number)', 'x', 1.5"])
    #expect(try other.rows("SELECT * FROM people") == ["'p\(number)', 'x'"])
  }
}
