import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Rows whose key was changed: the old record is deleted, and tells as which one the row goes on.
///
/// Rows of other devices that refer to the old key, and that whoever has changed it had not seen, follow.
struct RenamedRows: TransactionPart {
  let transaction: SyncTransaction

  /// How many changes of keys are followed, one after the other.
  static let longestChain = 64

  /// What a row of a foreign key is to hold instead of a deleted row's key; nil if the row that it was made of does not go
  /// on, or is referred to by another key than its primary one.
  func successor(
    of row: LoadedRow,
    for child: LoadedRow,
    by link: TableLink
  ) throws(SQLiteError) -> [SQLiteValue]? {
    guard link.refersToKey else { return nil }
    let life = child.state.row?.life(ofReference: link.columns, telling: link.own)
    return try successor(of: row, ofLife: life).map { spelled(keyOf: $0) }
  }

  /// The row as which a deleted one goes on, in a life of its own or in its last one; nil if it is gone for good.
  func successor(
    of row: LoadedRow,
    ofLife life: RowLife? = nil
  ) throws(SQLiteError) -> LoadedRow? {
    var (present, life) = (row, life)
    for step in 0..<Self.longestChain {
      guard let version = present.state.row else { return nil }
      let isThere = !present.isDeleted
      // Another row may have got the key that it had in between.
      var move = life.flatMap { version.clock.move(ofLife: $0) }
      if move == nil, step > 0, isThere { return present }
      if move == nil { move = version.clock.move(of: version.clock) }
      guard let move, let key = try transaction.key(ofRow: move.name, in: row.place) else {
        return nil
      }
      present = try self.row(key, in: row.place)
      life = move.arrived
    }
    return nil
  }

  /// A row's key as its table spells it.
  func spelled(keyOf row: LoadedRow) -> [SQLiteValue] {
    let table = tables[row.place]
    guard let values = row.values else {
      return row.state.row?.storedValues(of: table.key) ?? row.key.values
    }
    return zip(table.key, row.key.values).map { table.value(of: $0, in: values) ?? $1 }
  }
}

extension SyncTransaction {
  /// Rows whose key was changed.
  var renamed: RenamedRows { RenamedRows(transaction: self) }
}
