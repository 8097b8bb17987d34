import CloudSyncCore
import CloudSyncSQLiteSupport

/// Sends rows that were there before anybody captured them as they are found, in the order of their keys, without a
/// note of each.
///
/// What is known of them is stored with the answers. Until all answers have come their table is to be compared: who
/// starts anew finds those again that were not answered for.
struct UploadCursor {
  /// How many rows are compared in one transaction.
  private static let step = 5_000

  let zoneID: ZoneID
  let limits: RequestLimits
  /// What was sent and not answered for.
  let inFlight: [SentBatch]
  /// How far a table was compared; nil if that is what is stored.
  private(set) var position: Reconciliation.Position?

  /// The names of records that were sent and not answered for.
  var onTheirWay: Set<String> {
    var names: Set<String> = []
    for batch in inFlight { names.formUnion(batch.names) }
    return names
  }

  /// Compares rows of a table with what is known of them, when everything was fetched that tells of its rows, and
  /// adds those to a batch that nobody knows.
  ///
  /// - Parameters:
  ///   - batch: What is sent next.
  ///   - transaction: The transaction.
  /// - Returns: Whether there is more to compare.
  /// - Throws: SQLite's reason.
  mutating func fill(
    _ batch: inout SentBatch,
    in transaction: SyncTransaction
  ) throws(SQLiteError) -> Bool {
    let facts = transaction.facts
    guard try facts.value(.unreconciled) != nil, try facts.value(.token) != nil,
      try facts.value(.fullFetch) == nil, try facts.value(.fetchAll) == nil
    else { return false }
    let reconciliation = Reconciliation(transaction: transaction)
    guard let stored = try reconciliation.position() else { return false }
    var end = stored
    if let position, position.table == stored.table { end = position }
    if !end.isEnd {
      let tables = transaction.tables
      let filtering = RowFiltering(transaction: transaction)
      let onTheirWay = onTheirWay
      var bytes = batch.rows.reduce(0) { $0 + $1.record.byteCount }
      end = try reconciliation.compare(from: end, limit: Self.step) {
        (found) throws(SQLiteError) in
        guard let row = row(found, of: tables),
          try filtering.isFiltered(rowOf: found.key, in: found.place) == false
        else { return .adopted }
        if onTheirWay.contains(row.key.name) { return .sent }
        bytes += row.record.byteCount
        if !batch.isEmpty, batch.count == limits.items || bytes > limits.bytes { return .postponed }
        batch.found.append(row)
        return .sent
      }
    }
    position = end
    let place = transaction.tables.place(ofID: end.table)
    let isOnItsWay = place.map { place in
      inFlight.contains { $0.found.contains { $0.table == place } }
    }
    let isOpen = isOnItsWay ?? false || !batch.found.isEmpty
    if !isOpen, end.isEnd {
      _ = try reconciliation.finish(end.table)
      try transaction.finish()
      // When it is to be compared another time, that begins with its first row.
      position = nil
      // There may be another table, and what was found in this one is sent by the next look.
      return true
    }
    if !isOpen { try reconciliation.keep(end) }
    try transaction.finish()
    return !end.isEnd
  }

  /// A row as it is sent; nil if it has anything out of the ordinary.
  private func row(_ found: Reconciliation.Found, of tables: SyncTables) -> FoundRow? {
    let table = tables[found.place]
    guard table.sendsPlainRows,
      let record = table.format.newRecord(
        values: found.values,
        clock: table.foundClock,
        recordID: RecordID(name: found.key.name, zoneID: zoneID)
      )
    else { return nil }
    let clock = table.format.plainClock.stored(at: .zero, created: RecordClock.foundCreation)
    let known = KnownRow(tag: "", clock: clock, digest: table.digest(of: found.values))
    return FoundRow(table: found.place, key: found.key, record: record, known: known)
  }
}
