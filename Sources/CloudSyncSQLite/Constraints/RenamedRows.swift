import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Rows whose key was changed: the old record is deleted, and tells as which one the row goes on.
///
/// Rows of other devices that refer to the old key, and that whoever has changed it had not seen, follow.
extension SyncTransaction {
  /// How many changes of keys are followed, one after the other.
  private static let longestChain = 64

  /// What the rows of a foreign key are to hold instead of a deleted row's key; nil if the row does not go on, or is
  /// referred to by another key than its primary one.
  func successor(of row: LoadedRow, by link: TableLink) throws(SQLiteError) -> [SQLiteValue]? {
    guard link.refersToKey, let present = try successor(of: row) else { return nil }
    return spelled(keyOf: present)
  }

  /// The row as which a deleted one goes on; nil if it is gone for good.
  func successor(of row: LoadedRow) throws(SQLiteError) -> LoadedRow? {
    var present = row
    for _ in 0..<Self.longestChain {
      guard let name = present.state.row?.successor,
        let (place, key) = try place(ofRecord: name), place == row.place
      else { return nil }
      present = try self.row(key, in: place)
      guard present.state.row != nil else { return nil }
      if !present.isDeleted(by: tables[place].rules) { return present }
    }
    return nil
  }

  /// A row's key as its table spells it.
  private func spelled(keyOf row: LoadedRow) -> [SQLiteValue] {
    let table = tables[row.place]
    guard let values = row.values else {
      return row.state.row?.storedValues(of: table.key) ?? row.key.values
    }
    return zip(table.key, row.key.values).map { table.value(of: $0, in: values) ?? $1 }
  }
}
