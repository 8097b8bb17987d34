import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Rows that wait for their parents: when everything has come that the cloud had, those whose parents are deleted do
/// what their foreign keys and the policies say, so that none waits for ever.
///
/// Where a parent is to come back, they wait for it: whoever has made them has the parent too, and restores it; unless it
/// was deleted there too, after them.
struct WaitingRows: TransactionPart {
  let transaction: SyncTransaction

  /// Looks at all of them, and writes those that can be written.
  func settle() throws(SQLiteError) {
    transaction.isWaitingSettled = true
    var seen: Set<RowKey> = []
    while true {
      // What becomes of some may have others wait for nobody any more.
      let open = try waiting().filter { !seen.contains($0) }
      if open.isEmpty { break }
      for key in open {
        seen.insert(key)
        try settle(key)
      }
      try transaction.writing.writeRows()
    }
    transaction.awaitedParents = []
    for row in transaction.rows.values {
      if case .awaitsParent(let name) = row.state.placement {
        transaction.awaitedParents.insert(name)
      }
    }
  }

  private func waiting() throws(SQLiteError) -> [RowKey] {
    var keys: [RowKey] = []
    for key in transaction.keys(stored: try stored.pending.waiting(), orLoaded: \.waitsForParent) {
      if let row = try transaction.row(key), row.waitsForParent { keys.append(key) }
    }
    return keys
  }

  private func settle(
    _ key: RowKey
  ) throws(SQLiteError) {
    guard let place = transaction.tables.place(ofID: key.table) else { return }
    for link in transaction.tables.links(from: place) {
      guard let row = try transaction.row(key), !row.isDeleted,
        let consequence = transaction.tables.consequence(of: link)
      else { continue }
      let former = try transaction.formerParent(of: row, by: link)
      switch former {
      case .none, .present: continue
      case .goesOn(let values):
        if link.isInKeyOfChild {
          _ = try RowUnion(transaction: transaction).move(row, from: link.columns, to: values)
        } else {
          try transaction.set(link.columns, to: values, of: key)
        }
        continue
      case .gone(let parent):
        // Others keep one that was deleted on this device alone, and what refers to it.
        if try RowFiltering(transaction: transaction).isDeletedHereAlone(parent) { continue }
      }
      switch consequence {
      case .stay:
        guard case .gone(let parent) = former else { break }
        if try bringBack(parent) { break }
        // The reference came back with its row, which edits elsewhere have kept: nobody has what it refers to.
        if link.reference.canBeNull, row.state.row?.clock.hasEndedReference(link.columns) == true {
          try transaction.set(link.columns, to: link.columns.map { _ in .null }, of: key)
        }
      case .delete: try transaction.edit(.deleted([], at: .zero), of: row)
      case .detach:
        try transaction.set(link.columns, to: link.columns.map { _ in .null }, of: key)
      case .setDefault:
        if case .missing = try transaction.defaultTarget(of: link) { continue }
        let defaults = try transaction.foreignKey(of: link).defaults()
        try transaction.set(link.columns, to: defaults, of: key)
      }
    }
    guard var row = try transaction.row(key) else { return }
    row.needsWrite = true
    transaction.keep(row)
  }

  /// Has a parent come back with what its record has still, where edits win: whoever has referred to it may have deleted
  /// both, so that no table has it.
  ///
  /// - Returns: False if the record has nothing.
  private func bringBack(_ parent: LoadedRow) throws(SQLiteError) -> Bool {
    let table = transaction.tables[parent.place]
    guard let row = parent.state.row,
      table.columns.allSatisfy({ row.value(of: $0) != nil })
    else { return false }
    try transaction.edit(.restored([]), of: parent)
    return true
  }
}

extension RecordClock {
  /// Whether whoever has deleted the row had seen what columns refer to: where edits win it lives by others.
  fileprivate func hasEndedReference(_ columns: [String]) -> Bool {
    ends(lifeOf: self)
      && columns.allSatisfy { name in time(of: name).map { !isUnseen(name, at: $0) } ?? false }
  }
}
