import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Finds what migrations have only renamed.
///
/// A column is called otherwise if one goes and another of the same declaration comes, and in every row that any of the
/// migrations has changed the one holds afterwards what the other held before. A table is, if another comes whose rows have
/// the same keys, and a column of it holds the same.
struct RenameSearch {
  private struct Rename: Hashable {
    /// Present; empty where a table is renamed.
    var table = ""
    var former: String
    var name: String
  }

  /// A migration, and the schemas before and after it.
  private struct Migration {
    var changes: StateDelta
    var before: SchemaDescription
    var after: SchemaDescription

    /// The rows of a table that it has changed, or of one that has another name afterwards; nil if they are not the same.
    func rows(of former: String, as name: String) -> MigratedRows? {
      let (old, new) = (changes.table(former), changes.table(name))
      if former.hasSameBytes(as: name) {
        return MigratedRows(
          rows: (new?.rows ?? []).filter { $0.kind == .update }.map { ($0, $0) },
          fills: new?.fills ?? []
        )
      }
      let (gone, come) = (old?.rows ?? [], new?.rows ?? [])
      let isSame = gone.elementsEqual(come) {
        $0.kind == .delete && $1.kind == .insert && $0.key == $1.key
      }
      return isSame ? MigratedRows(rows: Array(zip(gone, come)), fills: []) : nil
    }
  }

  /// Rows as they were before a migration and as they are after it.
  private struct MigratedRows {
    var rows: [(old: RowDelta, new: RowDelta)]
    var fills: [TableDelta.Fill]

    /// Whether the one column holds in any row what the other did not hold.
    func areUnlike(former: String, name: String) -> Bool {
      let fill = fills.first { $0.column.hasSameBytes(as: name) }?.value ?? .null
      return rows.contains {
        ($0.old.cell(former)?.old ?? .null) != ($0.new.cell(name)?.new ?? fill)
      }
    }

    /// Whether it is seen that the one column holds what the other held.
    func areSame(former: String, name: String) -> Bool {
      !areUnlike(former: former, name: name) && rows.contains { $0.new.cell(name) != nil }
    }
  }

  private let present: SchemaDescription
  private var migrations: [Migration] = []
  private var found: Set<Rename> = []
  private var refuted: Set<Rename> = []

  private init(present: SchemaDescription) { self.present = present }

  /// What is called otherwise in the present schema than in those that some commits, migrations, have left behind.
  static func names(
    after commits: [LogRow],
    in log: CommitLog,
    present: SchemaDescription
  ) throws(ChangesetError) -> PresentNames {
    var search = RenameSearch(present: present)
    let dictionaries = Dictionaries(connection: log.connection)
    for row in commits {
      guard let parent = row.parent, try log.isGone(seq: row.seq) == false else { continue }
      let before = try dictionaries.schema(number: try log.row(parent).schema)
      let after = try dictionaries.schema(number: row.schema)
      // Whatever is still there has its name.
      if present.hasNames(of: before) { continue }
      search.migrations.append(
        Migration(changes: try log.written(row: row).changes, before: before, after: after)
      )
    }
    return search.names()
  }

  /// What one migration has renamed, by its changes.
  static func names(
    of changes: StateDelta,
    before: SchemaDescription,
    after: SchemaDescription
  ) -> PresentNames {
    var search = RenameSearch(present: after)
    if !after.hasNames(of: before) {
      search.migrations = [Migration(changes: changes, before: before, after: after)]
    }
    return search.names()
  }

  private mutating func names() -> PresentNames {
    var names = PresentNames()
    if migrations.isEmpty { return names }
    for migration in migrations { compareTables(of: migration) }
    names.tables = chains(of: found.subtracting(refuted)) { present.table($0) != nil }
    (found, refuted) = ([], [])
    for migration in migrations { compareColumns(of: migration, names) }
    for (table, renames) in Dictionary(grouping: found.subtracting(refuted), by: \.table) {
      guard let declared = present.table(table) else { continue }
      names.columns[table] = chains(of: Set(renames)) { declared.column($0) != nil }
    }
    removeUnclear(in: &names)
    names.columns = names.columns.filter { !$0.value.isEmpty }
    return names
  }

  // MARK: Tables

  private mutating func compareTables(of migration: Migration) {
    let gone = migration.before.tables.filter { migration.after.table($0.name) == nil }
    let added = migration.after.tables.filter { migration.before.table($0.name) == nil }
    for former in gone {
      for table in added {
        let rename = Rename(former: former.name, name: table.name)
        guard let rows = migration.rows(of: former.name, as: table.name) else {
          refuted.insert(rename)
          continue
        }
        let kept = former.columns.contains { column in
          column.keyPlace == 0
            && table.columns.contains { other in
              (other == column || other.isSame(as: column))
                && rows.areSame(former: column.name, name: other.name)
            }
        }
        if kept { found.insert(rename) }
      }
    }
  }

  // MARK: Columns

  private mutating func compareColumns(of migration: Migration, _ names: PresentNames) {
    for before in migration.before.tables {
      let table = names.table(before.name)
      guard let after = migration.after.tables.first(where: { names.table($0.name) == table }),
        let rows = migration.rows(of: before.name, as: after.name)
      else { continue }
      let added = after.columns.filter { before.column($0.name) == nil }
      for former in before.columns where after.column(former.name) == nil {
        for column in former.candidates(among: added) {
          let rename = Rename(table: table, former: former.name, name: column.name)
          if rows.areUnlike(former: former.name, name: column.name) {
            refuted.insert(rename)
          } else if rows.areSame(former: former.name, name: column.name) {
            found.insert(rename)
          }
        }
      }
    }
  }

  // MARK: Names

  /// The present names by the former ones, over any number of renames; without those that are not clear.
  private func chains(
    of renames: Set<Rename>,
    isPresent: (String) -> Bool
  ) -> [String: String] {
    let next = Dictionary(grouping: renames, by: \.former)
    var result: [String: String] = [:]
    for former in next.keys where !isPresent(former) {
      var (open, seen): ([String], Set<String>) = ([former], [former])
      var ends: Set<String> = []
      while let name = open.popLast() {
        if isPresent(name) {
          ends.insert(name)
          continue
        }
        for rename in next[name] ?? [] where seen.insert(rename.name).inserted {
          open.append(rename.name)
        }
      }
      if ends.count == 1 { result[former] = ends.first }
    }
    return result
  }

  /// Removes names that two have in one schema, and those whose table or column has gone by another way too.
  private func removeUnclear(in names: inout PresentNames) {
    var last: PresentNames?
    while names != last {
      last = names
      for migration in migrations {
        for schema in [migration.before, migration.after] {
          Self.removeShared(by: schema, in: &names)
        }
        for table in migration.before.tables {
          let name = names.table(table.name)
          guard let after = migration.after.tables.first(where: { names.table($0.name) == name })
          else {
            names.tables[table.name] = nil
            continue
          }
          let kept = Set(after.columns.map { names.column($0.name, of: name) })
          for column in table.columns where !kept.contains(names.column(column.name, of: name)) {
            names.columns[name]?[column.name] = nil
          }
        }
      }
    }
  }

  private static func removeShared(by schema: SchemaDescription, in names: inout PresentNames) {
    let tables = Dictionary(grouping: schema.tables.map(\.name)) { names.table($0) }
    for shared in tables.values where shared.count > 1 {
      for name in shared { names.tables[name] = nil }
    }
    for table in schema.tables {
      let name = names.table(table.name)
      let columns = Dictionary(grouping: table.columns.map(\.name)) { names.column($0, of: name) }
      for shared in columns.values where shared.count > 1 {
        for column in shared { names.columns[name]?[column] = nil }
      }
    }
  }
}

extension SchemaDescription {
  /// Whether every table and column of another schema has its name here.
  func hasNames(of schema: SchemaDescription) -> Bool {
    schema.tables.allSatisfy { table in
      guard let mine = self.table(table.name) else { return false }
      return table.columns.allSatisfy { mine.column($0.name) != nil }
    }
  }
}

extension SchemaDescription.Column {
  /// Whether it is declared as another one, but for the name; no column of a key is.
  func isSame(as other: Self) -> Bool {
    var column = self
    column.name = other.name
    return column == other && keyPlace == 0 && !isGenerated
  }

  /// Of columns that are new, those that this one, which is gone, may be called now: one that is declared otherwise only
  /// where none is declared the same.
  func candidates(among added: [Self]) -> [Self] {
    if keyPlace > 0 || isGenerated { return [] }
    let same = added.filter { $0.isSame(as: self) }
    return same.isEmpty ? added.filter { $0.keyPlace == 0 && !$0.isGenerated } : same
  }
}
