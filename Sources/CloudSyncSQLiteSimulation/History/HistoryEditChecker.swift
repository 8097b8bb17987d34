import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

/// Whatever a user has written is in a commit, unless the same user has written something else over it before.
final class HistoryEditChecker: SimulationChecker {
  let rule = "every edit is in the history"

  func finish(_ end: SimulationEnd) -> String? {
    let devices = end.changesetDevices
    guard let device = devices.first else { return nil }
    var written: Set<Written> = []
    do {
      for entry in try device.inspected().commits() where entry.commit.header.kind == .edit {
        for table in entry.commit.changes.tables {
          for row in table.rows where row.kind != .delete {
            let id = RowID.canonical(table: table.name, key: row.key.values)
            for cell in row.cells {
              written.insert(Written(row: id, column: cell.column, value: cell.new))
            }
          }
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
          if isOver
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
