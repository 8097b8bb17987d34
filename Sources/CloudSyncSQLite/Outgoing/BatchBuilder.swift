import CloudSyncCore
import CloudSyncSQLiteSupport

/// Makes the records to be sent next: parents' tables first, each in the order of its keys, then deletions, children
/// first.
struct BatchBuilder {
  let transaction: SyncTransaction
  let zoneID: ZoneID

  /// The rows to be sent.
  ///
  /// - Parameters:
  ///   - limits: How much a request may carry.
  ///   - now: In milliseconds since 1970.
  ///   - isOnItsWay: Whether a record has been sent and not answered.
  /// - Returns: Nothing if there is nothing to be sent now.
  /// - Throws: SQLite's reason.
  func batch(
    limits: RequestLimits,
    now: Int64,
    isOnItsWay: (String) -> Bool
  ) throws(SQLiteError) -> [SentRow] {
    var batch: [SentRow] = []
    var bytes = 0
    let pending = transaction.stored.pending
    let places = Array(transaction.tables.inOrder.indices)
    // Children are deleted before their parents: whoever fetches in between misses nobody.
    let order = places.map { ($0, false) } + places.reversed().map { ($0, true) }
    for (place, isDeleted) in order {
      let table = transaction.tables[place]
      var last: SQLiteValue?
      while true {
        let keys = try pending.sendable(
          in: table.id,
          after: last,
          tombstones: isDeleted,
          limit: limits.items
        )
        for rowKey in keys {
          let key = try table.key(rowKey.key)
          guard let row = try next(key, in: place, now: now, isOnItsWay: isOnItsWay) else {
            continue
          }
          bytes += row.record.byteCount
          if !batch.isEmpty, bytes > limits.bytes { return batch }
          batch.append(row)
          if batch.count == limits.items { return batch }
        }
        guard keys.count == limits.items else { break }
        last = keys.last?.key
      }
    }
    // Those that were refused in passing, and whose time has come.
    for rowKey in try pending.due(
      in: transaction.tables.inOrder.map(\.id),
      at: now,
      limit: limits.items - batch.count
    ) {
      guard let place = transaction.tables.place(ofID: rowKey.table) else { continue }
      let key = try transaction.tables[place].key(rowKey.key)
      guard let row = try next(key, in: place, now: now, isOnItsWay: isOnItsWay) else { continue }
      bytes += row.record.byteCount
      if !batch.isEmpty, bytes > limits.bytes { break }
      batch.append(row)
    }
    return batch
  }

  /// A row that may go into the batch; nil if it is on its way already, or has to wait for another one.
  private func next(
    _ key: RecordKey,
    in place: Int,
    now: Int64,
    isOnItsWay: (String) -> Bool
  ) throws(SQLiteError) -> SentRow? {
    // Before its record is made: of those that wait there may be many, and they are asked again for each batch.
    if isOnItsWay(key.name) { return nil }
    if try isAhead(transaction.row(key, in: place)) { return nil }
    return try row(key, in: place, now: now)
  }

  /// Whether a row is deleted that goes on under another key, and the cloud does not have it there yet.
  ///
  /// Whoever fetched in between would miss it, and take its children for orphans. They do not go in one request either: a
  /// session sends what is left of one that was refused for a single record.
  private func isAhead(_ row: LoadedRow) throws(SQLiteError) -> Bool {
    guard let successor = try transaction.renamed.successor(of: row) else { return false }
    return successor.state.known == nil
  }

  /// A row with the record that is to be sent; nil if there is nothing to be sent now.
  func row(
    _ key: RecordKey,
    in place: Int,
    now: Int64
  ) throws(SQLiteError) -> SentRow? {
    let row = try transaction.row(key, in: place)
    // Of what was deleted unseen nobody has the values: it is sent when its table was compared.
    guard row.state.isSendable(at: now), !row.isLost,
      let version = row.state.row
    else {
      return nil
    }
    // What it needs in the cloud may stay on this device since it was stored.
    if try RowFiltering(transaction: transaction).stop(row) { return nil }
    let table = transaction.tables[place]
    let staging = AssetStaging(table, transaction.connection)
    let staged = staging?.staged(version) ?? version
    let record =
      if let known = row.state.known {
        table.format.edit(staged, over: known, key: key, zoneID: zoneID)
      } else {
        table.format.record(staged, key: key, zoneID: zoneID)
      }
    try staging?.writeFiles(of: record, in: row)
    return SentRow(table: place, key: key, version: version, record: record)
  }
}
