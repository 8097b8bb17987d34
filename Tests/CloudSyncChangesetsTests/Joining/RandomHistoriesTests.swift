import CloudSyncCore
import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

@testable import CloudSyncChangesets

/// Random edits on several replicas that exchange now and then: in the end all are equal, and hold what they must.
@Suite struct RandomHistoriesTests {
  private static let schema = """
    CREATE TABLE teams(id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE, points INTEGER);
    CREATE TABLE people(
      id TEXT PRIMARY KEY NOT NULL, name TEXT, score INTEGER, mail TEXT UNIQUE COLLATE NOCASE,
      team TEXT REFERENCES teams(id) ON DELETE SET NULL, low INTEGER, high INTEGER,
      CHECK(low IS NULL OR high IS NULL OR low <= high));
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, person TEXT NOT NULL REFERENCES people(id) ON DELETE CASCADE, text TEXT);
    CREATE TABLE places(x INTEGER NOT NULL, y INTEGER NOT NULL, PRIMARY KEY(x, y));
    CREATE TABLE visits(id TEXT PRIMARY KEY NOT NULL, x INTEGER, y INTEGER, FOREIGN KEY(x, y) REFERENCES places);
    """

  private static func edit(_ random: inout SplitMix64, replica: Int) -> String {
    func any(_ letter: String) -> String { "'\(letter)\(random.below(6))'" }
    let fresh = "'r\(replica)-\(random.below(1_000_000))'"
    switch random.below(16) {
    case 12: return "INSERT INTO places VALUES(\(random.below(3)), \(random.below(3)))"
    case 13:
      return
        "INSERT INTO visits SELECT \(any("v")), x, y FROM places LIMIT 1 OFFSET \(random.below(3))"
    // Each half of the reference by itself, as long as there is such a place.
    case 14: return "UPDATE visits SET x = \(random.below(3)) WHERE id = \(any("v"))"
    case 15: return "UPDATE visits SET y = \(random.below(3)) WHERE id = \(any("v"))"
    case 0: return "INSERT INTO teams VALUES(\(any("t")), \(any("n")), 0)"
    case 1:
      return
        "UPDATE OR IGNORE teams SET name = \(any("n")), points = points + 1 WHERE id = \(any("t"))"
    case 2: return "DELETE FROM teams WHERE id = \(any("t"))"
    case 3, 4:
      return
        "INSERT INTO people(id, name, mail, team) SELECT \(any("p")), 'x', \(any("m")), id FROM teams LIMIT 1"
    case 5: return "UPDATE OR IGNORE people SET mail = \(any("M")) WHERE id = \(any("p"))"
    case 6: return "UPDATE people SET score = ifnull(score, 0) + 1 WHERE id = \(any("p"))"
    case 7: return "UPDATE OR IGNORE people SET low = \(random.below(10)) WHERE id = \(any("p"))"
    case 8: return "UPDATE OR IGNORE people SET high = \(random.below(10)) WHERE id = \(any("p"))"
    case 9: return "DELETE FROM people WHERE id = \(any("p"))"
    case 10:
      return "INSERT INTO notes SELECT \(fresh), id, 'text' FROM people WHERE id = \(any("p"))"
    default:
      return "UPDATE people SET name = 'n\(random.below(100))', team = NULL WHERE id = \(any("p"))"
    }
  }

  private static func step(_ benches: [HistoryBench], _ random: inout SplitMix64) throws {
    let place = Int(random.below(UInt64(benches.count)))
    let bench = benches[place]
    switch random.below(10) {
    case 0..<6:
      for _ in 0...random.below(3) {
        // What breaks a constraint is refused, as an app would see it.
        try? bench.database.execute(edit(&random, replica: place))
      }
      bench.pass(seconds: Int64(random.below(5)))
      try bench.repository.commit()
    case 6, 7:
      try bench.take(from: benches[Int(random.below(UInt64(benches.count)))])
      if random.below(2) == 0 { try bench.repository.mergeAll() }
      if try bench.repository.status().heads.count < 2 { try bench.repository.pull() }
    case 8:
      try bench.repository.mergeAll()
      try bench.repository.pull()
    default:
      if random.below(3) == 0 { try bench.repository.undo() }
    }
  }

  private static func benches(seed: UInt64, count: Int) throws -> [HistoryBench] {
    let policy = ChangesetOptions.Table(
      merging: TableMergePolicy(columns: ["score": .counter]),
      orphans: seed % 2 == 0 ? .restoreParent : .deleteChildren
    )
    return try (0..<count)
      .map {
        try HistoryBench(schema, replica: "r\($0)", settings: ["people": policy])
      }
  }

  @Test(arguments: 0..<UInt64(SuiteSize.count(2, long: 240)))
  func replicasAreEqualInTheEndAndHoldTheirConstraints(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let benches = try Self.benches(seed: seed, count: 2 + Int(seed % 3))
    for _ in 0..<40 { try Self.step(benches, &random) }
    try HistoryBench.settle(benches)
    for query in ["teams", "people", "notes", "visits"] {
      try HistoryBench.expectEqual(benches, "SELECT * FROM \(query) ORDER BY id")
    }
    for bench in benches {
      #expect(try bench.rows("PRAGMA foreign_key_check") == [])
      #expect(try bench.rows("PRAGMA integrity_check") == ["'ok'"])
    }
    // A fresh copy of the commits has the same rows.
    let fresh = try HistoryBench(Self.schema, replica: "fresh")
    try fresh.sync(from: benches[0])
    try HistoryBench.expectEqual([fresh, benches[0]], "SELECT * FROM people ORDER BY id")
    try Self.wanderBackAndForth(fresh, &random)
  }

  @Test(arguments: 0..<UInt64(SuiteSize.count(2, long: 240)))
  func aShortenedHistoryIsAsTheWholeOneAsFarAsItGoes(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let benches = try Self.benches(seed: seed, count: 3)
    for _ in 0..<50 { try Self.step(benches, &random) }
    if seed % 2 == 0 { try HistoryBench.settle(benches) }
    let (whole, short) = (benches[1], benches[2])
    for bench in [whole, short] {
      for other in benches where other !== bench { try bench.take(from: other) }
      try bench.repository.commit()
    }
    try whole.take(from: short)
    try short.take(from: whole)
    let depth = seed % 2 == 0 ? 0 : Int(random.below(12))
    let removed = try short.repository.gc(depth: depth, includingUnsent: true)
    // After a settling HEAD is made of all others.
    #expect(removed.commits > 0 || seed % 2 == 1)
    #expect(try short.repository.verify().problems == [])
    for commit in try whole.repository.log(LogQuery(isOfAllBranches: true)) {
      let states = try [whole, short]
        .map { bench -> [String]? in
          do throws(ChangesetError) { try bench.repository.checkout(Revision(commit.id)) } catch {
            #expect(error.code == .historyTooShort && bench === short)
            return nil
          }
          return try ["teams", "people", "notes"]
            .flatMap { try bench.rows("SELECT * FROM \($0) ORDER BY id") }
        }
      if states[1] != nil { #expect(states[0] == states[1]) }
      // A state that is not there is not needed on the way to another.
      try short.repository.switchBranchToAnyHead()
      try whole.repository.switchBranchToAnyHead()
    }
    // Both merge what is open, and go there.
    for bench in [whole, short] {
      try bench.repository.switchBranchToAnyHead()
      try bench.repository.mergeAll()
      try bench.repository.switchBranch("main")
    }
    try HistoryBench.expectEqual([whole, short], "SELECT * FROM people ORDER BY id")
  }

  /// Goes to random commits of the whole history and back.
  private static func wanderBackAndForth(
    _ bench: HistoryBench,
    _ random: inout SplitMix64
  ) throws {
    let log = try bench.repository.log(LogQuery(isOfAllBranches: true))
    if log.isEmpty { return }
    for _ in 0..<4 {
      let commit = log[Int(random.below(UInt64(log.count)))]
      try bench.repository.checkout(Revision(commit.id))
      #expect(try bench.repository.verify().problems == [])
    }
  }
}

extension ChangesetRepository {
  /// Goes to the head with the smallest identifier, of the several that the branch may have.
  fileprivate func switchBranchToAnyHead() throws(ChangesetError) {
    if let head = try status().heads.first { try checkout(Revision(head)) }
  }
}
