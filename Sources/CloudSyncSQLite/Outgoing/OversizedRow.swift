import CloudSyncCore
import CloudSyncSQLiteSupport

/// A row whose record is larger than any may be.
struct OversizedRow: TransactionPart {
  let transaction: SyncTransaction
  let sent: SentRow
  /// How many bytes a record may have.
  let limit: Int

  private var table: RecordTable { tables[sent.table] }

  /// The column that makes the record so large, if it is one that is in no file: what is in others may be.
  var reason: String? {
    guard let largest = sent.record.fields.max(by: { $0.byteCount < $1.byteCount }),
      let column = table.format.columns.first(where: { column in
        column.all.contains { UTF8Bytes.equal($0, largest.name) }
      }), table.isCompared(column.column)
    else { return nil }
    let name = "\(table.name.quotedName).\(column.column.quotedName)"
    return
      "\(name) has \(largest.byteCount) of them, and a value of a key is in no asset: shorten it"
  }

  /// Forgets the row if it is deleted and no record has room for its key: nobody can have heard of it, and nobody has to.
  ///
  /// - Returns: Whether it is forgotten.
  /// - Throws: SQLite's reason.
  func forgetIfDeleted() throws(SQLiteError) -> Bool {
    let key = table.format.key.map { table.format.columns[$0.place] }
    let keyBytes = sent.record.fields
      .filter { field in
        key.contains { column in column.all.contains { UTF8Bytes.equal($0, field.name) } }
      }
      .reduce(0) { $0 + $1.byteCount }
    var row = try row(sent.key, in: sent.table)
    guard keyBytes > limit, row.state.cloud == .absent, row.values == nil,
      row.state.placement == .inTable, row.isDeleted
    else { return false }
    for move in row.state.row?.clock.moves ?? [] where !move.isOfInserted {
      try lead(past: row, by: move)
    }
    row.state = RecordState()
    keep(row)
    return true
  }

  /// Has the record that a row was before it got the key tell where it goes on from there: others hear of its former keys
  /// alone.
  private func lead(past row: LoadedRow, by next: RowMove) throws(SQLiteError) {
    var open = [next.row.name]
    var seen: Set<String> = []
    while let name = open.popLast(), seen.count < RowMove.limit {
      guard seen.insert(RecordName.identity(of: name)).inserted,
        let key = try transaction.key(ofRow: name, in: row.place),
        case let former = try self.row(key, in: row.place), former.rowKey != row.rowKey
      else { continue }
      for move in former.state.row?.clock.moves ?? [] where move.row == next.row {
        guard move.leads(to: row.key.name) else {
          open.append(move.name)
          continue
        }
        guard move.nextLife <= next.life else { continue }
        var whole = next
        (whole.isOfInserted, whole.since) = (move.isOfInserted, move.since)
        (whole.first, whole.life) = (move.first, move.life)
        whole.isFollowing = move.isFollowing && next.isFollowing
        try MovedRows(transaction: transaction).goOn(by: whole, of: key, in: row.place)
      }
    }
  }
}
