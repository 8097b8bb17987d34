import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Foundation
import Testing

/// The same random edits on replicas of which each renames columns and the table at another time, and on replicas that add
/// columns then and rename nothing: in the end all have the same rows.
///
/// `CLOUDSYNC_RENAME_SEEDS=200-299` runs these seeds instead of the usual ones.
@Suite struct RandomRenameTests {
  private enum Step {
    case edit(Int, String)
    case exchange(Int, Int)
    case migrate(Int)
    case pass(Int, Int64)

    var text: String {
      switch self {
      case .edit(let place, let sql): "\(place): \(sql)"
      case .exchange(let place, let other): "\(place) takes \(other)"
      case .migrate(let place): "\(place) migrates"
      case .pass(let place, let seconds): "\(place) +\(seconds)"
      }
    }
  }

  /// Replicas, and how far each has come with the migrations.
  private struct World {
    var benches: [HistoryBench]
    var migrations: [String]
    /// What tables and columns are called after so many of them.
    var names: [[(String, String)]]
    var versions = [0, 0, 0]

    mutating func take(step: Step) throws {
      switch step {
      case .edit(let place, let sql): try benches[place].commit(named(sql, place))
      case .exchange(let place, let other) where versions[place] == versions[other]:
        try benches[place].sync(from: benches[other])
      case .exchange: break
      case .migrate(let place): try migrate(place)
      case .pass(let place, let seconds): benches[place].pass(seconds: seconds)
      }
    }

    func named(_ sql: String, _ place: Int) -> String {
      names[versions[place]].reduce(sql) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }

    mutating func migrate(_ place: Int) throws {
      guard versions[place] < 2 else { return }
      let sql = migrations[versions[place]]
      try ChangesetRepository.migrate(benches[place].database, options: HistoryBench.options()) {
        try SQLiteConnection(borrowing: $0).execute(sql)
      }
      versions[place] += 1
    }

    /// Brings all to the last version and to one head, and gives their rows.
    mutating func rows() throws -> [String] {
      for place in benches.indices {
        while versions[place] < 2 { try migrate(place) }
      }
      try HistoryBench.settle(benches)
      let query = named("SELECT id, name, score, note FROM people ORDER BY id", 0)
      try HistoryBench.expectEqual(benches, query)
      return try benches[0].rows(query)
    }
  }

  private static let people = """
    CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, name TEXT, score INTEGER, note, junk);
    """

  private static func world(migrations: [String], names: [[(String, String)]]) throws -> World {
    var rules = ChangesetOptions.Table()
    rules.merging.columns = ["score": .counter, "points": .counter]
    // What comes back of a row that was deleted depends on which of three merges is made first.
    rules.merging.deletes = .deleteWins
    let settings = ["people": rules, "persons": rules]
    let benches = try ["desk", "phone", "tablet"]
      .map { try HistoryBench(people, replica: $0, settings: settings) }
    try benches[0]
      .commit("INSERT INTO people VALUES('p0', 'Ada', 1, NULL, NULL), ('p1', NULL, 2, 'n', 'j')")
    for bench in benches.dropFirst() { try bench.sync(from: benches[0]) }
    return World(benches: benches, migrations: migrations, names: names)
  }

  private static func steps(_ random: inout SplitMix64) -> [Step] {
    var steps: [Step] = []
    for number in 0..<14 {
      let place = Int(random.below(3))
      let key = "'p\(random.below(4))'"
      switch random.below(12) {
      case 0..<2:
        let value = random.below(4) == 0 ? "NULL" : "'\(number)'"
        steps.append(.edit(place, "UPDATE people SET name = \(value) WHERE id = \(key)"))
      case 2:
        steps.append(.edit(place, "UPDATE people SET score = score + \(number) WHERE id = \(key)"))
      case 3: steps.append(.edit(place, "UPDATE people SET note = \(number) WHERE id = \(key)"))
      case 4:
        let other = random.below(3) == 0 ? "junk" : "note"
        let values = "\(key), 'new \(number)', 0, \(number)"
        steps.append(
          .edit(place, "INSERT OR IGNORE INTO people(id, name, score, \(other)) VALUES(\(values))")
        )
      case 5: steps.append(.edit(place, "DELETE FROM people WHERE id = \(key)"))
      case 6..<9: steps.append(.exchange(place, (place + 1 + Int(random.below(2))) % 3))
      case 9: steps.append(.pass(place, Int64(random.below(50))))
      default: steps.append(.migrate(place))
      }
    }
    return steps
  }

  private static let dropping = "ALTER TABLE people DROP COLUMN junk"

  /// One after the other, or the table with its columns at once.
  private static let renames: [[(sql: String, names: [(String, String)])]] = [
    [
      (
        """
        \(dropping); ALTER TABLE people RENAME COLUMN name TO called;
        ALTER TABLE people RENAME COLUMN score TO points
        """, [("name", "called"), ("score", "points")]
      ),
      (
        "ALTER TABLE people RENAME TO persons",
        [("name", "called"), ("score", "points"), ("people", "persons")]
      ),
    ],
    [
      (
        """
        \(dropping); ALTER TABLE people RENAME TO persons;
        ALTER TABLE persons RENAME COLUMN name TO called
        """, [("name", "called"), ("people", "persons")]
      ),
      (
        "ALTER TABLE persons RENAME COLUMN score TO points",
        [("name", "called"), ("score", "points"), ("people", "persons")]
      ),
    ],
  ]

  private static var seeds: [UInt64] {
    let named = ProcessInfo.processInfo.environment["CLOUDSYNC_RENAME_SEEDS"]
    let bounds = named?.split(separator: "-").compactMap { UInt64($0) } ?? []
    guard let first = bounds.first, let last = bounds.last, first <= last else {
      return Array(0..<UInt64(SuiteSize.count(2, long: 500)))
    }
    return Array(first...last)
  }

  @Test func renamesChangeNothingOfWhatIsMerged() throws {
    for seed in Self.seeds {
      var random = SplitMix64(seed: seed)
      let steps = Self.steps(&random)
      let words = "seed \(seed): \(steps.map(\.text).joined(separator: "; "))"
      var plain = try Self.world(
        migrations: [Self.dropping, "ALTER TABLE people ADD COLUMN extra"],
        names: [[], [("junk", "note")], [("junk", "note")]]
      )
      let renames = Self.renames[Int(seed % 2)]
      var renamed = try Self.world(
        migrations: renames.map(\.sql),
        names: [[]] + renames.map { [("junk", "note")] + $0.names }
      )
      do {
        for step in steps {
          try plain.take(step: step)
          try renamed.take(step: step)
        }
        let (wanted, found) = (try plain.rows(), try renamed.rows())
        #expect(wanted == found, "\(words)")
      } catch { Issue.record(error, "\(words)") }
    }
  }
}
