import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Reads the rows of one table that were edited.
struct CapturedRows {
  let table: CapturedTable
  private let folding: EditFolding
  private let connection: SQLiteConnection
  private let query: String
  /// Where the key's columns are among the writable ones.
  private let keyPlaces: [Int]

  init(table: CapturedTable, folding: EditFolding, connection: SQLiteConnection) {
    self.table = table
    self.folding = folding
    self.connection = connection
    let columns = table.schema.writableColumns.map(\.name)
    let list = columns.map(\.quotedName).joined(separator: ", ")
    let condition = table.key.enumerated()
      .map { "\($1.name.quotedName) = ?\($0 + 1) COLLATE \($1.collation.rawValue)" }
      .joined(separator: " AND ")
    query = "SELECT \(list) FROM main.\(table.name.quotedName) WHERE \(condition)"
    keyPlaces = table.key.compactMap { key in columns.firstIndex { $0 == key.name } }
  }

  /// What the edits of one row, in their order, come to; nil if it is nothing.
  func row(of edits: [CapturedEdit]) throws(SQLiteError) -> CapturedRow? {
    guard let last = edits.last else { return nil }
    let present = try values(of: last.key)
    let rowEdits = folding.rowEdits(of: edits, present: present)
    if rowEdits.isEmpty { return nil }
    let key = present.map { values in keyPlaces.map { values[$0] } } ?? last.key
    return CapturedRow(table: table.id, key: key, edits: rowEdits)
  }

  /// What a row's writable columns hold, in their order; nil if there is no row.
  private func values(of key: [SQLiteValue]) throws(SQLiteError) -> [SQLiteValue]? {
    let query = try connection.statement(query)
    for (place, value) in key.enumerated() { query.bind(value, at: Int32(place + 1)) }
    defer { query.reset() }
    guard try query.step() else { return nil }
    return (0..<query.columnCount).map { query.value($0) }
  }
}
