import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Writes changes into the rows of one table.
struct TableWriter {
  let connection: HistoryConnection
  let table: TrackedTable

  private var name: String { table.name.quotedName }

  private var match: String {
    table.key.enumerated().map { "\($1.quotedName) = ?\($0 + 1)" }.joined(separator: " AND ")
  }

  func delete(change: RowDelta) throws(ChangesetError) {
    let present = try found(key: change.key)
    guard let present, present.cells.hasValues(wanted: change.cells.map { ($0.column, $0.old) }),
      present.cells.count == change.cells.count
    else { throw diverged(key: change.key) }
    try remove(key: change.key)
  }

  private func remove(key: RowKey) throws(ChangesetError) {
    try connection.failing { () throws(SQLiteError) in
      try connection.bound(sql: "DELETE FROM \(name) WHERE \(match)", key.values).run()
    }
  }

  /// Updates a row; returns the whole of it, removed, if a unique key is in the way.
  func update(change: RowDelta) throws(ChangesetError) -> RowDelta? {
    let present = try found(key: change.key)
    guard let present, present.cells.hasValues(wanted: change.cells.map { ($0.column, $0.old) })
    else {
      throw diverged(key: change.key)
    }
    let columns = try change.cells.map { (cell) throws(ChangesetError) in
      try column(name: cell.column)
    }
    let keys = change.key.values
    let list = columns.enumerated().map { "\($1.quotedName) = ?\(keys.count + $0 + 1)" }
    let sql = "UPDATE OR ABORT \(name) SET \(list.joined(separator: ", ")) WHERE \(match)"
    do throws(SQLiteError) {
      try connection.bound(sql: sql, keys + change.cells.map(\.new)).run()
      return nil
    } catch {
      guard error.kind == .constraint, connection.sqlite.isInTransaction else {
        throw ChangesetError(error)
      }
    }
    try remove(key: change.key)
    var cells = Dictionary(uniqueKeysWithValues: present.cells.map { ($0.column, $0) })
    for cell in change.cells { cells[cell.column] = cell }
    return RowDelta(.insert, change.key, cells: Array(cells.values), time: .zero)
  }

  func insert(change: RowDelta) throws(ChangesetError) {
    let cells = change.cells.filter { $0.new != .null }
    let columns = try cells.map { (cell) throws(ChangesetError) in try column(name: cell.column) }
    // A column that is not named would get its default.
    let others = table.columns.filter { name in !columns.contains { $0.hasSameBytes(as: name) } }
    let keys = change.key.values
    let named = (table.key + columns + others).map(\.quotedName).joined(separator: ", ")
    let values =
      (1...(keys.count + columns.count)).map { "?\($0)" } + others.map { _ in "NULL" }
    let sql = "INSERT OR ABORT INTO \(name)(\(named)) VALUES(\(values.joined(separator: ", ")))"
    do throws(SQLiteError) {
      try connection.bound(sql: sql, keys + cells.map(\.new)).run()
    } catch {
      guard error.kind == .constraint else { throw ChangesetError(error) }
      throw diverged(key: change.key, because: error.message)
    }
  }

  private func found(key: RowKey) throws(ChangesetError) -> RowDelta? {
    try TableRows(connection: connection, table: table).row(key)
  }

  private func column(name: String) throws(ChangesetError) -> String {
    if table.columns.contains(where: { $0.hasSameBytes(as: name) }) { return name }
    throw ChangesetError(
      .needsUpgrade,
      "the history has a column \(name.quotedName) in table \(self.name), which this database lacks;"
        + " update the app"
    )
  }

  private func diverged(key: RowKey, because reason: String? = nil) -> ChangesetError {
    let values = key.values.map(\.literal).joined(separator: ", ")
    let detail = reason.map { " (\($0))" } ?? ""
    return ChangesetError(
      .diverged,
      "row \(values) of table \(name) is not what the history says\(detail); “rescan” finds such rows"
    )
  }
}

extension [CellDelta] {
  /// Whether a row's cells, which are not NULL, have values.
  fileprivate func hasValues(wanted: [(column: String, value: SQLiteValue)]) -> Bool {
    wanted.allSatisfy { column, value in
      (first { $0.column.hasSameBytes(as: column) }?.new ?? .null) == value
    }
  }
}
