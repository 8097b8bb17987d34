import CloudSyncChangesets
import CloudSyncCore
import Testing

/// Which side of a merge stays when it is taken back, shown, or gone back from.
@Suite struct RevertedMergeTests {
  /// A branch with more commits and more changes than the one that it is merged into, or with fewer.
  static let sizes = [[1, 2], [2, 1], [1, 1]]

  private static func bench(edits: [Int]) throws -> (bench: HistoryBench, main: Changeset) {
    let bench = try HistoryBench()
    try bench.commit("INSERT INTO people VALUES('a', 'old', 0, 'old'), ('b', 'old', 0, 'old')")
    try bench.repository.createBranch("dev")
    var main: Changeset?
    for number in 1...edits[0] {
      main = try bench.commit(edit("name = 'main \(number)'", ofAll: number > 1))
    }
    try bench.repository.switchBranch("dev")
    for number in 1...edits[1] {
      try bench.commit(edit("note = 'dev \(number)'", ofAll: number > 1))
    }
    try bench.repository.switchBranch("main")
    return (bench, try #require(main))
  }

  private static func edit(_ change: String, ofAll isOfAll: Bool) -> String {
    "UPDATE people SET \(change)" + (isOfAll ? "" : " WHERE id = 'a'")
  }

  @Test(arguments: sizes)
  func theSideOfTheBranchThatWasMergedIntoStays(edits: [Int]) throws {
    let (bench, main) = try Self.bench(edits: edits)
    let before = try bench.rows("SELECT * FROM people ORDER BY id")
    try bench.repository.merge("dev")
    try bench.repository.pull()
    let merged = try bench.rows("SELECT * FROM people ORDER BY id")
    let merge = try bench.repository.show(.head)
    #expect(merge.changeset.kind == .merge)
    #expect(merge.changeset.parents.first == main.id)
    #expect(Set(merge.changes.flatMap { $0.cells.map(\.column) }) == ["note"])
    #expect(try bench.repository.diff("HEAD~1", .head) == merge.changes)
    #expect(try bench.repository.show("HEAD~1").changeset.id == main.id)

    try bench.repository.revert(.head)
    #expect(try bench.rows("SELECT * FROM people ORDER BY id") == before)
    try bench.repository.revert(.head)
    #expect(try bench.rows("SELECT * FROM people ORDER BY id") == merged)
    #expect(try bench.repository.verify().problems == [])
  }

  @Test(arguments: sizes)
  func theOtherSideStaysIfItIsNamed(edits: [Int]) throws {
    let (bench, main) = try Self.bench(edits: edits)
    try bench.repository.merge("dev")
    try bench.repository.pull()
    try bench.repository.revert(.head, keeping: "dev")
    let second = edits[1] > 1 ? "'old', 'dev 2'" : "'old', 'old'"
    #expect(
      try bench.rows("SELECT name, note FROM people ORDER BY id")
        == ["'old', 'dev \(edits[1])'", second]
    )
    #expect(throws: ChangesetError.self) {
      try bench.repository.revert("HEAD~1", keeping: Revision("\(main.id)~1"))
    }
  }
}
