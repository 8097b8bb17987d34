import CloudSyncChangesets
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

/// A column that has another name in the newest version.
struct RenamedColumn: Hashable {
  var table: String
  var name: String
}

/// Columns that the newest version calls otherwise, and their one name in what is checked.
extension SimulatedSchema {
  /// Draws which columns have another name in the newest version.
  mutating func drawRenames(by random: inout SeededRandom) {
    let name = random.pick(["body", "body", "B"])
    let names = ["b": name, "n": "tally", "list": "owner", "note": "owner", "item": "owner"]
    for table in tables(version: Version()) {
      for column in table.columns {
        guard let name = names[column.name], random.chance(1, in: 2) else { continue }
        renames[table.name, default: [:]][column.name] = name
      }
    }
  }

  /// The statements that bring the tables from one version to another.
  func migration(from former: Version, to version: Version) -> [String] {
    let old = tables(version: former)
    var sql: [String] = []
    for table in tables(version: version) {
      guard let before = old.first(where: { $0.name == table.name }) else {
        sql.append(self.sql(table: table))
        continue
      }
      for column in table.columns {
        guard let same = before.column(column.name) else {
          let initial = column.initial == "NULL" ? "" : " DEFAULT \(column.initial)"
          sql.append("ALTER TABLE \(table.name) ADD COLUMN \(column.sql) \(column.type)\(initial)")
          continue
        }
        if same.type != column.type { sql += retyping(column, in: table) }
        if same.sql == column.sql { continue }
        sql.append("ALTER TABLE \(table.name) RENAME COLUMN \(same.sql) TO \(column.sql)")
      }
    }
    return sql
  }

  /// The statements that give a column, which nothing refers to, its type.
  private func retyping(_ column: Column, in table: Table) -> [String] {
    [
      "ALTER TABLE \(table.name) ADD COLUMN typed \(column.type)",
      "UPDATE \(table.name) SET typed = \(column.sql)",
      "ALTER TABLE \(table.name) DROP COLUMN \(column.sql)",
      "ALTER TABLE \(table.name) RENAME COLUMN typed TO \(column.sql)",
    ]
  }

  /// A commit with the names that columns have in all versions: what has only renamed one has changed nothing.
  ///
  /// - Parameters:
  ///   - commit: The commit.
  ///   - renamed: What was renamed before it, or under it where it is put on top of a squash.
  ///   - unseen: What of that nobody can know: a merge may say of both names when their value was last set.
  /// - Returns: The same, as if no column had ever had another name.
  func canonical(
    _ commit: Commit,
    after renamed: Set<RenamedColumn> = [],
    unseen: Set<RenamedColumn> = []
  ) -> Commit {
    if renames.isEmpty { return commit }
    var commit = commit
    for place in commit.changes.tables.indices {
      let table = commit.changes.tables[place].name
      guard let names = renames[table] else { continue }
      let fills = commit.changes.tables[place].fills
      for row in commit.changes.tables[place].rows.indices {
        let cells = commit.changes.tables[place].rows[row].cells
        // A value of a column that is gone has become newer: that says nothing.
        commit.changes.tables[place].rows[row].cells
          .removeAll { cell in
            let column = RenamedColumn(table: table, name: cell.column)
            let isTwin =
              unseen.contains(column)
              && cells.contains {
                $0.column == names[cell.column] && $0.old == cell.old && $0.new == cell.new
              }
            return renamed.contains(column) && !isTwin
          }
      }
      commit.changes.tables[place].fills.removeAll { names.values.contains($0.column) }
      commit.changes.tables[place].rows = commit.changes.tables[place].rows
        .compactMap {
          canonical($0, names: names, fills: commit.header.kind == .migration ? fills : nil)
        }
    }
    for place in commit.conflicts.indices {
      guard let names = renames[commit.conflicts[place].table] else { continue }
      for (name, alias) in names {
        for cell in commit.conflicts[place].kept.indices
        where commit.conflicts[place].kept[cell].column == alias {
          commit.conflicts[place].kept[cell].column = name
        }
        for cell in commit.conflicts[place].lost.indices
        where commit.conflicts[place].lost[cell].column == alias {
          commit.conflicts[place].lost[cell].column = name
        }
      }
    }
    return commit
  }

  /// The columns that a migration has renamed, and those of them in which a row shows it.
  ///
  /// What an app puts on top of a squash of older ones has new names too, and says so by what it fills them with.
  func renamed(by commit: Commit) -> (all: Set<RenamedColumn>, seen: Set<RenamedColumn>) {
    var (all, seen): (Set<RenamedColumn>, Set<RenamedColumn>) = ([], [])
    let isMigration = commit.header.kind == .migration
    guard isMigration || !commit.header.originals.isEmpty else { return (all, seen) }
    for table in commit.changes.tables {
      for (name, alias) in renames[table.name] ?? [:]
      where table.fills.contains(where: { $0.column == alias }) {
        let column = RenamedColumn(table: table.name, name: name)
        all.insert(column)
        let isSeen = table.rows.contains { row in row.cells.contains { $0.column == alias } }
        if isMigration, isSeen { seen.insert(column) }
      }
    }
    return (all, seen)
  }

  /// Whether another cell says more of a value than one does: what changes nothing says least.
  private func precedes(_ cell: CellDelta, _ other: CellDelta) -> Bool {
    if cell.isChange != other.isChange { return other.isChange }
    return cell.time < other.time
  }

  private func canonical(
    _ row: RowDelta,
    names: [String: String],
    fills: [TableDelta.Fill]?
  ) -> RowDelta? {
    var cells = row.cells.filter { cell in
      !names.contains { $0.key == cell.column || $0.value == cell.column }
    }
    for (name, alias) in names.sorted(by: { $0.key < $1.key }) {
      let old = row.cells.first { $0.column == name }
      let new = row.cells.first { $0.column == alias }
      guard row.kind == .update, let fills else {
        // A commit has the one or the other, or both where a merge could not know that they are one, or where commits
        // from before and after a rename were put on a squash together: then one of them changes nothing.
        guard var cell = [old, new].compactMap(\.self).max(by: precedes) else {
          continue
        }
        cell.column = name
        cells.append(cell)
        continue
      }
      // A migration that renames the column.
      guard let time = (new ?? old)?.time else { continue }
      let fill = fills.first { $0.column == alias }?.value ?? .null
      let cell = CellDelta(name, old: old?.old ?? .null, new: new?.new ?? fill, time: time)
      if cell.isChange { cells.append(cell) }
    }
    if cells.isEmpty, row.kind == .update { return nil }
    var row = row
    row.cells = cells.sorted { $0.column < $1.column }
    return row
  }
}

extension SimulatedSchema {
  /// Whether the columns here have the types of another device's.
  func hasTypes(of other: SimulatedSchema) -> Bool { !isRetyped && addedType == other.addedType }

  /// Draws whether all devices add a column with one default, of which one device's type makes a real.
  mutating func drawDefault(seed: UInt64, device: Int) {
    var random = SeededRandom(seed: seed).fork(86)
    guard random.chance(1, in: 3) else { return }
    addedDefault = "5"
    if device != 1 { addedType = "INTEGER" }
  }
}
