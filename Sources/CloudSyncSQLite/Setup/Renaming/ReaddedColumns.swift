import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Finds columns that a migration has dropped and added again under their names, before any engine saw the table without
/// them.
///
/// Neither the names nor the triggers tell it. But what is added stands last and holds its default in all rows, so rows
/// that nobody has edited are not what was known of them.
struct ReaddedColumns {
  let connection: SQLiteConnection
  /// The tables as they were registered before.
  let registered: [RegisteredTable]

  /// The columns of a table that may have been dropped and added again.
  ///
  /// - Parameters:
  ///   - table: The table as it is now.
  ///   - finding: What its triggers and its declaration tell.
  /// - Returns: Their names; none if its rows are what was known of them.
  /// - Throws: SQLite's reason.
  func find(
    in table: RecordTable,
    after finding: CaptureFinding
  ) throws(SQLiteError) -> [String] {
    switch finding {
    case .unchanged, .leftOut: try find(in: table, added: [])
    case .columnsChanged(let added, _): try find(in: table, added: added)
    case .rebuilt: try findBesideRebuild(in: table)
    case .new, .missing: []
    }
  }

  /// Those of a table that was also rebuilt, whose rows need not be what was known of them.
  ///
  /// No row has kept a value in one that has come again, and rows that have its default had something else. One that stands where it
  /// stood has nothing but its default; if it is declared as it was too, every row has lost a value at once, as hardly by edits.
  private func findBesideRebuild(in table: RecordTable) throws(SQLiteError) -> [String] {
    guard let former = registered.first(where: { $0.id == table.id }),
      let declared = former.declaration
    else { return [] }
    let order = declared.columns.map(\.name)
    let rows = CleanRows(connection: connection, table: table, former: former)
    let formerPlaces = table.columns.map { name in order.firstIndex { $0.isSameName(as: name) } }
    var names: [String] = []
    for (place, column) in table.columns.enumerated().reversed() {
      guard let formerPlace = formerPlaces[place] else { continue }
      let isKey = table.key.contains { $0.isSameName(as: column) }
      guard !isKey, table.defaults[place] != nil else { break }
      let hasMoved = formerPlaces[..<place].contains { $0.map { $0 > formerPlace } ?? false }
      let isOther = table.schema.column(named: column) != declared.column(named: column)
      let found = try rows.survey(column: place, inOrder: order)
      guard !found.haveKept, found.lost > 0, hasMoved || !found.haveOthers,
        hasMoved || isOther || found.lost > 1 && !found.haveUnchanged
      else { break }
      names.append(column)
    }
    return names
  }

  private func find(in table: RecordTable, added: [String]) throws(SQLiteError) -> [String] {
    guard let former = registered.first(where: { $0.id == table.id }) else { return [] }
    let rows = CleanRows(connection: connection, table: table, former: former)
    var names: [String] = []
    for (column, initial) in zip(table.columns, table.defaults).reversed() {
      if added.contains(where: { UTF8Bytes.equal($0, column) }) { continue }
      let isKey = table.key.contains { $0.isSameName(as: column) }
      guard !isKey, let initial else { break }
      if try rows.haveValues(in: column, besides: initial) { break }
      names.append(column)
    }
    if names.isEmpty { return [] }
    // Of edited rows there is no digest.
    if try hasEdits(of: former) { return names }
    return try rows.areUnchanged(but: added) ? [] : names
  }

  private func hasEdits(of table: RegisteredTable) throws(SQLiteError) -> Bool {
    try connection.integer(
      """
      SELECT EXISTS(SELECT 1 FROM cloudsync_pending WHERE table_id = \(table.id) AND NOT is_tombstone)
        OR EXISTS(SELECT 1 FROM cloudsync_outbox WHERE table_id = \(table.id))
      """
    ) == 1
  }
}

extension RegisteredTable {
  /// How it was declared; nil if its declaration needs what only the app's connection has.
  fileprivate var declaration: TableSchema? { (try? remade())?.schema }
}

/// The rows of a table that the cloud has too, and that nobody has edited since.
private struct CleanRows {
  let connection: SQLiteConnection
  let table: RecordTable
  let former: RegisteredTable

  /// Whether one of them has something else in a column than its default.
  func haveValues(in column: String, besides initial: SQLiteValue) throws(SQLiteError) -> Bool {
    try select("1", where: "t.\(column.quotedName) IS NOT (\(initial.literal))").step()
  }

  /// What rows have in a column.
  struct Survey {
    /// Whether one is what it was when it was synchronized last, with more than the default in the column.
    var haveKept = false
    /// Whether one is what it was, with the default there.
    var haveUnchanged = false
    /// How many have the default there, and are not what they were.
    var lost = 0
    /// Whether one has more than the default there, and is not what it was.
    var haveOthers = false
  }

  /// Looks at what they have in a column, until one has kept its value.
  ///
  /// - Parameters:
  ///   - place: The column's place.
  ///   - order: The names of the columns, in the order that they stood in when rows were synchronized last.
  /// - Returns: What they have.
  /// - Throws: SQLite's reason.
  func survey(column place: Int, inOrder order: [String]) throws(SQLiteError) -> Survey {
    let query = try selectRows()
    var found = Survey()
    while !found.haveKept, let (values, digest) = try row(of: query) {
      let isSame = table.digest(of: values, inOrder: order) == digest
      switch (table.isDefault(values[place], at: place), isSame) {
      case (true, true): found.haveUnchanged = true
      case (true, false): found.lost += 1
      case (false, true): found.haveKept = true
      case (false, false): found.haveOthers = true
      }
    }
    return found
  }

  /// Whether all of them are what they were when they were synchronized last, but for columns that are new.
  func areUnchanged(but added: [String]) throws(SQLiteError) -> Bool {
    let query = try selectRows()
    while let (values, digest) = try row(of: query) {
      if table.digest(of: values, without: added) != digest { return false }
    }
    return true
  }

  /// All of them, with the digests that were stored.
  private func selectRows() throws(SQLiteError) -> SQLiteStatement {
    let columns = table.columns.map { "t.\($0.quotedName)" }
    return try select((columns + ["k.digest"]).joined(separator: ", "), where: "TRUE")
  }

  private func row(
    of query: SQLiteStatement
  ) throws(SQLiteError) -> (values: [SQLiteValue], digest: Int64)? {
    guard try query.step() else { return nil }
    let values = table.columns.indices.map { query.value(Int32($0)) }
    return (values, query.integer(Int32(values.count)))
  }

  private func select(
    _ columns: String,
    where condition: String
  ) throws(SQLiteError) -> SQLiteStatement {
    try connection.prepare(
      """
      SELECT \(columns)
      FROM main.\(table.name.quotedName) t
        JOIN cloudsync_known k ON k.table_id = ?1 AND k.key = \(table.captured.lookedUpKey("t"))
      WHERE \(condition) AND \(StatusQuery([former]).isRead(rowOf: "k.table_id, k.key"))
        AND NOT EXISTS(
          SELECT 1 FROM cloudsync_pending p WHERE p.table_id = k.table_id AND p.key = k.key)
      """
    )
    .bind(table.id, at: 1)
  }
}
