import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// References that have come to rows which have given their keys to others: they follow the row that they were made of.
///
/// Whose key nobody else has is no row of this: its record is a tombstone, and those who refer to it follow when it is
/// settled, at the end of the fetch. Every device makes the same edits, just later than what they replace.
struct FollowedReferences: TransactionPart {
  let transaction: SyncTransaction

  /// Has the references of rows follow about which something has come, and those to such rows.
  func settle() throws(SQLiteError) {
    let arrived = transaction.traces.arrived
    if arrived.isEmpty { return }
    transaction.traces.arrived = []
    let rows = arrived.compactMap { transaction.rows[$0] }.sorted { $0.precedes($1) }
    for row in rows {
      for link in tables.links(from: row.place) where !link.own.isEmpty {
        try follow(row.rowKey, by: link)
      }
      guard row.hasNewMoves, !row.isDeleted else { continue }
      for link in tables.links(to: row.place) where !link.own.isEmpty {
        for child in try children(of: row, by: link) { try follow(child, by: link) }
      }
    }
  }

  /// The rows that refer to a row by its key, in their tables or as they are to be.
  private func children(of row: LoadedRow, by link: TableLink) throws(SQLiteError) -> [RowKey] {
    let inTable = try transaction.children(of: row, by: link)
    let beside = try transaction.loose
      .children(referringTo: row.key.values, by: link, in: transaction).subtracting(inTable)
      .sorted { UTF8Bytes.order($0.key.literal, $1.key.literal) < 0 }
    return inTable + beside
  }

  /// Has a row refer to the one that its reference was made of, under the key that it has now.
  ///
  /// Where changes of keys that did not know of each other lead in a circle nobody follows: each step would be an edit that
  /// the next one takes back.
  private func follow(_ key: RowKey, by link: TableLink) throws(SQLiteError) {
    guard let row = try transaction.row(key), let version = row.state.row, !row.isDeleted,
      let first = version.life(ofReference: link.columns, telling: link.own),
      var values = version.storedValues(of: link.columns)
    else { return }
    var lives = [first]
    while let (next, move) = try step(from: values, of: lives[lives.count - 1], by: link) {
      values = transaction.renamed.spelled(keyOf: next)
      if link.isInKeyOfChild {
        _ = try RowUnion(transaction: transaction).move(row, from: link.columns, to: values)
        return
      }
      if lives.contains(move.arrived) || lives.count > RenamedRows.longestChain { return }
      lives.append(move.arrived)
    }
    guard lives.count > 1, let last = lives.last else { return }
    try transaction.set(link.columns, to: values, of: key)
    let references = link.own.map { ReferenceLife(column: $0, life: last) }
    try transaction.edit(.referred(references), of: row)
  }

  /// As which row one goes on that is referred to; nil if it has its key still.
  private func step(
    from values: [SQLiteValue],
    of life: RowLife,
    by link: TableLink
  ) throws(SQLiteError) -> (LoadedRow, RowMove)? {
    let parent = try transaction.row(spelled: values, in: link.parent)
    // Whose key is nobody's now is settled when everything has come.
    guard !parent.isDeleted,
      let move = parent.state.row?.clock.move(ofLife: life),
      let next = try transaction.key(ofRow: move.name, in: link.parent)
    else { return nil }
    return (try transaction.row(next, in: link.parent), move)
  }
}
