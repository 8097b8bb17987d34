import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// What becomes of all rows, whoever writes them: triggers do so besides users.
extension RowEditor {
  /// All rows, with their keys as they are spelled.
  func allRows() throws(SQLiteError) -> [RowID: [RowEdit.Value]] {
    var found: [RowID: [RowEdit.Value]] = [:]
    for table in tables {
      let key = table.key.map(\.name)
      let list = (key + table.spelledColumns.map { table.sql($0) }).joined(separator: ", ")
      for row in try connection.rows(sql: "SELECT \(list) FROM \(table.name)") {
        let id = RowID.canonical(table: table.name, key: Array(row.prefix(key.count)))
        found[id] = zip(table.spelledColumns, row.dropFirst(key.count))
          .map { (column: $0, value: $1) }
      }
    }
    return found
  }

  /// Makes an edit, and notes what the app's triggers have done besides.
  mutating func watchingTriggers<Result>(
    _ edit: (inout RowEditor) throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> Result {
    guard schema.hasTriggers, try hasTriggers() else { return try edit(&self) }
    let (before, place) = (try allRows(), edits.count)
    let result = try edit(&self)
    try noteEffects(from: before, to: try allRows(), noted: Array(edits[place...]))
    return result
  }

  private func hasTriggers() throws(SQLiteError) -> Bool {
    try connection.rows(sql: AppTriggers.names).isEmpty == false
  }

  private mutating func noteEffects(
    from old: [RowID: [RowEdit.Value]],
    to new: [RowID: [RowEdit.Value]],
    noted: [RowEdit]
  ) throws(SQLiteError) {
    for row in new.keys.sorted(by: { "\($0)" < "\($1)" }) {
      guard let former = old[row], let values = new[row] else { continue }
      let own = noted.filter { $0.row == row }
      if own.contains(where: \.isInsertion) { continue }
      let births = [former, values]
        .map { row in row.first { $0.column == "born" }?.value }
      if births[0] != births[1] {
        try note(row, .inserted(values), former: [])
        continue
      }
      for (one, other) in zip(former, values)
      where one.value != other.value && one.column != "n"
        && !own.contains(where: { $0.value(of: one.column) != nil })
      {
        try note(row, .set(column: other.column, value: other.value), former: former)
      }
    }
  }

  /// What has made rows of others.
  static func edits(
    from old: [RowID: [RowEdit.Value]],
    to new: [RowID: [RowEdit.Value]]
  ) -> [RowEdit] {
    var edits: [RowEdit] = []
    for (row, former) in old where new[row] == nil {
      edits.append(RowEdit(row: row, time: .zero, change: .deleted, former: former))
    }
    for (row, values) in new {
      guard let former = old[row] else {
        edits.append(RowEdit(row: row, time: .zero, change: .inserted(values)))
        continue
      }
      for (one, other) in zip(former, values) where one.value != other.value && one.column != "n" {
        let change = RowEdit.Change.set(column: other.column, value: other.value)
        edits.append(RowEdit(row: row, time: .zero, change: change, former: former))
      }
    }
    // The order of a dictionary is another one in each process.
    return edits.sorted { "\($0.row)" < "\($1.row)" }
  }
}
