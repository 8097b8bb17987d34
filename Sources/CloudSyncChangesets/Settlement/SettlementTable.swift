import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The rows of one table while a merge is settled.
struct SettlementTable {
  let connection: HistoryConnection
  let tracked: TrackedTable
  /// What SQLite keeps unique; the key itself only where it may take different ones for equal.
  let searches: [UniqueKeySearch]
  private let hasParkedRows: Bool
  private let converted: ConvertedValues

  private var schema: TableSchema { tracked.schema }
  private var name: String { tracked.name.quotedName }
  private var columns: [String] { tracked.key + tracked.columns }

  init(
    connection: HistoryConnection,
    tracked: TrackedTable,
    hasParkedRows: Bool
  ) throws(ChangesetError) {
    self.connection = connection
    self.hasParkedRows = hasParkedRows
    self.tracked = tracked
    converted = try ConvertedValues(connection: connection, table: tracked)
    let all = tracked.schema.uniqueKeySearches
    searches = tracked.hasBinaryKey && tracked.hasExactKey ? Array(all.dropFirst()) : all
  }

  /// Why a row is not in the table.
  enum Refusal: Error {
    /// Another row is in the way.
    case unique
    /// It breaks a rule of the table's by itself.
    case check(String)
  }

  /// A row of the state that is settled, also where the table does not take it.
  func row(_ key: RowKey) throws(ChangesetError) -> SettledRow? {
    let present = try TableRows(connection: connection, table: tracked, converted: converted)
      .row(key)
    if present == nil, hasParkedRows {
      return try ParkedRows(connection: connection).row(key, of: tracked.name)
        .map { SettledRow($0) }
    }
    return present.map { SettledRow($0) }
  }

  func delete(_ key: RowKey) throws(ChangesetError) {
    if hasParkedRows { try ParkedRows(connection: connection).release(key: key, of: tracked.name) }
    try converted.forget(key: key)
    try connection.failing { () throws(SQLiteError) in
      try connection.bound(
        sql: "DELETE FROM \(name) WHERE \(tracked.hasKey())",
        key.values
      )
      .run()
    }
  }

  /// Inserts a row; returns why the table does not have it.
  func insert(_ key: RowKey, _ row: SettledRow) throws(ChangesetError) -> Refusal? {
    let named = columns.map(\.quotedName).joined(separator: ", ")
    let places = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    let sql = "INSERT OR ABORT INTO \(name)(\(named)) VALUES(\(places))"
    do throws(SQLiteError) {
      try connection.bound(sql: sql, values(key: key, row)).run()
    } catch {
      guard error.kind == .constraint, connection.sqlite.isInTransaction else {
        throw ChangesetError(error)
      }
      return Self.uniqueCodes.contains(error.code) ? .unique : .check(error.message)
    }
    try converted.keep(cells: row.cells, of: key)
    return nil
  }

  /// SQLITE_CONSTRAINT_PRIMARYKEY, …_UNIQUE and …_ROWID.
  private static let uniqueCodes: Set<Int32> = [1_555, 2_067, 2_579]

  private func values(key: RowKey, _ row: SettledRow) -> [SQLiteValue] {
    key.values + tracked.columns.map { row[$0] }
  }

  /// The keys of the rows in the table that a row collides with, and by what.
  func holders(
    of row: SettledRow,
    _ key: RowKey
  ) throws(ChangesetError) -> [(search: UniqueKeySearch, key: RowKey)] {
    let places = Dictionary(
      uniqueKeysWithValues: columns.enumerated().map { ($1, "?\($0 + 1)") }
    )
    let candidate = schema.writableColumns.map { places[$0.name] ?? "NULL" }
    // Told apart to the byte: what a collation takes for the row itself may be another one.
    let own = tracked.key.enumerated()
      .map { "\($1.quotedName) COLLATE BINARY IS ?\(columns.count + $0 + 1)" }
      .joined(separator: " AND ")
    let values = values(key: key, row) + key.values
    var found: [(UniqueKeySearch, RowKey)] = []
    for search in searches {
      let sql = search.sql(in: schema, candidate: candidate, ownKey: own)
      let keys = try connection.failing { () throws(SQLiteError) in
        try connection.bound(sql: sql, values)
          .mapRows { query in RowKey(tracked.key.indices.map { query.value(Int32($0)) }) }
      }
      found += keys.filter { $0 != key }.map { (search, $0) }
    }
    return found
  }

  /// The columns of a unique key that may become NULL, so that it holds no longer.
  func nullableColumns(of search: UniqueKeySearch) -> [String] {
    let plain = search.columns.filter { name in
      search.terms.contains { $0.sql == name.quotedName }
    }
    // Of an expression whatever it looks at.
    return (plain.isEmpty ? search.columns : plain)
      .filter { name in
        schema.column(named: name).map { !$0.isNotNull && !$0.isGenerated } == true
          && !tracked.key.contains(name)
      }
  }
}
