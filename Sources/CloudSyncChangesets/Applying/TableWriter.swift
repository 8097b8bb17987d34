import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Writes changes into the rows of one table.
struct TableWriter {
  /// What becomes of a change that the table refuses.
  enum Refusals {
    /// Nothing of it all is done.
    case fails
    /// It is not made: a second pass, which no trigger sees, does it.
    case leaves
    /// The same, and it is told why: the change is a new one, which no tables have taken yet.
    case tells
    /// Its row is parked.
    case parks
  }

  let connection: HistoryConnection
  let table: TrackedTable
  let refusals: Refusals
  /// What statements say of conflicts, after a space.
  private let clause: String
  private let parked: ParkedRows
  private let converted: ConvertedValues
  /// Whether rows were parked before: of those that are now, none is met again.
  private let hasParkedRows: Bool

  init(
    connection: HistoryConnection,
    table: TrackedTable,
    refusals: Refusals = .fails,
    clause: String = ""
  ) throws(ChangesetError) {
    self.clause = clause.isEmpty ? table.conflictClause : clause
    (self.connection, self.table, self.refusals) = (connection, table, refusals)
    parked = ParkedRows(connection: connection)
    hasParkedRows = try parked.exist()
    converted = try ConvertedValues(connection: connection, table: table)
  }

  private var name: String { table.name.quotedName }

  /// Throws if the row that a change is about is not what it was.
  func check(change: RowDelta) throws(ChangesetError) {
    if change.kind == .insert { return }
    if !change.isOf(try present(key: change.key).row) { throw diverged(key: change.key) }
  }

  func delete(change: RowDelta) throws(ChangesetError) {
    let (present, isParked) = try present(key: change.key)
    if refusals == .leaves {
      // A trigger may have been faster.
      if present == nil { return }
    } else if !change.isOf(present) {
      throw diverged(key: change.key)
    }
    if isParked {
      if refusals != .leaves { try parked.release(key: change.key, of: table.name) }
      return
    }
    _ = try refusal { () throws(ChangesetError) in try remove(key: change.key) }
    try noteConversions(of: change)
  }

  /// Notes what the table has made of values; where triggers run they may have made it.
  private func noteConversions(of change: RowDelta) throws(ChangesetError) {
    if refusals == .leaves { return }
    if change.kind != .update { try converted.forget(key: change.key) }
    if change.kind == .delete { return }
    try converted.keep(cells: change.cells.filter(\.isChange), of: change.key)
  }

  /// The row of a key, and whether it is parked instead of in the table.
  private func present(key: RowKey) throws(ChangesetError) -> (row: RowDelta?, isParked: Bool) {
    if let away = try parkedRow(key: key) { return (away, true) }
    return (try found(key: key), false)
  }

  /// The row of a key that is parked, and of which the table has none.
  private func parkedRow(key: RowKey) throws(ChangesetError) -> RowDelta? {
    guard hasParkedRows, let row = try parked.row(key, of: table.name),
      try found(key: key) == nil
    else { return nil }
    return row
  }

  /// Runs a body; returns why the table does not take what it writes, where a second pass will do it.
  private func refusal(
    _ body: () throws(ChangesetError) -> Void
  ) throws(ChangesetError) -> String? {
    do throws(ChangesetError) {
      try body()
      return nil
    } catch {
      guard refusals == .leaves, error.code == .statement, connection.sqlite.isInTransaction else {
        throw error
      }
      return error.reason
    }
  }

  private func remove(key: RowKey) throws(ChangesetError) {
    try connection.failing { () throws(SQLiteError) in
      try connection.bound(sql: "DELETE FROM \(name) WHERE \(table.hasKey())", key.values).run()
    }
  }

  /// Updates a row; returns the whole of it, removed, if a unique key is in the way, and whether it was parked.
  func update(change: RowDelta) throws(ChangesetError) -> (row: RowDelta, wasParked: Bool)? {
    if let away = try parkedRow(key: change.key) {
      if refusals == .leaves { return nil }
      if !change.isOf(away) { throw diverged(key: change.key) }
      try parked.release(key: change.key, of: table.name)
      return (away.changed(by: change), true)
    }
    let found = try found(key: change.key)
    if refusals != .leaves, !change.isOf(found) { throw diverged(key: change.key) }
    guard let present = found else { return nil }
    let cells = change.cells.filter(\.isChange)
    if cells.isEmpty { return nil }
    let columns = try cells.map { (cell) throws(ChangesetError) in
      try column(name: cell.column)
    }
    let keys = change.key.values
    let list = columns.enumerated().map { "\($1.quotedName) = ?\(keys.count + $0 + 1)" }
    let sql =
      "UPDATE\(clause) \(name) SET \(list.joined(separator: ", ")) WHERE \(table.hasKey())"
    do throws(SQLiteError) {
      try connection.bound(sql: sql, keys + cells.map(\.new)).run()
    } catch {
      guard connection.sqlite.isInTransaction else { throw ChangesetError(error) }
      if refusals == .leaves, error.isOfTriggers { return nil }
      guard error.kind == .constraint else { throw ChangesetError(error) }
      return try takeOut(present, for: change)
    }
    try noteConversions(of: change)
    return nil
  }

  /// Removes a row in whose way another one is; returns the whole of it after its change, if it was removed.
  private func takeOut(
    _ present: RowDelta,
    for change: RowDelta
  ) throws(ChangesetError) -> (row: RowDelta, wasParked: Bool)? {
    let problem = try refusal { () throws(ChangesetError) in try remove(key: change.key) }
    if problem != nil { return nil }
    if refusals != .leaves { try converted.forget(key: change.key) }
    // One in whose place this row was made.
    if hasParkedRows { try parked.release(key: change.key, of: table.name) }
    return (present.changed(by: change), false)
  }

  func insert(change: RowDelta, wasParked: Bool = false) throws(ChangesetError) {
    if try parkedRow(key: change.key) != nil { throw diverged(key: change.key) }
    let cells = change.cells.filter { $0.new != .null }
    let columns = try cells.map { (cell) throws(ChangesetError) in try column(name: cell.column) }
    // A column that is not named would get its default.
    let others = table.columns.filter { name in !columns.contains { $0.hasSameBytes(as: name) } }
    let keys = change.key.values
    let named = (table.key + columns + others).map(\.quotedName).joined(separator: ", ")
    let values =
      (1...(keys.count + columns.count)).map { "?\($0)" } + others.map { _ in "NULL" }
    let sql =
      "INSERT\(clause) INTO \(name)(\(named)) VALUES(\(values.joined(separator: ", ")))"
    do throws(SQLiteError) {
      try connection.bound(sql: sql, keys + cells.map(\.new)).run()
    } catch {
      guard connection.sqlite.isInTransaction else { throw ChangesetError(error) }
      if refusals == .leaves, error.kind == .constraint || error.isOfTriggers { return }
      guard error.kind == .constraint else { throw ChangesetError(error) }
      // A row that the history does not know of is another matter than a rule that others do not have.
      if refusals == .tells, !wasParked {
        throw ChangesetError(
          .misuse,
          "table \(name) does not take it (\(error.message)); change what stands in its way first"
        )
      }
      guard refusals == .parks || wasParked, try found(key: change.key) == nil else {
        throw diverged(key: change.key, because: error.message)
      }
      try parked.park(row: change, of: table.name, because: error.message)
      return try converted.forget(key: change.key)
    }
    try noteConversions(of: change)
  }

  private func found(key: RowKey) throws(ChangesetError) -> RowDelta? {
    try TableRows(connection: connection, table: table, converted: converted).row(key)
  }

  private func column(name: String) throws(ChangesetError) -> String {
    if table.hasColumn(name) { return name }
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

extension SQLiteError {
  /// Whether a trigger has raised it, or cannot be run at all.
  fileprivate var isOfTriggers: Bool {
    // SQLITE_CONSTRAINT_TRIGGER, and SQLITE_ERROR.
    code == 1_811 || code == 1
  }
}

extension RowDelta {
  /// Whether a row, as an insertion, is what it was before this deletion or update; nil is none.
  fileprivate func isOf(_ present: RowDelta?) -> Bool {
    guard let present, present.cells.hasValues(wanted: cells.map { ($0.column, $0.old) }) else {
      return false
    }
    return kind != .delete || present.cells.count == cells.count
  }

  /// A whole row after a change, as an insertion.
  fileprivate func changed(by change: RowDelta) -> RowDelta {
    var cells = Dictionary(uniqueKeysWithValues: self.cells.map { ($0.column, $0) })
    for cell in change.cells { cells[cell.column] = cell }
    let whole = cells.values.filter { $0.new != .null }
      .sorted { $0.column.precedesByBytes($1.column) }
    return RowDelta(.insert, key, cells: whole, time: .zero)
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
