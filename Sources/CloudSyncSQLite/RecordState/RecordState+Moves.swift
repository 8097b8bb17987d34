import CloudSyncCore

extension RecordState {
  // MARK: Where a row goes

  /// What goes along with a row of this record that goes on as another one: what it has of a life, with the versions that
  /// this was made from, so that nobody takes one of these for another device's edit.
  func handOver(of version: RecordVersion, by move: RowMove) -> HandOver {
    let isOther = known.map { !$0.clock.isOfSameRow(as: version.clock) } ?? false
    return HandOver(
      move: move,
      version: version.handed(by: move),
      base: isOther ? [] : bases,
      ancestors: ancestors
    )
  }

  /// What the cloud was known to have of the columns that a policy looks at, under this key or under a former one.
  var bases: [VersionedColumn] { known?.values ?? formerBase }

  /// What has to be handed to other records when two versions have met: all that one of them has of a life which goes on
  /// as another record.
  ///
  /// Of what this device has that is what it has not sent. What the cloud has, whoever has changed the key need not
  /// have known; nobody sees it any more once the tombstone is saved over it.
  func handOvers(
    of mine: RecordVersion,
    wasDirty: Bool,
    base: [VersionedColumn],
    beside server: RecordVersion,
    rules: RowRules
  ) -> [RecordAction] {
    if mine.clock.moves.isEmpty, server.clock.moves.isEmpty { return [] }
    var clock = server.clock
    clock.note(moves: mine.clock.moves)
    var actions: [RecordAction] = []
    for (version, isOfCloud) in [(mine, false), (server, true)] where isOfCloud || wasDirty {
      guard let move = clock.move(of: version.clock) else { continue }
      // Where edits win a row that was deleted has its columns still: they are the moved row's, unless they have gone along.
      let hasGone =
        rules.deletes.policy(for: version.clock) == .deleteWins || version.successor != nil
      if hasGone, version.clock.isDeleted { continue }
      let hand = HandOver(
        move: move,
        version: version.handed(by: move),
        base: base,
        ancestors: isOfCloud ? [] : ancestors,
        counted: isOfCloud ? [] : known?.counted(before: mine, by: rules.writer) ?? [],
        isOfCloud: isOfCloud
      )
      actions.append(.handOver(hand))
    }
    if mine.clock.moves != server.clock.moves {
      for (move, winner) in clock.overriddenMoves { actions.append(.unite(move, into: winner)) }
    }
    return actions
  }

  /// What goes along with a row that has got another key of columns which its table has dropped: its values are in the
  /// cloud only.
  func recalledByMove(_ columns: [VersionedColumn], rules: RowRules) -> HandOver? {
    guard let record = known, let move = row?.clock.move(of: record.clock) else { return nil }
    let forgotten = columns.filter {
      !rules.isCounter($0.name) && record.clock.time(of: $0.name) == nil
    }
    if forgotten.isEmpty { return nil }
    let version = RecordVersion(columns: forgotten).handed(by: move)
    return HandOver(move: move, version: version, isOfCloud: true, isPart: true)
  }

  /// Takes what the record has had that the row was before.
  mutating func take(_ hand: HandOver, rules: RowRules) -> [RecordAction] {
    // It has gone on since; records of many engines could have it go in a circle.
    if let move = row?.clock.move(of: hand.version.clock), hand.steps < RowMove.limit {
      var next = hand
      next.steps += 1
      next.move = move
      next.version = hand.version.handed(by: move)
      return [.handOver(next)]
    }
    guard let mine = row else {
      ancestors.note(hand.ancestors)
      formerBase = hand.base
      change(to: hand.version, rules: rules)
      return [.writeRow]
    }
    var own = mine
    // Whoever has given the row this key knew that another row had it before: that takes no part, also where edits win.
    if !mine.clock.isDeleted, hand.version.clock.ends(lifeOf: mine.clock) {
      own.end(at: mine.created, deletes: .deleteWins)
    }
    var hand = hand
    // It has become the one that was there.
    if hand.move.isUnion { hand.version.adopt(mine.clock.row) }
    hand.version.add(to: mine.clock, from: hand.counted, madeFrom: hand.ancestors)
    ancestors.note(hand.ancestors)
    let joined = merged(own, with: hand, rules: rules)
    keepHanded(hand, beside: joined, rules: rules)
    if joined == mine {
      if !isDirty { ancestors = [] }
      return []
    }
    // The next save writes over it, also over what others have sent of it and who has changed the key has not heard of.
    if !mine.clock.isDeleted, joined.clock.replaces(mine.clock) {
      endedLives.keepLife(mine, rules: rules)
    }
    change(to: joined, rules: rules)
    noteDifferences(from: mine)
    return placement == .inTable && joined.isSameRow(as: mine)
      ? [] : [.writeRow]
  }

  /// Notes columns that were given another value and no later time, as by what somebody has set unseen: else the cloud
  /// would seem to have it.
  private mutating func noteDifferences(from former: RecordVersion) {
    guard var record = known, let row else { return }
    for column in row.columns {
      guard let old = former[column.name], old.time == column.time,
        record.clock.time(of: column.name) == column.time,
        !ValueContent.areEqual(old.value, column.value),
        !record.differing.contains(where: { UTF8Bytes.equal($0, column.name) })
      else { continue }
      record.differing.append(column.name)
    }
    record.differing.sort { UTF8Bytes.order($0, $1) < 0 }
    cloud = .present(record)
  }

  // MARK: Rows that have lost the key

  /// Keeps a row whose key another one has got, as long as nobody tells where it goes on: it comes back when the other one
  /// leaves the key; and one that was edited here and has ended, since its former record may tell where it goes on.
  mutating func noteEndedLife(
    _ mine: RecordVersion,
    by joined: RecordVersion,
    wasDirty: Bool,
    rules: RowRules
  ) {
    guard !mine.clock.isDeleted, joined.clock.move(of: mine.clock) == nil else {
      return
    }
    let hasEnded = joined.clock.ends(lifeOf: mine.clock)
    if hasEnded ? wasDirty && mine.clock.isArrival : !joined.clock.isOfSameRow(as: mine.clock) {
      endedLives.keepLife(mine, rules: rules)
    }
  }

  /// Keeps what is handed to a row that has lost the key to another one: it goes along with the row wherever that goes.
  private mutating func keepHanded(_ hand: HandOver, beside joined: RecordVersion, rules: RowRules)
  {
    let clock = hand.version.clock
    guard !joined.clock.isDeleted, !hand.move.isUnion,
      joined.clock.displaces(clock)
    else { return }
    let kept = endedLives.take { $0.clock.isOfSameRow(as: clock) }
    // Some columns are no row that could come back.
    if kept == nil, hand.isPart { return }
    endedLives.keep(kept.map { merged($0, with: hand, rules: rules) } ?? hand.version)
  }

  /// The rows whose key this one has got, in an order that is the same on all devices.
  var displaced: [RecordVersion] {
    guard let clock = row?.clock else { return [] }
    return endedLives.filter { clock.displaces($0.clock) }
      .sorted { $0.clock.row.precedes($1.clock.row) }
  }

  /// Has the row come back that had the key last of those which have lost it to another one, when that has left it.
  mutating func returnDisplaced(rules: RowRules) -> [RecordAction] {
    guard let row, isDeleted else { return [] }
    let last = endedLives.indices.filter { row.clock.leavesOpen(endedLives[$0].clock) }
      .max { endedLives[$0].created < endedLives[$1].created }
    guard let last else { return [] }
    change(to: rules.join.join(endedLives.remove(at: last), with: row), rules: rules)
    return [.writeRow]
  }

  /// Hands on lives that were ended before anybody had told where they go on.
  mutating func handOverEndedLives(by clock: RecordClock) -> [RecordAction] {
    let handed = endedLives.compactMap { ended in
      clock.move(of: ended.clock).map { RecordAction.handOver(handOver(of: ended, by: $0)) }
    }
    endedLives.removeAll { clock.move(of: $0.clock) != nil }
    return handed
  }

  // MARK: Where it comes from

  /// Begins a life with what the row had under its former key, as old as it was there.
  mutating func takeMove(
    of columns: [ColumnEdit],
    from origin: MovedRow,
    at time: HybridTime,
    rules: RowRules
  ) -> [RecordAction] {
    // A row that is there was written over.
    if !isDeleted {
      return take(.inserted(columns, at: time), rules: rules)
    }
    let new = RecordVersion(columns, from: origin, after: row, at: time, rules: rules)
    formerBase = origin.base
    // Its shares of counters go along as they are.
    ancestors.note(origin.ancestors.filter { $0.writer == nil })
    ancestors.note(origin.version?.clock.ancestors(rules: rules) ?? [])
    change(to: new, rules: rules)
    return placement == .inTable && row?.has(columns) == true ? [] : [.writeRow]
  }
}

extension RecordVersion {
  /// Begins a life with what a row had under its former key, after what the record had before.
  fileprivate init(
    _ columns: [ColumnEdit],
    from origin: MovedRow,
    after former: RecordVersion?,
    at time: HybridTime,
    rules: RowRules
  ) {
    var new = RecordVersion(after: former, at: time, as: origin.row)
    for column in columns {
      let isOfKey = origin.key.contains { UTF8Bytes.equal($0, column.name) }
      var time = isOfKey ? new.created : origin.time(of: column.name)
      // Where edits win the columns of former lives are there still.
      for old in [former?[column.name]?.time, new.clock.seenTime(of: column.name)] {
        if let old { time = max(time, old.successor) }
      }
      if isOfKey {
        new.set(VersionedColumn(name: column.name, value: column.value, time: time))
      } else {
        new.arrive(column, from: origin, at: time, by: rules.writer, rules: rules)
      }
    }
    let isTold = { (name: String) in columns.contains { UTF8Bytes.equal($0.name, name) } }
    // Columns that the table does not have: a newer version of the app knows them.
    for column in origin.version?.columns ?? []
    where !isTold(column.name) && !origin.key.contains(column.name) {
      new.set(column)
    }
    for share in origin.version?.clock.shares ?? [] where !isTold(share.column) { new.set(share) }
    self = new
  }
}

extension CloudRecord {
  /// What a database had added to the counters of a row before its edits that were not sent.
  fileprivate func counted(before mine: RecordVersion, by writer: Int64) -> [CounterShare] {
    guard clock.created == mine.created, clock.isOfSameRow(as: mine.clock) else { return [] }
    return mine.clock.shares.filter { $0.writer == writer }
      .map { clock.addition(to: $0.column, by: $0.writer) }
  }
}

extension RecordVersion {
  /// Adds what was added to counters under the row's former key, as of what had been added before, to what the same database
  /// has added since under the present one.
  ///
  /// Where another device has given the row that key it may have taken along what this one had sent before, and has had no
  /// answer to: that is counted already.
  fileprivate mutating func add(
    to clock: RecordClock,
    from counted: [CounterShare],
    madeFrom ancestors: [Ancestor]
  ) {
    // What another row that had the key has counted is no part of what this one has.
    guard self.clock.isOfSameRow(as: clock) else { return }
    for former in counted {
      guard var share = self.clock.share(of: former.column, by: former.writer),
        let own = clock.share(of: former.column, by: former.writer),
        own != former, own.time >= former.time, own != share,
        !ancestors.contains(Ancestor(own))
      else { continue }
      share.sum = own.sum.adding(from: former.sum, to: share.sum)
      share.time = max(share.time, own.time.successor)
      set(share)
    }
  }

  /// How many rows are kept that have lost one key: the last ones.
  static let endedLimit = 32
}

extension [RecordVersion] {
  /// Takes a row out of those that have lost a key.
  fileprivate mutating func take(where isMeant: (RecordVersion) -> Bool) -> RecordVersion? {
    firstIndex(where: isMeant).map { remove(at: $0) }
  }

  /// Keeps a row among those that have lost a key, with what is kept of it already.
  mutating func keepLife(_ version: RecordVersion, rules: RowRules) {
    let former = take { $0.clock.isOfSameRow(as: version.clock) }
    keep(former.map { rules.join.join(version, with: $0) } ?? version)
  }

  /// What becomes of a version of the row that has lost the key here, and has it again: what is kept of it is joined with
  /// that.
  mutating func rejoin(_ version: RecordVersion, rules: RowRules) -> RecordVersion {
    let clock = version.clock
    let own = take { clock.isOfSameRow(as: $0.clock) && clock.leavesOpen($0.clock) }
    return own.map { rules.join.join($0, with: version) } ?? version
  }

  /// Keeps a row among those that have lost a key.
  fileprivate mutating func keep(_ version: RecordVersion) {
    append(version)
    if count > RecordVersion.endedLimit { removeFirst() }
  }
}

extension RecordClock {
  /// Whether the record goes on without the life that another clock of it tells of: it has ended, or another row has its key.
  fileprivate func replaces(_ other: RecordClock) -> Bool {
    ends(lifeOf: other) || !isOfSameRow(as: other)
  }
}

extension MovedRow {
  /// When a column was set.
  fileprivate func time(of column: String) -> HybridTime {
    times[column] ?? version?.clock.time(of: column) ?? initial
  }
}
