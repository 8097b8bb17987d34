import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

extension ChangesetDevice {
  /// Makes an edit as apps do that replace rows: SQLite calls no triggers for the rows that have to go.
  ///
  /// - Returns: What became of the rows; nil if the edit is to be made as usual.
  func replace(edit: DeviceEdit, by editor: RowEditor) throws(SQLiteError) -> [RowEdit]? {
    let choice = history.withLock { $0.random.below(12) }
    guard choice < 3, case .set = edit.change else { return nil }
    let number = Int(edit.name.drop { !$0.isNumber }) ?? 0
    let row = schema.row(number: number, version: version)
    let other = schema.row(number: number + 1 + Int(edit.number % 5), version: version)
    guard let table = editor.table(of: row) else { return nil }
    if choice > 0 { return try writeOver(row: row, number: edit.number, in: table, by: editor) }
    guard row.table == "items", other.table == "items", row != other else { return nil }
    return try takeName(row: row, of: other, number: edit.number, in: table, by: editor)
  }

  /// Sets a column twice, each time with a conflict clause of its own.
  private func writeOver(
    row: RowID,
    number: Int64,
    in table: SimulatedSchema.Table,
    by editor: RowEditor
  ) throws(SQLiteError) -> [RowEdit]? {
    guard try editor.values(of: row, in: table) != nil else { return nil }
    var written: [RowEdit] = []
    for value in [-number, number] {
      do throws(SQLiteError) {
        try editor.connection.execute(
          "UPDATE OR REPLACE \(table.name) SET a = \(value) WHERE \(row.condition(table: table))"
        )
      } catch {
        // A rule that only this device's tables have.
        guard error.kind == .constraint else { throw error }
        continue
      }
      written = [RowEdit(row: row, time: .zero, change: .set(column: "a", value: .integer(value)))]
    }
    return written
  }

  /// Makes a row anew with the name of another one, which goes where names are unique.
  private func takeName(
    row: RowID,
    of other: RowID,
    number: Int64,
    in table: SimulatedSchema.Table,
    by editor: RowEditor
  ) throws(SQLiteError) -> [RowEdit]? {
    var gone: [RowEdit] = []
    for id in [row, other] {
      guard let former = try editor.values(of: id, in: table) else { continue }
      // What it takes along is for others to try.
      guard try editor.children(of: id, having: former).isEmpty else { return nil }
      gone.append(RowEdit(row: id, time: .zero, change: .deleted))
    }
    let key = row.key[0].literal
    let name = "(SELECT name FROM items WHERE \(other.condition(table: table)))"
    do throws(SQLiteError) {
      try editor.connection.execute(
        "INSERT OR REPLACE INTO items(id, name, born, a) VALUES(\(key), \(name), \(number), \(number))"
      )
    } catch {
      if error.kind == .foreignKey || error.kind == .constraint { return [] }
      throw error
    }
    let made = [(column: "born", value: SQLiteValue.integer(number))]
    return gone + [RowEdit(row: row, time: .zero, change: .inserted(made))]
  }
}
