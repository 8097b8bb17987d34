import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

/// Whatever a user has written is in a commit, unless the same user has written something else over it before.
///
/// A commit that nobody can have, because it does not go on from where the history was squashed, counts for nothing:
/// what it wrote has to be on top of the others' commits, or listed as what has lost there.
final class HistoryEditChecker: SimulationChecker {
  let rule = "every edit is in the history"

  func finish(_ end: SimulationEnd) -> String? {
    let devices = end.changesetDevices
    var (written, replaced): (Set<Written>, Replaced) = ([], Replaced())
    do {
      for device in devices where device.setup.number == 0 || device.isSquashed {
        for entry in try device.inspected().commits() {
          let commit = device.schema.canonical(entry.commit)
          if entry.isBeside {
            replaced.add(commit)
            continue
          }
          if commit.header.kind == .edit { written.formUnion(Self.values(of: commit)) }
          if device.isSquashed { written.formUnion(Self.lost(by: commit)) }
        }
      }
    } catch { return "the history cannot be read: \(error)" }
    for device in devices {
      let edits = device.history.withLock { $0.edits }
      for (place, edit) in edits.enumerated() {
        for (column, value) in Self.values(of: edit) where value != .null {
          let wanted = Written(row: edit.row, column: column, value: value)
          if written.contains(wanted) { continue }
          // It was written over before anything was committed.
          let isOver = edits[(place + 1)...]
            .contains { later in
              later.row == edit.row
                && (later.isDeletion || later.isInsertion
                  || Self.values(of: later).contains { $0.0 == column })
            }
          if isOver || replaced.contains(edit, column: column)
            || Self.hasLostParent(column: column, value: value, since: edits[(place + 1)...])
          {
            continue
          }
          return
            "\(edit.row).\(column) = \(value.literal) of device \(device.setup.number) is in no commit"
        }
      }
    }
    return nil
  }

  private struct Written: Hashable {
    var row: RowID
    var column: String
    var value: SQLiteValue

    init(row: RowID, column: String, value: SQLiteValue) {
      (self.row, self.column, self.value) = (row, column, value.withoutType)
    }
  }

  private static func values(of commit: Commit) -> [Written] {
    commit.changes.tables.flatMap { table in
      table.rows.filter { $0.kind != .delete }
        .flatMap { row in
          let id = RowID.canonical(table: table.name, key: row.key.values)
          return row.cells.map { Written(row: id, column: $0.column, value: $0.new) }
        }
    }
  }

  private static func lost(by commit: Commit) -> [Written] {
    commit.conflicts.flatMap { conflict in
      let id = RowID.canonical(table: conflict.table, key: conflict.key.values)
      return conflict.lost.map { Written(row: id, column: $0.column, value: $0.value) }
    }
  }

  /// What commits that nobody can have any more have written over what came before them.
  private struct Replaced {
    private var values: [Place: Set<SQLiteValue>] = [:]
    private var deleted: Set<RowID> = []

    private struct Place: Hashable {
      var row: RowID
      var column: String
    }

    mutating func add(_ commit: Commit) {
      for table in commit.changes.tables {
        for row in table.rows {
          let id = RowID.canonical(table: table.name, key: row.key.values)
          if row.kind == .delete { deleted.insert(id) }
          for cell in row.cells where cell.isChange {
            values[Place(row: id, column: cell.column), default: []].insert(cell.old.withoutType)
          }
        }
      }
    }

    func contains(_ edit: RowEdit, column: String) -> Bool {
      if deleted.contains(edit.row) { return true }
      let value = HistoryEditChecker.values(of: edit).first { $0.0 == column }?.1
      return value.map {
        values[Place(row: edit.row, column: column)]?.contains($0.withoutType) == true
      }
        ?? false
    }
  }

  /// What an edit has written that is like nothing else.
  private static func values(of edit: RowEdit) -> [(String, SQLiteValue)] {
    switch edit.change {
    case .inserted(let values): values.filter { $0.column == "born" }.map { ($0.column, $0.value) }
    case .set(let column, let value): column == "id" ? [] : [(column, value)]
    case .added, .deleted, .deletedWithParent: []
    }
  }

  /// Whether the row was deleted that a value refers to, which may have made it NULL.
  private static func hasLostParent(
    column: String,
    value: SQLiteValue,
    since later: ArraySlice<RowEdit>
  ) -> Bool {
    switch column {
    case "list": later.contains { $0.isDeletion && $0.row == RowID(table: "lists", key: [value]) }
    case "note": later.contains { $0.isDeletion && $0.row == RowID(table: "notes", key: [value]) }
    // Items are referred to by names, which go from row to row.
    case "item": later.contains { $0.row.table == "items" }
    default: false
    }
  }
}
