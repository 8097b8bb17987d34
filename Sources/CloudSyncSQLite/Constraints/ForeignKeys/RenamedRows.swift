import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Rows whose key was changed: the old record is deleted, and tells as which one the row goes on.
///
/// Rows of other devices that refer to the old key, and that whoever has changed it had not seen, follow.
extension SyncTransaction {
  /// How many changes of keys are followed, one after the other.
  private static let longestChain = 64

  /// Notes as which records rows go on whose keys were changed here.
  mutating func noteSuccessors(_ rows: [CapturedRow]) throws(SQLiteError) {
    var successors: [RowKey: RecordKey] = [:]
    var renamed: [(place: Int, key: RecordKey)] = []
    for row in rows {
      guard let values = row.successor, let place = tables.place(ofID: row.table) else { continue }
      let key = tables[place].format.key(spelled: row.key)
      renamed.append((place, key))
      let rowKey = RowKey(table: row.table, key: tables[place].rowKey(key))
      successors[rowKey] = tables[place].format.key(spelled: values)
    }
    for (place, key) in renamed {
      let table = tables[place]
      var last = key
      // Of a row whose key was changed again nobody may ever hear.
      for _ in 0...renamed.count {
        guard let next = successors[RowKey(table: table.id, key: table.rowKey(last))] else { break }
        last = next
      }
      try reduce(.edited(.renamed(to: last.name)), key, in: place)
    }
  }

  /// What the rows of a foreign key are to hold instead of a deleted row's key; nil if the row does not go on, or is
  /// referred to by another key than its primary one.
  func successor(of row: LoadedRow, by link: TableLink) throws(SQLiteError) -> [SQLiteValue]? {
    guard link.refersToKey, let present = try successor(of: row) else { return nil }
    return spelled(present)
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
      if !present.isDeleted(tables[place].rules) { return present }
    }
    return nil
  }

  /// A row's key as its table spells it.
  private func spelled(_ row: LoadedRow) -> [SQLiteValue] {
    let table = tables[row.place]
    guard let values = row.values else {
      return row.state.row?.storedValues(of: table.key) ?? row.key.values
    }
    return zip(table.key, row.key.values).map { table.value(of: $0, in: values) ?? $1 }
  }
}
