import CloudSyncCore
import CloudSyncSQLiteSupport

/// Brings what the triggers have captured into what is known of the rows.
struct OutboxReader {
  let store: MetadataStore
  let tables: [Int64: SyncTable]

  /// How many edits are read in one transaction.
  static let batchSize = 5_000

  /// Reads the oldest edits, within the open transaction; returns how many there were.
  func readBatch() throws(SQLiteError) -> Int {
    let isAttached = MetadataAttachment.isAttached(to: store.connection)
    let taken = isAttached ? try store.lastTaken() : .min
    let entries = try store.outbox(limit: Self.batchSize, after: taken)
    for entry in entries { try take(entry) }
    if let last = entries.last {
      try store.advanceClock(beyond: HybridTime(rawValue: last.id))
      // Where the rows are in another file, a later transaction removes what this one has stored.
      if isAttached {
        try store.setFact("outbox", .integer(last.id))
      } else {
        try store.removeOutbox(upTo: last.id)
      }
    }
    return entries.count
  }

  /// Reads all edits, within the open transaction.
  func readAll() throws(SQLiteError) {
    while try readBatch() > 0 {}
  }

  private func take(_ entry: OutboxEntry) throws(SQLiteError) {
    // A table that is synchronized no more.
    guard let table = tables[entry.table] else { return }
    if entry.change == .replaced, try isThere(entry.key, table) { return }
    var row: RowState
    if let known = try store.row(entry.table, entry.key) {
      row = known
    } else {
      if entry.change == .deleted || entry.change == .replaced { return }
      let name = try table.recordName(of: entry.key, in: store.connection)
      row = RowState(table: entry.table, key: entry.key, recordName: name)
    }
    row.take(entry, columns: table.captured)
    if row.shelf != nil { try take(entry, into: &row, table) }
    // What the cloud never had need not be deleted there; what was sent once may still come there.
    if row.isDeleted, row.server == nil, row.operation == nil, row.waitsFor == nil,
      row.sentPage == nil
    {
      return try store.remove(row)
    }
    try store.save(row)
  }

  private func isThere(_ key: SQLiteValue, _ table: SyncTable) throws(SQLiteError) -> Bool {
    let values = try table.keyValues(of: key, in: store.connection)
    return try RowTable(table: table, connection: store.connection).values(of: values) != nil
  }
}
