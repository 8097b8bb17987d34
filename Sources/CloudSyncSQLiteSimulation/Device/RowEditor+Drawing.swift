import CloudSyncSQLiteSupport
import CloudSyncSimulator

extension RowEditor {
  /// Makes an edit, or what is drawn in its place.
  ///
  /// - Parameters:
  ///   - edit: The edit.
  ///   - offset: How far another row is, if it takes two.
  ///   - isSwap: Whether values are swapped that move to another row.
  ///   - draw: Draws whether something takes the place of an edit.
  /// - Returns: What has taken its place; nil if nothing has.
  /// - Throws: SQLite's reason.
  mutating func make(
    _ edit: DeviceEdit,
    offset: Int,
    isSwap: Bool,
    draw: (FaultPoint) -> Bool
  ) throws(SQLiteError) -> FaultPoint? {
    let number = Int(edit.name.drop { !$0.isNumber }) ?? 0
    let row = schema.row(number: number, version: version)
    let other = schema.row(number: number + offset, version: version)
    let former = edits.count
    if draw(.valueMoved), try takeName(row, from: other, isSwap: isSwap) { return .valueMoved }
    if draw(.keyRespelled), row.table == "items" {
      try respell(row, number: edit.number)
      if edits.count > former { return .keyRespelled }
    }
    if draw(.keyChanged), ["lists", "notes", "items"].contains(row.table) {
      try rename(row, to: other, number: edit.number)
      if edits.count > former { return .keyChanged }
    }
    switch edit.change {
    case .set(let field): try set(field: field, of: row, to: edit.number)
    case .delete: try delete(row: row)
    }
    return nil
  }
}
