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
    let changes = edits.filter { $0.change != .mismatched }.endingReplaced()
    guard let last = edits.last else { return nil }
    let present = try values(of: last.key)
    let rowEdits = folding.rowEdits(of: changes, present: present)
    if rowEdits.isEmpty { return nil }
    let key = present.map { values in keyPlaces.map { values[$0] } } ?? last.key
    var row = CapturedRow(table: table.id, key: key, edits: rowEdits)
    if present == nil { row.endsMismatched = endsMismatched(edits) }
    return row
  }

  /// Whether a row was none of those that are sent when it was deleted last; nil if nobody looked.
  private func endsMismatched(_ edits: [CapturedEdit]) -> Bool? {
    guard let end = edits.lastIndex(where: { $0.change == .deleted || $0.change == .replaced })
    else { return nil }
    if edits[end].followsMismatching { return true }
    if edits[end].change == .replaced { return edits[end].isMismatching }
    // A key that was changed is no deletion: the row goes on.
    if edits[end].isRenaming { return nil }
    return end > 0 && edits[end - 1].change == .mismatched
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
