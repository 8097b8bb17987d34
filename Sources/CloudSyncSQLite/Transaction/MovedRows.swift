import CloudSyncCore
import CloudSyncSQLiteSupport

/// What a row gives to others because its key was changed.
enum RowTransfer: Sendable {
  /// To another record what the row had, of a table by its place.
  case hand(HandOver, place: Int)
  /// Another record, of the first name, goes on as a third one.
  case unite(RowMove, into: RowMove, place: Int)
}

/// Rows whose keys were changed: what others have edited of them under a former key goes along.
struct MovedRows: TransactionPart {
  let transaction: SyncTransaction

  /// Notes what a row's machine has decided about other rows.
  ///
  /// It is done when all that has come together is taken: of rows that have swapped their keys one would be given its new
  /// life else before anybody has heard where its old one goes on, and what was edited of that.
  func note(_ actions: [RecordAction], of row: LoadedRow) {
    for action in actions {
      switch action {
      case .handOver(var hand):
        if !hand.isOfCloud, let staging = AssetStaging(tables[row.place], connection) {
          hand.version = staging.inlined(hand.version, of: row)
        }
        transaction.transfers.append(.hand(hand, place: row.place))
      case .unite(let move, let winner):
        transaction.transfers.append(.unite(move, into: winner, place: row.place))
      case .writeRow, .forget, .fetch, .lookUp, .renumber: break
      }
    }
  }

  /// Does what was noted, and what follows from it.
  func carryOut() throws(SQLiteError) {
    while !transaction.transfers.isEmpty {
      switch transaction.transfers.removeFirst() {
      case .hand(let hand, let place): try self.hand(hand, in: place)
      case .unite(let move, let winner, let place): try unite(move, into: winner, in: place)
      }
    }
  }

  /// Notes that a row has gone into another one, which need not have its counters' shares.
  func note(
    _ version: RecordVersion,
    of gone: LoadedRow,
    in kept: LoadedRow
  ) throws(SQLiteError) {
    guard let arrived = try transaction.row(kept.key, in: kept.place).state.row else { return }
    let move = RowMove(
      since: version.clock.lastEnd,
      time: version.created,
      arrival: arrived.created,
      name: kept.key.name,
      isUnion: true
    )
    try transaction.reduce(.edited(.renamed([move])), of: gone.key, in: gone.place)
  }

  // MARK: Actions

  /// Gives a record what the one has had that its row was before.
  ///
  /// The record need not have come yet: it is made then, and joined with what comes.
  private func hand(_ hand: HandOver, in place: Int) throws(SQLiteError) {
    guard let (found, key) = try transaction.place(ofRecord: hand.move.name), found == place
    else { return }
    let table = tables[place]
    var hand = hand
    hand.version.removeColumns(table.key)
    if try self.row(key, in: place).state.row == nil {
      for (name, value) in zip(table.key, key.values) {
        let field = table.transport.fieldValue(value)
        hand.version.set(VersionedColumn(name: name, value: field, time: .zero))
      }
    }
    try reduce(.edited(.handed(hand)), of: key, in: place)
  }

  /// Has a row go on as another one that was given two keys by devices which did not know of each other: the later key
  /// stays, on all of them.
  private func unite(
    _ move: RowMove,
    into winner: RowMove,
    in place: Int
  ) throws(SQLiteError) {
    var (name, life) = (move.name, move.arrival)
    for _ in 0..<RowMove.limit {
      guard let (found, key) = try transaction.place(ofRecord: name), found == place,
        !UTF8Bytes.equal(name, winner.name)
      else { return }
      let row = try self.row(key, in: place)
      guard let version = row.state.row else { return }
      if let next = version.clock.move(ofLife: life) {
        (name, life) = (next.name, next.arrival)
        continue
      }
      // What has this key since is another row.
      guard !row.isDeleted(by: tables[place].rules), version.clock.lastEnd < life else { return }
      let last = RowMove(
        since: version.clock.lastEnd,
        time: max(winner.time, version.created),
        arrival: winner.arrival,
        ended: winner.ended,
        name: winner.name,
        isUnion: winner.isUnion
      )
      try transaction.edit(.renamed([last]), of: row)
      let handed = HandOver(
        move: last,
        version: version.handed(by: last),
        base: [],
        isOfCloud: false
      )
      return note([.handOver(handed)], of: row)
    }
  }
}
