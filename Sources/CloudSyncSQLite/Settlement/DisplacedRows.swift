import CloudSyncCore
import CloudSyncSQLiteSupport

/// Rows whose keys others have got on other devices: one goes back to the last of its former keys that is free, as soon as
/// everything has come that the cloud had.
///
/// Every device that keeps the row makes the same edit, which gives way to every key that somebody has given it, and to every
/// row that somebody has given the former key. Where none is free the row stays in no table: it comes back when the row
/// that has its key leaves that.
struct DisplacedRows: TransactionPart {
  let transaction: SyncTransaction

  /// Has all of them go where they can.
  func settle() throws(SQLiteError) {
    let stored = try stored.pending.displacing()
    for key in transaction.keys(stored: stored, orLoaded: { !$0.state.displaced.isEmpty }) {
      for displaced in try transaction.row(key)?.state.displaced ?? [] {
        guard let row = try transaction.row(key), !row.isDeleted,
          let former = try formerKey(of: displaced, in: row)
        else { continue }
        try move(displaced, from: row, to: former)
      }
    }
  }

  /// The last key that a row was given before and that no row has now; nil if there is none, or if the row is under another
  /// one: devices that did not know of each other may have given it several.
  private func formerKey(
    of displaced: RecordVersion,
    in row: LoadedRow
  ) throws(SQLiteError) -> LoadedRow? {
    guard let origin = displaced.clock.row else { return nil }
    // When it was given each of its keys last, along all ways that it has gone.
    var arrivals = [RecordName.identity(of: origin.name): HybridTime.zero]
    var open = [origin.name]
    var free: [LoadedRow] = []
    while let name = open.popLast(), arrivals.count <= RowMove.limit {
      let place = row.place
      guard let key = try transaction.key(ofRow: name, in: place) else { continue }
      let former = try self.row(key, in: place)
      guard let clock = former.state.row?.clock else { continue }
      let isOther = former.rowKey != row.rowKey
      let isThere = !former.isDeleted
      if isOther, isThere, clock.origin(named: key.name) == origin { return nil }
      for move in clock.moves where move.row == origin {
        if arrivals[move.key] == nil { open.append(move.name) }
        arrivals[move.key] = max(arrivals[move.key] ?? .zero, move.arrival)
      }
      if isOther, former.isFree(in: tables[place]) { free.append(former) }
    }
    let arrival = { (row: LoadedRow) in arrivals[RecordName.identity(of: row.key.name)] ?? .zero }
    return free.max { arrival($0) < arrival($1) }
  }

  private func move(
    _ displaced: RecordVersion,
    from row: LoadedRow,
    to former: LoadedRow
  ) throws(SQLiteError) {
    guard let origin = displaced.clock.row, let clock = former.state.row?.clock else { return }
    let table = tables[row.place]
    // Its large BLOBs are where the row is that has its key, or were there: nobody else may have them.
    let displaced = AssetStaging(table, connection)?.inlined(displaced, of: row) ?? displaced
    // As old as its last life there: so it gives way to whoever was given the key by somebody, however long ago, also
    // where another row was deleted there since.
    let arrival = max(clock.end(of: origin), clock.ended).successor
    var move = displaced.move(
      from: row.key.name,
      to: former.key.name,
      at: displaced.created,
      arrival: arrival
    )
    move.ended = clock.ended
    move.isFollowing = true
    var columns = zip(table.key, former.key.values)
      .map { ColumnEdit(name: $0, value: table.fieldValue($1, of: $0)) }
    for name in table.columns where !table.key.contains(name) {
      if let value = displaced.value(of: name) {
        columns.append(ColumnEdit(name: name, value: value))
      }
    }
    let source = MovedRow(
      row: origin,
      version: displaced,
      ancestors: row.state.ancestors,
      initial: displaced.created,
      key: table.key
    )
    try transaction.edit(.moved(columns, from: source, at: arrival), of: former)
    try MovedRows(transaction: transaction).goOn(by: move, of: row.key, in: row.place)
  }
}

extension LoadedRow {
  /// Whether another row may have its key.
  fileprivate func isFree(in table: RecordTable) -> Bool {
    values == nil && isDeleted && state.placement == .inTable
      && state.endedLives.isEmpty && state.hold == nil && state.filtering == nil
      // Where edits win, what was added to a deleted row's counter is there still.
      && state.row?.clock.shares.isEmpty == true
  }
}
