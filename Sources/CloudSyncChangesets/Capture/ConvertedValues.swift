import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Values of HEAD that a table here holds as others: its column has another type than where they were written.
///
/// A row is what the history says. SQLite makes 1.0 of 1 in a column of reals, and text of it in one of text; whoever reads
/// a cell that still holds what was made of a value gets the value. An edit of the cell takes its place.
///
/// What a column has made of the constant that its rows were filled with is noted once for all rows.
final class ConvertedValues {
  /// Made with the first value, as the table of parked rows is.
  static let table = "changesets_converted"

  struct Conversion: Equatable {
    /// What the history says.
    var said: SQLiteValue
    /// What the table has made of it.
    var held: SQLiteValue
  }

  typealias Row = [String: Conversion]

  let connection: HistoryConnection
  let tracked: TrackedTable
  /// Whether there may be any.
  private(set) var exist: Bool
  /// What holds for every row of which nothing else is noted.
  var standing: Row = [:]

  init(connection: HistoryConnection, table: TrackedTable) throws(ChangesetError) {
    (self.connection, tracked) = (connection, table)
    exist = try Self.exist(connection)
    if exist { standing = try own(of: RowKey(codedBytes: Self.everyRow)) }
  }

  /// Stands in the place of a key; no key is coded so.
  static let everyRow: [UInt8] = []

  /// Whether there are any of any table.
  static func exist(_ connection: HistoryConnection) throws(ChangesetError) -> Bool {
    try connection.hasTable(table)
  }

  /// Forgets all.
  static func drop(_ connection: HistoryConnection) throws(ChangesetError) {
    try connection.execute("DROP TABLE IF EXISTS main.\(table)")
  }

  // MARK: Reading

  /// A row of the table, as an insertion, as the history says it.
  func said(_ row: RowDelta) throws(ChangesetError) -> RowDelta {
    guard exist else { return row }
    return row.said(try conversions(of: row.key))
  }

  /// What makes rows of the table those that the history says.
  func all() throws(ChangesetError) -> (RowDelta) -> RowDelta {
    let (rows, standing) = (try allRows(), standing)
    if rows.isEmpty, standing.isEmpty { return { $0 } }
    return { row in row.said(rows[row.key].map { standing.merging($0) { $1 } } ?? standing) }
  }

  /// The same for the values of a row, those of the table's columns in order.
  func allValues() throws(ChangesetError) -> (RowKey, inout [SQLiteValue]) -> Void {
    let (rows, standing) = (try allRows(), standing)
    let columns = tracked.columns
    if rows.isEmpty, standing.isEmpty { return { _, _ in } }
    return { key, values in
      let row = rows[key].map { standing.merging($0) { $1 } } ?? standing
      if row.isEmpty { return }
      for (place, column) in columns.enumerated() {
        values[place] = row.said(values[place], in: column)
      }
    }
  }

  /// What the history says of changes that were read from the tables; nil where nothing has changed.
  func said(change: RowDelta) throws(ChangesetError) -> RowDelta? {
    guard exist else { return change }
    let row = try conversions(of: change.key)
    if row.isEmpty { return change }
    var change = change
    change.cells = change.cells.compactMap { cell in
      var cell = cell
      if change.kind != .insert { cell.old = row.said(cell.old, in: cell.column) }
      if change.kind != .delete { cell.new = row.said(cell.new, in: cell.column) }
      return cell.isChange ? cell : nil
    }
    return change.kind == .update ? RowDelta(updating: change.key, cells: change.cells) : change
  }

  private func conversions(of key: RowKey) throws(ChangesetError) -> Row {
    standing.merging(try own(of: key)) { $1 }
  }

  /// What is noted of a row alone.
  private func own(of key: RowKey) throws(ChangesetError) -> Row {
    let found = try connection.rows(
      "SELECT column, said, held FROM \(Self.table) WHERE name = ?1 AND key = ?2",
      .text(tracked.name),
      .blob(key.bytes)
    ) { ($0.text(0) ?? "", Conversion(said: $0.value(1), held: $0.value(2))) }
    return Row(found, uniquingKeysWith: { first, _ in first })
  }

  /// What is noted of single rows.
  func allRows() throws(ChangesetError) -> [RowKey: Row] {
    guard exist else { return [:] }
    var rows: [RowKey: Row] = [:]
    let found = try connection.rows(
      "SELECT key, column, said, held FROM \(Self.table) WHERE name = ?1 AND key <> x''",
      .text(tracked.name)
    ) { ($0.bytes(0), $0.text(1) ?? "", Conversion(said: $0.value(2), held: $0.value(3))) }
    for (key, column, conversion) in found {
      rows[RowKey(codedBytes: key), default: [:]][column] = conversion
    }
    return rows
  }

  // MARK: Writing

  /// Keeps what cells say that were just written, and that the table may have made something else of.
  func keep(cells: [CellDelta], of key: RowKey) throws(ChangesetError) {
    if exist {
      let known = try own(of: key)
      for cell in cells where known[cell.column] != nil {
        try forget(key: key, column: cell.column)
      }
    }
    let converted = cells.filter {
      tracked.mayConvert($0.new, in: $0.column) || standing[$0.column]?.held == $0.new
    }
    guard !converted.isEmpty, !HistoryMutant.convertedForgotten.isPresent,
      let row = try TableRows(connection: connection, table: tracked).held(key)
    else { return }
    for cell in converted {
      let held = row.cell(cell.column)?.new ?? .null
      // As the row would be read otherwise.
      if standing.said(held, in: cell.column) == cell.new { continue }
      try keep(Conversion(said: cell.new, held: held), in: cell.column, of: key)
    }
  }

  /// Keeps what a row says that was written past the history, wherever the table has only made another value of it.
  ///
  /// - Parameters:
  ///   - row: The row as it is there.
  ///   - said: The same as the history says it.
  /// - Returns: The row with what the history says of such values.
  /// - Throws: What is wrong with the database.
  func taken(up row: RowDelta, as said: RowDelta) throws(ChangesetError) -> RowDelta {
    var row = row
    var known: Row?
    for cell in said.cells {
      guard let place = row.cells.firstIndex(where: { $0.column.hasSameBytes(as: cell.column) }),
        row.cells[place].new != cell.new
      else { continue }
      var isMade = false
      if tracked.mayConvert(cell.new, in: cell.column) {
        isMade = try holds(cell.new, in: cell.column, of: row.key)
      }
      // A column that has had several types has made one value of another.
      if !isMade, exist {
        if known == nil { known = try conversions(of: row.key) }
        if let former = known?[cell.column], former.said == cell.new {
          isMade = try holds(former.held, in: cell.column, of: row.key)
        }
      }
      if !isMade { continue }
      let conversion = Conversion(said: cell.new, held: row.cells[place].new)
      try keep(conversion, in: cell.column, of: row.key)
      row.cells[place].new = cell.new
    }
    return row
  }

  /// Whether a column holds what it would if it were given a value: SQLite compares by the column's affinity, but for numbers
  /// that a real cannot hold.
  func holds(
    _ value: SQLiteValue,
    in column: String,
    of key: RowKey
  ) throws(ChangesetError) -> Bool {
    let name = column.quotedName
    var condition = "\(name) IS ?1 COLLATE BINARY"
    if tracked.affinities[column] == .real {
      condition += " OR (CAST(?1 AS NUMERIC) = ?1 AND \(name) IS CAST(?1 AS REAL))"
    }
    let sql = """
      SELECT \(condition) FROM main.\(tracked.name.quotedName)
      WHERE \(tracked.hasKey(at: 2))
      """
    return try connection.failing { () throws(SQLiteError) in
      let statement = try connection.bound(sql: sql, [value] + key.values)
      defer { statement.reset() }
      return try statement.step() && statement.integer(0) == 1
    }
  }

  func keep(
    _ conversion: Conversion,
    in column: String,
    of key: RowKey
  ) throws(ChangesetError) {
    if !exist {
      try connection.execute(
        """
        CREATE TABLE IF NOT EXISTS main.\(Self.table)(
          name TEXT NOT NULL, key BLOB NOT NULL, column TEXT NOT NULL, said, held,
          PRIMARY KEY(name, key, column)) WITHOUT ROWID
        """
      )
      exist = true
    }
    try connection.run(
      "REPLACE INTO \(Self.table) VALUES(?1, ?2, ?3, ?4, ?5)",
      .text(tracked.name),
      .blob(key.bytes),
      .text(column),
      conversion.said,
      conversion.held
    )
  }

  /// Forgets a row that is gone.
  func forget(key: RowKey) throws(ChangesetError) {
    guard exist else { return }
    try connection.run(
      "DELETE FROM \(Self.table) WHERE name = ?1 AND key = ?2",
      .text(tracked.name),
      .blob(key.bytes)
    )
  }

  func forget(key: RowKey, column: String) throws(ChangesetError) {
    try connection.run(
      "DELETE FROM \(Self.table) WHERE name = ?1 AND key = ?2 AND column = ?3",
      .text(tracked.name),
      .blob(key.bytes),
      .text(column)
    )
  }

  /// Forgets what the history says no longer after changes that have led to HEAD.
  func forget(replacedBy rows: [RowDelta]) throws(ChangesetError) {
    guard exist else { return }
    for row in rows {
      guard row.kind != .delete else {
        try forget(key: row.key)
        continue
      }
      for (column, conversion) in try own(of: row.key) {
        let cell = row.cell(column)
        if cell == nil, row.kind == .update || conversion.said == .null { continue }
        if cell?.new == conversion.said { continue }
        try forget(key: row.key, column: column)
      }
    }
  }

  /// Forgets what is not in rows as the history has them at HEAD.
  func forget(unlike rows: [RowKey: RowDelta]) throws(ChangesetError) {
    for (key, row) in try allRows() {
      for (column, conversion) in row where rows[key]?.cell(column)?.new != conversion.said {
        try forget(key: key, column: column)
      }
    }
  }

  /// Writes what the history says into a table that was changed, which may be able to hold it now; forgets what the table
  /// holds no longer.
  ///
  /// Tables that are declared alike hold the same of one value, by whatever way they became so.
  func retry() throws(ChangesetError) {
    try retryStanding()
    let rows = TableRows(connection: connection, table: tracked, converted: self)
    for (key, row) in try allRows() {
      let present = try rows.held(key)
      for (column, conversion) in row {
        let isThere = tracked.hasColumn(column)
        if let present, isThere, present.cell(column)?.new ?? .null == conversion.held {
          try write(conversion.said, in: column, of: key)
        } else {
          try forget(key: key, column: column)
        }
      }
    }
  }

  func write(
    _ value: SQLiteValue,
    in column: String,
    of key: RowKey
  ) throws(ChangesetError) {
    let sql = """
      UPDATE OR ABORT main.\(tracked.name.quotedName) SET \(column.quotedName) = ?1
      WHERE \(tracked.hasKey(at: 2))
      """
    do throws(SQLiteError) { try connection.bound(sql: sql, [value] + key.values).run() } catch {
      // The value that is there keeps the table's rules, and this one does not.
      guard error.kind == .constraint, connection.sqlite.isInTransaction else {
        throw ChangesetError(error)
      }
      return
    }
    try keep(cells: [CellDelta(column, old: .null, new: value, time: .zero)], of: key)
  }
}

extension ConvertedValues {
  /// Forgets what the history says no longer after changes that have led to HEAD.
  static func forget(
    replacedBy delta: StateDelta,
    in tables: TrackedTables,
    _ connection: HistoryConnection
  ) throws(ChangesetError) {
    guard try exist(connection) else { return }
    for change in delta.tables {
      guard let table = tables.table(change.name) else { continue }
      try ConvertedValues(connection: connection, table: table).forget(replacedBy: change.rows)
    }
  }

  /// Writes what the history says into tables that were changed; forgets what they hold no longer.
  static func retry(
    in tables: TrackedTables,
    _ connection: HistoryConnection
  ) throws(ChangesetError) {
    guard try exist(connection) else { return }
    try connection.withoutTriggers { () throws(ChangesetError) in
      for table in tables.tables {
        try ConvertedValues(connection: connection, table: table).retry()
      }
    }
    let names = try connection.rows("SELECT DISTINCT name FROM \(table)") { $0.text(0) ?? "" }
    for name in names where tables.table(name) == nil {
      try connection.run("DELETE FROM \(table) WHERE name = ?1", .text(name))
    }
    if try connection.integer("SELECT count(*) FROM \(table)") == 0 { try drop(connection) }
  }
}

extension RowDelta {
  /// A row that is there, as the history says it.
  fileprivate func said(_ conversions: [String: ConvertedValues.Conversion]) -> RowDelta {
    var row = self
    for place in row.cells.indices {
      row.cells[place].new = conversions.said(row.cells[place].new, in: row.cells[place].column)
    }
    return row
  }
}

extension [String: ConvertedValues.Conversion] {
  /// What the history says of a value that a column holds.
  func said(_ value: SQLiteValue, in column: String) -> SQLiteValue {
    guard let conversion = self[column], conversion.held == value else { return value }
    return conversion.said
  }
}
