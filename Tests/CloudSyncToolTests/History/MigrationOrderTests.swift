import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

/// Two copies whose app changes its tables in several steps, each when it likes, between edits and syncs.
@Suite("cloudsync history: copies that take the steps of a migration in any order of events")
struct MigrationOrderTests {
  /// A step of the app's migrations.
  private enum Step: CaseIterable {
    case addingConstant, renamingConstant, renamingTable, dropping, renaming, addingOther,
      rebuilding

    /// Drawn so that each can be taken once, and the second only after the first.
    static func draw(by random: inout SeededRandom) -> [Step] {
      var left = allCases.filter { $0 != .addingConstant }
      var steps = [Step.addingConstant]
      for _ in 0..<2 {
        guard let step = left.randomElement(using: &random) else { break }
        left.removeAll { $0 == step }
        steps.append(step)
      }
      return steps
    }
  }

  /// A copy's table, as far as it has come.
  private struct Copy {
    var name: String
    var table = "t"
    var columns = ["x"]
    var taken = 0
    /// Whether the history has still to take up what was done.
    var isAltered = false

    /// The SQL of a step, which is done then; empty if there is nothing to do.
    mutating func sql(of step: Step) -> String {
      switch step {
      case .addingConstant: return add("y", constant: "d")
      case .addingOther: return add("w", constant: "w")
      case .renamingConstant: return rename("y", to: "z")
      case .renaming: return rename("x", to: "v")
      case .renamingTable:
        defer { table = "u" }
        return "ALTER TABLE \(table) RENAME TO u"
      case .dropping:
        columns = columns.filter { ["x", "v"].contains($0) }
        return rebuild(columns)
      case .rebuilding:
        columns.reverse()
        return rebuild(columns)
      }
    }

    private mutating func add(_ column: String, constant: String) -> String {
      columns.append(column)
      return "ALTER TABLE \(table) ADD COLUMN \(column) DEFAULT '\(constant)'"
    }

    private mutating func rename(_ column: String, to name: String) -> String {
      guard let place = columns.firstIndex(of: column) else { return "SELECT 1" }
      columns[place] = name
      return "ALTER TABLE \(table) RENAME COLUMN \(column) TO \(name)"
    }

    /// The table made anew with some columns, which keep their constants: those of one column have to be alike everywhere.
    private func rebuild(_ columns: [String]) -> String {
      let list = columns.joined(separator: ", ")
      let constants = ["y": " DEFAULT 'd'", "z": " DEFAULT 'd'", "w": " DEFAULT 'w'"]
      let declarations = columns.map { $0 + (constants[$0] ?? "") }.joined(separator: ", ")
      return """
        BEGIN; CREATE TABLE n(id TEXT PRIMARY KEY NOT NULL, \(declarations)); INSERT INTO n(id, \(list))
        SELECT id, \(list) FROM \(table); DROP TABLE \(table); ALTER TABLE n RENAME TO \(table); COMMIT
        """
    }
  }

  private func expectDone(_ bench: ToolHarness, _ arguments: String...) {
    let result = bench.run(["history"] + arguments)
    #expect(result.code == 0, "\(arguments): \(result)")
  }

  @Test(
    "All end with the same rows and histories that are sound",
    // Two of those that have found something, or all there are.
    arguments: SuiteSize.isLong ? Array(0..<500) : [0, 1, 88, 136]
  )
  func anyOrder(seed: Int) throws {
    try run(seed: seed)
  }

  private func run(seed: Int) throws {
    try ToolHarness.run("anyOrder-\(seed)") { bench in
      var random = SeededRandom(seed: UInt64(seed))
      let steps = Step.draw(by: &random)
      let hasMerges = seed % 2 == 0
      try bench.sql("a.db", "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, x)", "SELECT 1")
      try bench.sql("a.db", "INSERT INTO t VALUES('1', 1), ('2', 2), ('3', 3)", "SELECT 1")
      expectDone(bench, "init", "@a.db", "--all")
      expectDone(bench, "sync", "@a.db", "--cloud", "@h", "--create")
      expectDone(bench, "clone", "@b.db", "--cloud", "@h")
      var copies = [Copy(name: "a.db"), Copy(name: "b.db")]
      var inserted = 0
      while copies.contains(where: { $0.taken < steps.count }) {
        let place = random.chance(1, in: 2) ? 0 : 1
        switch random.chance(1, in: 2) {
        case true where copies[place].taken < steps.count:
          let step = steps[copies[place].taken]
          copies[place].taken += 1
          try bench.sql(copies[place].name, copies[place].sql(of: step), "SELECT 1")
          copies[place].isAltered = true
        case _ where random.chance(1, in: 2):
          inserted += 1
          let table = copies[place].table
          try bench.sql(
            copies[place].name,
            "INSERT INTO \(table)(id) VALUES('n\(inserted)')",
            "SELECT 1"
          )
        case _ where hasMerges && random.chance(1, in: 3):
          takeUpAndMerge(&copies[place], bench)
        default: takeUpAndSync(&copies[place], bench)
        }
      }
      for place in [0, 1, 0, 1] { takeUpAndSync(&copies[place], bench) }
      try checkEnd(copies, inserted: inserted, bench)
    }
  }

  /// Merges what has come, and leaves the rows where they are.
  private func takeUpAndMerge(_ copy: inout Copy, _ bench: ToolHarness) {
    if copy.isAltered { expectDone(bench, "rescan", "@" + copy.name, "--all") }
    copy.isAltered = false
    expectDone(bench, "commit", "@" + copy.name)
    expectDone(bench, "fetch", "@" + copy.name, "--cloud", "@h")
    let result = bench.run(["history", "merge", "@" + copy.name])
    #expect(result.code == 0 || isWaiting(result), "\(result)")
  }

  private func takeUpAndSync(_ copy: inout Copy, _ bench: ToolHarness) {
    if copy.isAltered { expectDone(bench, "rescan", "@" + copy.name, "--all") }
    copy.isAltered = false
    // Who has not taken a step that the other has may have to wait; all others sync.
    let result = bench.run(["history", "sync", "@" + copy.name, "--cloud", "@h"])
    #expect(result.code == 0 || isWaiting(result), "\(result)")
  }

  private func isWaiting(_ result: ToolHarness.Outcome) -> Bool {
    ["update the app", "which a migration has changed since"]
      .contains { result.errors.contains($0) }
  }

  private func checkEnd(_ copies: [Copy], inserted: Int, _ bench: ToolHarness) throws {
    for copy in copies {
      let result = bench.run(["history", "sync", "@" + copy.name, "--cloud", "@h"])
      #expect(
        result.code == 0 && result.output.hasPrefix("sent 0 commits, received 0"),
        "\(result)"
      )
      expectDone(bench, "verify", "@" + copy.name)
    }
    expectDone(bench, "clone", "@c.db", "--cloud", "@h")
    expectDone(bench, "verify", "@c.db")
    let list = copies[0].columns.sorted().joined(separator: ", ")
    let query = "SELECT id, \(list) FROM \(copies[0].table) ORDER BY id"
    let rows = try bench.sql("a.db", query)
    #expect(rows.count == 3 + inserted)
    #expect(try bench.sql("b.db", query) == rows)
    #expect(try bench.sql("c.db", query) == rows)
  }
}
