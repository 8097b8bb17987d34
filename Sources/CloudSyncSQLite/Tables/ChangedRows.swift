import CloudSyncCore
import CloudSyncSQLiteSupport

/// The rows that a transaction has changed, each once, while somebody wants to know.
struct ChangedRows {
  private var order: [RowKey] = []
  private var rows: [RowKey: (table: String, key: [FieldValue], kind: RowChanges.Kind?)] = [:]

  /// Notes a change.
  mutating func note(_ kind: RowChanges.Kind, of row: RowKey, key: [FieldValue], in table: String) {
    guard let known = rows[row] else {
      order.append(row)
      rows[row] = (table, key, kind)
      return
    }
    let result = known.kind.map { $0.followed(by: kind) } ?? kind
    rows[row] = (table, known.key, result)
  }

  /// Notes a change that may be known already, since SQLite has made it while another row was written.
  mutating func noteEcho(
    _ kind: RowChanges.Kind,
    of row: RowKey,
    key: [FieldValue],
    in table: String
  ) {
    if rows[row] == nil { note(kind, of: row, key: key, in: table) }
  }

  /// All of them; nil if there is none.
  var changes: RowChanges? {
    let changed = order.compactMap { row -> RowChanges.Row? in
      guard let (table, key, kind) = rows[row], let kind else { return nil }
      return RowChanges.Row(table: table, key: key, kind: kind)
    }
    return changed.isEmpty ? nil : RowChanges(rows: changed)
  }
}
