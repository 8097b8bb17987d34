import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Finds out whether a rebuilt table has what another one had, or a column of it what another one had that is declared
/// otherwise: the digests of rows that nobody has edited tell.
///
/// A table of the former declaration makes of the values what they were.
struct ReplacedColumn {
  let connection: SQLiteConnection
  /// The table as it was registered.
  let former: RegisteredTable
  let table: TableSchema
  /// The new names of columns by the former ones.
  let renamed: [String: String]

  /// How many rows are looked at.
  private static let limit = 1_000

  /// A column of the former table.
  private struct Column {
    let name: String
    let number: Int64
    /// Its constant default; nil if it is computed.
    let initial: SQLiteValue?
  }

  /// Whether most rows that have something in a column had it in another one.
  ///
  /// One that is new, and filled with what others need not have had, is none of these.
  func isCarried(_ old: String, as new: String) throws(SQLiteError) -> Bool {
    try hasMostRows(renamed.merging([old: new]) { $1 }, having: new) ?? false
  }

  /// Whether most rows of the table that another one had by their keys were in all columns the same there; nil if there are
  /// no such rows that nobody has edited.
  func isWholeCarried() throws(SQLiteError) -> Bool? { try hasMostRows(renamed, having: nil) }

  private func hasMostRows(
    _ renamed: [String: String],
    having new: String?
  ) throws(SQLiteError) -> Bool? {
    // A declaration that needs what only the app's connection has makes no table here: then nothing tells.
    guard let key = try KeyColumn.read(of: table, in: connection),
      let copy = try? FormerTable(former)
    else { return false }
    var (same, others) = (0, 0)
    let names = copy.columns.map { renamed[$0.name] ?? $0.name }
    let query = try rows(of: names, having: new, key: key)
    try query.forEachRow { () throws(SQLiteError) in
      let values = names.indices.map { query.value(Int32($0)) }
      let place = new.flatMap { names.firstIndex(of: $0) }
      guard let digest = copy.digest(of: values, filled: place) else { return }
      if digest == query.integer(Int32(names.count)) { same += 1 } else { others += 1 }
    }
    return same + others == 0 ? nil : same >= others
  }

  /// Rows that are known, and that nobody may have edited, with their digests.
  private func rows(
    of names: [String],
    having column: String?,
    key: [KeyColumn]
  ) throws(SQLiteError) -> SQLiteStatement {
    let condition = column.map { "t.\($0.quotedName) IS NOT NULL" } ?? "TRUE"
    let isRead = StatusQuery([former]).isRead(rowOf: "k.table_id, k.key")
    let columns = names.map { name in
      table.column(named: name) == nil ? "NULL" : "t.\(name.quotedName)"
    }
    return
      try connection.prepare(
        """
        SELECT \(columns.joined(separator: ", ")), k.digest
        FROM main.\(table.name.quotedName) t
          JOIN cloudsync_known k ON k.table_id = ?1 AND k.key = \(CompoundKey.lookedUp(key, in: "t"))
        WHERE \(condition) AND \(isRead) LIMIT \(Self.limit)
        """
      )
      .bind(former.id, at: 1)
  }

  /// An empty table that takes values as the former one did.
  private struct FormerTable {
    let connection: SQLiteConnection
    let columns: [Column]
    private let insertion: SQLiteStatement
    private let selection: SQLiteStatement
    private let removal: SQLiteStatement

    init(_ former: RegisteredTable) throws(SQLiteError) {
      let schema: TableSchema?
      (connection, schema) = try former.remade()
      let numbers = ColumnNumbers(former.columns)
      var columns: [Column] = []
      for column in schema?.writableColumns ?? [] {
        columns.append(
          Column(
            name: column.name,
            number: Int64(numbers.number(of: column.name) ?? -1),
            initial: try connection.constantDefault(of: column)
          )
        )
      }
      self.columns = columns
      let name = former.name.quotedName
      let names = columns.map(\.name.quotedName).joined(separator: ", ")
      let marks = columns.map { _ in "?" }.joined(separator: ", ")
      insertion = try connection.prepare("INSERT INTO \(name)(\(names)) VALUES(\(marks))")
      selection = try connection.prepare("SELECT \(names) FROM \(name)")
      removal = try connection.prepare("DELETE FROM \(name)")
    }

    /// The digest that the table's row had; nil if it had nothing in a column, or cannot have been in the table.
    func digest(of values: [SQLiteValue], filled place: Int?) -> Int64? {
      do throws(SQLiteError) {
        try removal.run()
        for (place, value) in values.enumerated() { insertion.bind(value, at: Int32(place + 1)) }
        try insertion.run()
        var kept: [SQLiteValue] = []
        try selection.forEachRow { kept = columns.indices.map { selection.value(Int32($0)) } }
        if let place, kept[place] == columns[place].initial { return nil }
        var digest = RowDigest()
        for (column, value) in zip(columns, kept) where value != column.initial {
          digest.add(.integer(column.number))
          digest.add(value)
        }
        return digest.value
      } catch {
        // The former table would not have taken it.
        return nil
      }
    }
  }
}

extension SQLiteConnection {
  /// What the default of a column gives; nil if it is computed.
  func constantDefault(of column: TableSchema.Column) throws(SQLiteError) -> SQLiteValue? {
    guard let sql = column.defaultSQL else { return .null }
    let text = SQLText(sql)
    guard text.isLiteral else { return nil }
    // In a query it would be a column.
    if let word = text.bareWord { return .text(word) }
    return try value("SELECT \(sql)")
  }
}
