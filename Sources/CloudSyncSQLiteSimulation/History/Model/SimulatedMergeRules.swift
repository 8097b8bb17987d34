import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSimulator

/// How the rows of a simulated history are merged by a device: like the others' or not, drawn from the seed.
struct SimulatedMergeRules: Sendable, Hashable {
  /// How a column is merged.
  enum Column: Sendable, Hashable { case newest, maximum, counter, smaller }

  /// Columns that are not merged as the newest, by table and name.
  var columns: [String: [String: Column]]
  /// The tables in which deletions win.
  var deleteWins: Set<String> = []
  /// Whether an app decides itself, and takes the smaller number.
  var asksApp = false

  init(columns: [String: [String: Column]] = [:]) { self.columns = columns }

  init(schema: SimulatedSchema, commonSeed: UInt64, device: Int) {
    var random = SeededRandom(seed: commonSeed).fork(80)
    let isUnlike = random.chance(1, in: 5)
    let takesLargest = isUnlike && device % 2 == 1
    columns = ["lists": ["n": .counter], "items": ["n": .counter]]
    if takesLargest {
      for name in ["lists", "notes", "items"] { columns[name, default: [:]]["a"] = .maximum }
    }
    if schema.itemDeletes == .deleteWins, !takesLargest { deleteWins = ["items"] }
    asksApp = random.chance(1, in: 4) && !isUnlike
  }

  /// What all devices have in common, whatever they settle.
  static let plain = SimulatedMergeRules()

  func column(_ name: String, of table: String) -> Column { columns[table]?[name] ?? .newest }

  /// What the app says of a row that two replicas have changed: the same on every replica, whoever is asked.
  var handler: (@Sendable (RowConflict) -> Resolution)? {
    guard asksApp else { return nil }
    return { conflict in
      guard conflict.base != nil, conflict.columns.contains("a"),
        case .int64(let mine)? = conflict.ours?["a"],
        case .int64(let other)? = conflict.theirs?["a"]
      else { return .automatic }
      return .row(["a": .int64(min(mine, other))])
    }
  }

  /// The same as a history's options have it.
  func tables(schema: SimulatedSchema) -> [String: ChangesetOptions.Table] {
    var tables: [String: ChangesetOptions.Table] = [:]
    for table in schema.tables(version: schema.newest) {
      var merging = TableMergePolicy(
        deletes: deleteWins.contains(table.name) ? .deleteWins : .editWins
      )
      for (name, rule) in columns[table.name] ?? [:] {
        let policy: MergePolicy =
          switch rule {
          case .newest, .smaller: .newest
          case .maximum: .maximum
          case .counter: .counter
          }
        // Those of other versions call it otherwise.
        for name in [name, table.sql(name)] { merging.columns[name] = policy }
      }
      var options = ChangesetOptions.Table(merging: merging, orphans: schema.orphans)
      options.hasUniqueIntegerKeys = table.name == "marks"
      if schema.uniqueness == .renamed, table.name == "items" {
        options.uniqueKeys = .rename { conflict in
          conflict.values.map { .string("\($0.stringValue ?? "") of \(conflict.recordName)") }
        }
      }
      tables[table.name] = options
    }
    return tables
  }
}
