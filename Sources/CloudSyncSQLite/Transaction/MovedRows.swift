import CloudSyncCore
import CloudSyncSQLiteSupport

/// What a row gives to others because its key was changed.
enum RowTransfer: Sendable {
  /// To another record what the row had.
  case hand(HandOver, from: LoadedRow)
  /// Another record, of the first name, goes on as a third one.
  case unite(RowMove, into: RowMove, place: Int)
  /// That a row has come which was given its key.
  case arrival(RecordKey, place: Int)
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
        transaction.transfers.append(.hand(hand, from: row))
      case .unite(let move, let winner):
        transaction.transfers.append(.unite(move, into: winner, place: row.place))
      case .writeRow, .forget, .fetch, .lookUp, .renumber: break
      }
    }
  }

  /// Does what was noted, and what follows from it.
  func carryOut() throws(SQLiteError) {
    var awaited: Set<Int> = []
    while !transaction.transfers.isEmpty {
      switch transaction.transfers.removeFirst() {
      case .hand(let hand, let row): try self.hand(hand, of: row)
      case .unite(let move, let winner, let place): try unite(move, into: winner, in: place)
      case .arrival(let key, let place):
        if RecordName.isDigest(key.name) { awaited.insert(place) }
        try settleArrival(key, in: place)
      }
      if transaction.transfers.isEmpty {
        for place in awaited.sorted() { try handWithheld(in: place) }
        awaited = []
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
    var move = version.move(
      from: gone.key.name,
      to: kept.key.name,
      at: version.created,
      arrival: arrived.created
    )
    move.isUnion = true
    try transaction.reduce(.edited(.renamed([move])), of: gone.key, in: gone.place)
  }

  /// Has a row that is not there under a key go on as another record: those who refer to it follow, on this device too.
  func goOn(by move: RowMove, of key: RecordKey, in place: Int) throws(SQLiteError) {
    let row = try transaction.reduce(.edited(.renamed([move])), of: key, in: place)
    transaction.traces.noteMove(of: row, in: tables)
  }

  // MARK: Two keys at once

  /// Has rows that were given two keys leave the ones which do not count, before anything of what has come together is
  /// taken: the cloud may have another row under such a key, which is not to be joined with them.
  ///
  /// - Parameter records: What has come, of which those tell of moves whose rows were given keys elsewhere.
  /// - Throws: SQLite's reason.
  func leaveOverriddenKeys(in records: [Record]) throws(SQLiteError) {
    var open: [(name: String, place: Int)] = []
    var clocks: [String: RecordClock] = [:]
    for record in records {
      guard let place = tables.place(ofType: record.recordType),
        case let theirs = tables[place].format.moves(of: record), !theirs.isEmpty,
        let (found, key) = try transaction.place(ofRecord: record.recordID.name), found == place,
        var clock = try row(key, in: place).state.row?.clock
      else { continue }
      let isMoved = !clock.moves.isEmpty
      clock.note(moves: theirs)
      clocks[key.name] = clock
      if isMoved { open.append((key.name, place)) }
    }
    for (name, place) in open {
      for (move, winner) in clocks[name]?.overriddenMoves ?? [] {
        guard let (gone, kept) = try parting(of: move, and: winner, in: place, told: clocks),
          gone.row == kept.last.row
        else { continue }
        try leaveKey(of: gone, for: kept.last, in: place)
      }
    }
  }

  /// Ends the life that a change of a key has begun, which another change counts instead of.
  private func leaveKey(
    of move: RowMove,
    for winner: RowMove,
    in place: Int
  ) throws(SQLiteError) {
    guard let key = try transaction.key(ofRow: move.name, in: place) else { return }
    let row = try self.row(key, in: place)
    // Of a record that is not known here there is nothing to be joined with; of a life that has gone on counts where.
    guard let version = row.state.row, !move.isUnion, version.clock.move(after: move) == nil else {
      return
    }
    var next = winner
    next.row = move.row
    next.isOfInserted = false
    next.life = move.nextLife
    next.first = next.life
    next.since = version.clock.lastEnd
    if version.clock.row == move.row, version.created == next.life,
      !row.isDeleted
    {
      try leave(row, by: next, version)
    } else {
      try goOn(by: next, of: key, in: place)
    }
  }

  /// Has a row go on as another one, with all that it has.
  private func leave(
    _ row: LoadedRow,
    by move: RowMove,
    _ version: RecordVersion
  ) throws(SQLiteError) {
    try transaction.edit(.renamed([move]), of: row)
    // What its table has lost has no values that could go along.
    if row.isLost { return }
    note([.handOver(row.state.handOver(of: version, by: move))], of: row)
  }

  // MARK: Actions

  /// Has a row be where it was given a key last: another change of its key, which was made without knowing of this one, may
  /// have come before.
  private func settleArrival(_ key: RecordKey, in place: Int) throws(SQLiteError) {
    let row = try self.row(key, in: place)
    guard let version = row.state.row, let origin = version.clock.row,
      !row.isDeleted,
      let first = try transaction.key(ofRow: origin.name, in: place),
      case let former = try self.row(first, in: place),
      let clock = former.state.row?.clock
    else { return }
    guard let known = clock.move(of: origin) else {
      return try leave(former, for: version, named: key.name)
    }
    // What has brought it here may have followed another row's key, and give way to every key that somebody has given it.
    var arrival =
      clock.moves.last { $0.row == origin && $0.leads(to: key.name) } ?? known
    arrival.name = key.name
    arrival.arrival = version.created
    arrival.isUnion = false
    try unite(arrival, into: known, in: place)
  }

  /// Has a row leave the key that it was inserted with, because it has come under another one.
  ///
  /// The record that tells of that need not have come yet: until then the row would be here twice, and what is added to a
  /// counter of both would be two histories of one.
  private func leave(
    _ row: LoadedRow,
    for arrived: RecordVersion,
    named name: String
  ) throws(SQLiteError) {
    guard let version = row.state.row, !row.isDeleted, version.created < arrived.created,
      version.clock.origin(named: row.key.name) == arrived.clock.row,
      !UTF8Bytes.equal(row.key.name, name)
    else { return }
    var move = version.move(
      from: row.key.name,
      to: name,
      at: arrived.created,
      arrival: arrived.created
    )
    move.ended = arrived.ended
    try leave(row, by: move, version)
  }

  /// Gives a record what the one has had that its row was before.
  ///
  /// The record need not have come yet: it is made then, and joined with what comes.
  private func hand(_ hand: HandOver, of origin: LoadedRow) throws(SQLiteError) {
    let place = origin.place
    guard let key = try transaction.key(ofRow: hand.move.name, in: place) else {
      // Its name does not tell its key: that is known when the record comes.
      try reduce(.edited(.withheld(hand)), of: origin.key, in: place)
      return
    }
    let table = tables[place]
    var hand = hand
    hand.version.removeColumns(table.key)
    var target = try self.row(key, in: place)
    if target.isLost, try transaction.fullFetch() != .restores {
      target = try UnseenEdits(transaction: transaction).end(lost: target)
    }
    if !hand.isOfCloud { try noteUnseenColumns(of: &hand.version, beside: target) }
    // Of another row that has the key it takes nothing.
    if target.state.row.map({ $0.clock.isOfSameRow(as: hand.version.clock) }) != true {
      for (name, value) in zip(table.key, key.values) {
        let field = table.fieldValue(value, of: name)
        hand.version.set(VersionedColumn(name: name, value: field, time: .zero))
      }
    }
    try reduce(.edited(.handed(hand)), of: key, in: place)
  }

  /// Hands on what waits for records whose names do not tell their keys, as far as these have come.
  private func handWithheld(in place: Int) throws(SQLiteError) {
    let stored = try stored.pending.tombstones(in: tables[place].id)
    let keys = transaction.keys(stored: stored) { $0.place == place && $0.hasWithheld }
    for key in keys {
      guard let row = try transaction.row(key), row.hasWithheld else { continue }
      try reduce(.edited(.renamed([])), of: row.key, in: place)
    }
  }

  /// Gives columns a time that somebody has set unseen: the other record has them from the same edit, with another value.
  private func noteUnseenColumns(
    of version: inout RecordVersion,
    beside target: LoadedRow
  ) throws(SQLiteError) {
    guard let row = target.state.row,
      try facts.unreconciledTables().contains(target.rowKey.table)
    else { return }
    let unseen = version.columns.filter { column in
      guard column.time > .zero, let other = row[column.name], other.time == column.time else {
        return false
      }
      return !ValueContent.areEqual(other.value, column.value)
    }
    if unseen.isEmpty { return }
    let time = try transaction.nextTime()
    for column in unseen {
      version.set(VersionedColumn(name: column.name, value: column.value, time: time))
    }
  }

  /// Has a row go on as another one that was given two keys by devices which did not know of each other: the later key
  /// stays, on all of them.
  ///
  /// Where either has gone on since counts what it is now. A row that went on as one which came before it might lead back
  /// to itself.
  private func unite(
    _ move: RowMove,
    into winner: RowMove,
    in place: Int
  ) throws(SQLiteError) {
    guard let (gone, winning) = try parting(of: move, and: winner, in: place) else { return }
    let kept = winning.last
    guard let key = try transaction.key(ofRow: gone.name, in: place) else { return }
    let row = try self.row(key, in: place)
    guard !row.isDeleted, let (version, isThere) = row.version(after: gone)
    else { return }
    var last = version.move(
      from: gone.name,
      to: kept.name,
      at: max(winner.time, version.created),
      arrival: kept.arrival
    )
    last.ended = kept.ended
    // What has gone into two rows makes one of them.
    last.isUnion = kept.isUnion || last.row != kept.row
    last.isFollowing = winning.made == nil
    if isThere { return try leave(row, by: last, version) }
    try goOn(by: last, of: key, in: place)
  }

  /// Where a row is that has gone two ways: under a key that does not count, and where it goes on; nil if both lead to one.
  private func parting(
    of move: RowMove,
    and winner: RowMove,
    in place: Int,
    told clocks: [String: RecordClock] = [:]
  ) throws(SQLiteError) -> (gone: RowMove, winning: Moves)? {
    guard let one = try end(of: move, in: place, told: clocks),
      let other = try end(of: winner, in: place, told: clocks),
      !one.last.leads(to: other.last.name)
    else { return nil }
    return one.gives(wayTo: other) ? (one.last, other) : (other.last, one)
  }

  /// The moves that lead on from where a move has led, by what has come of records, and what is known of the others; nil if
  /// they lead nowhere.
  private func end(
    of move: RowMove,
    in place: Int,
    told clocks: [String: RecordClock]
  ) throws(SQLiteError) -> Moves? {
    var moves = Moves(last: move, made: move.isFollowing ? nil : move)
    for _ in 0..<RowMove.limit {
      guard let key = try transaction.key(ofRow: moves.last.name, in: place) else { return nil }
      var clock = clocks[key.name]
      if clock == nil { clock = try row(key, in: place).state.row?.clock }
      guard let next = clock?.move(after: moves.last) else { return moves }
      moves.last = next
      if !next.isFollowing { moves.made = next }
    }
    return nil
  }
}

extension LoadedRow {
  /// Whether something is kept of it that waits for the record as which it goes on.
  fileprivate var hasWithheld: Bool {
    guard let clock = state.row?.clock else { return false }
    return state.endedLives.contains { clock.move(of: $0.clock) != nil }
  }

  /// The row that a move has led here, and whether it is there: another one may have got its key since, and displaced it;
  /// nil if there is none.
  fileprivate func version(after move: RowMove) -> (RecordVersion, isThere: Bool)? {
    let isMeant = { (version: RecordVersion) in
      move.isUnion
        ? version.clock.holds(lifeBegunAt: move.arrival) : version.clock.row == move.row
    }
    if let row = state.row, isMeant(row) { return (row, true) }
    return state.displaced.first(where: isMeant).map { ($0, false) }
  }
}

/// Where a row has gone, from key to key.
private struct Moves {
  var last: RowMove
  /// The last of those that somebody has made; nil if all have followed other rows' keys.
  var made: RowMove?

  /// Whether a row that has gone both ways goes on as the other says: as who has given it a key last, or else as what it
  /// has followed last.
  func gives(wayTo other: Moves) -> Bool {
    if made == other.made { return last.arrives(before: other.last) }
    guard let made, let others = other.made else { return made == nil }
    return made.arrives(before: others)
  }
}
