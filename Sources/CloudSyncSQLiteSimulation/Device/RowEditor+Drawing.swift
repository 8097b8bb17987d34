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
    let row = try self.row(number: number)
    let other = try self.row(number: number + offset)
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
    let isRestless = schema.isRestless && edit.number % 5 == 0
    if draw(.keyGiven) || isRestless, ["lists", "notes", "items"].contains(row.table) {
      let key = SQLiteValue.text("k\(number)n\(edit.number)")
      let next = RowID(table: row.table, key: [key])
      if isSwap {
        try swapKeys(of: row, and: other, by: next, number: edit.number)
      } else {
        try rename(row, to: next, number: edit.number)
      }
      if edits.count > former { return .keyGiven }
    }
    switch edit.change {
    case .set where schema.hasLocals && edit.number % 7 == 0:
      try setLocal(of: row, number: edit.number)
    case .set(let field):
      try set(field: field, of: row, to: edit.number)
      if schema.hasLocals, edit.number % 3 == 0 { try setLocal(of: row, number: edit.number) }
    case .delete: try delete(row: row)
    }
    return nil
  }

  /// Has two rows swap their keys; one has another key in between.
  private mutating func swapKeys(
    of row: RowID,
    and other: RowID,
    by between: RowID,
    number: Int64
  ) throws(SQLiteError) {
    guard row != other, row.table == other.table, let table = table(of: row),
      try values(of: row, in: table) != nil, try values(of: other, in: table) != nil
    else { return }
    let former = edits.count
    try rename(row, to: between, number: number)
    if edits.count == former { return }
    // A row that is edited twice in one transaction has a time for each.
    try stamp()
    try rename(other, to: row, number: number)
    try stamp()
    try rename(between, to: other, number: number)
  }
}
