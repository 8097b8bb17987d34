import CloudSyncSQLite
import CloudSyncSQLiteSupport

extension RowEditor {
  /// What a row has in its columns, with its key as it is spelled; nil if it is not there.
  func values(
    of row: RowID,
    in table: SimulatedSchema.Table
  ) throws(SQLiteError) -> [RowEdit.Value]? {
    let names = table.spelledColumns
    let condition = row.condition(table: table)
    let list = names.map { table.sql($0) }.joined(separator: ", ")
    let query = "SELECT \(list) FROM \(table.name) WHERE \(condition)"
    guard let found = try connection.rows(sql: query).first else { return nil }
    return zip(names, found).map { (column: $0, value: $1) }
  }

  /// The rows that refer to a row, by which column, with what they have.
  func children(
    of row: RowID,
    having former: [RowEdit.Value]
  ) throws(SQLiteError) -> [(row: RowID, column: String, former: [RowEdit.Value])] {
    var found: [(row: RowID, column: String, former: [RowEdit.Value])] = []
    for table in tables {
      for column in table.key + table.columns where column.parent == row.table {
        let own = former.first { $0.column == column.parentColumn }?.value
        guard let key = own ?? row.key.first, key != .null else { continue }
        let list = table.key.map(\.name).joined(separator: ", ")
        let collation = column.parentColumn == "name" ? " COLLATE NOCASE" : ""
        let keys = try connection.rows(
          sql: "SELECT \(list) FROM \(table.name)"
            + " WHERE \(column.sql) = \(key.literal)\(collation) ORDER BY 1"
        )
        for key in keys {
          let child = RowID(table: table.name, key: key)
          guard let values = try values(of: child, in: table) else { continue }
          found.append((child, column.name, values))
        }
      }
    }
    return found
  }

  /// The rows that are deleted with a row, with what they have.
  func descendants(
    of row: RowID,
    having former: [RowEdit.Value]
  ) throws(SQLiteError) -> [(row: RowID, former: [RowEdit.Value])] {
    var found: [(row: RowID, former: [RowEdit.Value])] = []
    for child in try children(of: row, having: former) {
      found += try descendants(of: child.row, having: child.former) + [(child.row, child.former)]
    }
    return found
  }

  /// Whether the parents are there that the key of a new row refers to.
  func hasParents(
    of row: RowID,
    table: SimulatedSchema.Table
  ) throws(SQLiteError) -> Bool {
    for (column, value) in zip(table.key, row.key) {
      guard let parent = column.parent else { continue }
      let query = "SELECT count(*) FROM \(parent) WHERE id = \(value.literal)"
      guard try connection.integer(query) > 0 else { return false }
    }
    return true
  }

  /// The column that a field stands for, and the value that an edit gives it.
  func value(
    of field: String,
    number: Int64,
    table: SimulatedSchema.Table
  ) throws(SQLiteError) -> (column: String, value: SQLiteValue) {
    if field == "b", let column = table.column("b") {
      let isNull = number % 7 == 0 && column.initial == "NULL"
      return ("b", isNull ? .null : .text("é\(number)'"))
    }
    guard field == "c" else { return ("a", .integer(number)) }
    let references = ["list": "lists", "note": "notes", "item": "items"]
    if number % 3 > 0 {
      if let column = table.columns.first(where: { references[$0.name] != nil }),
        let parent = references[column.name]
      {
        return (column.name, try reference(column: column, in: parent, number: number))
      }
      if table.column("name") != nil {
        let names = ["x", "y", "X", "z", "w", "Y"]
        return ("name", .text(names[Int(number / 3) % names.count]))
      }
    }
    switch table.column("c")?.type {
    case "REAL": return ("c", .real(Double(number) + 0.25))
    case "BLOB": return ("c", .blob([0, 255] + "\(number)".utf8))
    default: return ("a", .integer(number))
    }
  }

  /// A row that is there to refer to, or none.
  private func reference(
    column: SimulatedSchema.Column,
    in table: String,
    number: Int64
  ) throws(SQLiteError) -> SQLiteValue {
    let key = column.parentColumn
    let found = try connection.rows(
      sql: "SELECT \(key) FROM \(table) WHERE \(key) IS NOT NULL ORDER BY \(key)"
    )
    if found.isEmpty || number % 5 == 0 { return .null }
    return found[Int(number / 3) % found.count][0]
  }
}

extension SimulatedSchema.Table {
  /// The columns, with those of a key that may be spelled in several ways.
  var spelledColumns: [String] { (name == "items" ? ["id"] : []) + columns.map(\.name) }
}
