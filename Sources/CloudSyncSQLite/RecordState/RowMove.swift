import CloudSyncCore

/// That a life of a row ended because its key was changed: the row goes on as another record.
///
/// It stays in the clock of the old record, also when another row has that key since, or the record is deleted once
/// more: so whoever meets an edit of that life, however late, knows whose edit it is.
struct RowMove: Sendable, Hashable {
  /// Which row it is.
  var row: RowOrigin
  /// Whether it had been inserted under the key that was changed.
  var isOfInserted: Bool
  /// The life of the record that had ended before; `zero` if none had.
  var since: HybridTime
  /// When the first of the lives began that were one row by then, as whoever changed the key knew it: what others had
  /// inserted before it, without knowing of the row, is another one.
  var first: HybridTime
  /// When the life began that has ended, as whoever changed the key knew it: what has the key since is another row.
  var life: HybridTime
  /// When the key was changed.
  var time: HybridTime
  /// When the life of the other record began.
  var arrival: HybridTime
  /// The life of the other record that had ended before; `zero` if none had.
  var ended = HybridTime.zero
  /// The other record's name.
  var name: String
  /// Whether the other record was there and has taken the row in: then counters were not added up.
  var isUnion = false
  /// Whether nobody has given the row another key: its key contains one that it refers to, and that was changed.
  var isFollowing = false

  /// How many are remembered of a record: of keys that change all the time the last ones.
  static let limit = 32

  func precedes(_ other: RowMove) -> Bool {
    if life != other.life { return life < other.life }
    if time != other.time { return time < other.time }
    return UTF8Bytes.order(key, other.key) < 0
  }

  /// What tells the other record's key, also where its name is another one since its table was renamed.
  var key: String { RecordName.identity(of: name) }

  /// Whether it leads to the record of a name.
  func leads(to name: String) -> Bool {
    UTF8Bytes.equal(self.name, name) || UTF8Bytes.equal(key, RecordName.identity(of: name))
  }

  /// Takes what another engine tells of the same move: the two know different parts of what had been before.
  ///
  /// Every part is joined by itself, so that all engines come to the same whole, in whatever order they hear of each other.
  fileprivate mutating func take(_ other: RowMove) {
    if RecordName.isDigest(name) { name = other.name }
    if other.row.precedes(row) { row = other.row }
    isOfInserted = isOfInserted && other.isOfInserted
    since = min(since, other.since)
    first = min(first, other.first)
    arrival = max(arrival, other.arrival)
    ended = max(ended, other.ended)
    isUnion = isUnion || other.isUnion
    isFollowing = isFollowing && other.isFollowing
  }
}

extension RecordClock {
  /// As which record a life of a row with this key goes on; nil if it has not moved.
  ///
  /// Of two changes of one life's key, made without knowing of each other, the later one counts; one that has only
  /// followed another row's key gives way to every other.
  func move(ofLife life: RowLife) -> RowMove? {
    let created = life.created
    if let row = life.row {
      return moves.firstIndex { $0.ends(row, begunAt: created) }.map { last(beside: $0) }
    }
    return moves.firstIndex { $0.begins(at: created) }.map { last(beside: $0) }
  }

  /// As which record the row goes on that was given this key by a change of another one; nil if it has not moved again.
  func move(after former: RowMove) -> RowMove? {
    let place = moves.firstIndex { move in
      former.isUnion
        ? move.begins(at: former.arrival)
        : !move.isOfInserted && move.row == former.row && former.nextLife <= move.life
    }
    return place.map { last(beside: $0) }
  }

  /// As which record the row goes on that a clock of the same record tells of; nil if it has not moved.
  ///
  /// A life that whoever has changed the key had not heard of is another row's.
  func move(of other: RecordClock) -> RowMove? { place(ofMoveOf: other).map { last(beside: $0) } }

  /// Where the first change of a key is noted that has taken along the life which a clock of the same record tells of.
  fileprivate func place(ofMoveOf other: RecordClock) -> Int? {
    moves.firstIndex { $0.ends(lifeOf: other) }
  }

  /// As which record a row went on that was here first.
  func move(of origin: RowOrigin) -> RowMove? {
    moves.firstIndex { $0.row == origin }.map { last(beside: $0) }
  }

  /// The changes of keys that did not know of one of the same life which counts more, each with that one.
  var overriddenMoves: [(move: RowMove, winner: RowMove)] {
    moves.indices.compactMap { place in
      let winner = last(beside: place)
      return winner == moves[place] ? nil : (moves[place], winner)
    }
  }

  /// The change that counts among all of one row's key that were made without knowing of each other.
  private func last(beside place: Int) -> RowMove {
    let move = moves[place]
    return moves.reduce(move) { last, other in
      guard move.row == other.row else { return last }
      return other.counts(before: last) ? last : other
    }
  }

  /// Notes moves; what was noted before stays noted.
  mutating func note(moves others: [RowMove]) {
    for one in others where !moves.contains(one) {
      // An engine that has heard more of it knows better when the row came.
      let isSame = { (move: RowMove) in
        move.life == one.life && move.time == one.time && move.leads(to: one.name)
      }
      var move = one
      if let place = moves.firstIndex(where: isSame) { move.take(moves.remove(at: place)) }
      moves.insert(move, at: moves.indices.firstPlace { move.precedes(moves[$0]) })
    }
    forgetFirstMoves()
  }

  /// Forgets the first of too many moves: of what they tell only that these lives have ended.
  private mutating func forgetFirstMoves() {
    while moves.count > RowMove.limit {
      let move = moves.removeFirst()
      guard move.isOfInserted else { continue }
      ended = max(ended, move.life)
      deleted = max(deleted, move.life)
    }
  }

  /// Gives the records other names as which lives go on.
  mutating func renameMoves(_ name: (String) -> String) {
    if moves.isEmpty { return }
    for place in moves.indices { moves[place].name = name(moves[place].name) }
    moves.sort { $0.precedes($1) }
  }

  /// The last life of a row inserted with this key that goes on as another record; `zero` if none does.
  var lastMoved: HybridTime { moves.last { $0.isOfInserted }?.life ?? .zero }

  /// The life that had been deleted when the row's present one began; `zero` if none had: where an edit has won over a
  /// deletion, that has ended nothing.
  var lastDeleted: HybridTime { ended < created ? ended : .zero }

  /// Whether a life that began at a time is the present one, or has met it under the key.
  func holds(lifeBegunAt time: HybridTime) -> Bool {
    if isArrival { return time == created }
    return time > lastEnd && time <= created
      && (time >= first ?? created || time <= Self.foundCreation)
  }

  /// The life that had been deleted, or had gone on as another record, when the row's present one began; `zero` if none had.
  var lastEnd: HybridTime {
    max(lastDeleted, moves.last { $0.isOfInserted && $0.life < created }?.life ?? .zero)
  }
}

extension RecordVersion {
  /// The name of the record as which a deleted row goes on, because its key was changed: whoever refers to it follows.
  var successor: String? { clock.move(of: clock)?.name }

  /// Which row a foreign key's columns refer to; nil if nobody knows.
  ///
  /// Those tell it that belong to no other foreign key, if one of them was set last.
  func life(ofReference columns: [String], telling own: [String]) -> RowLife? {
    let times = columns.compactMap { clock.time(of: $0) }
    guard times.count == columns.count, let last = times.max(),
      let column = own.first(where: { clock.time(of: $0) == last })
    else { return nil }
    if let life = clock.life(of: column) { return life }
    // What was there before anybody captured it refers to what was there then.
    return last == .zero ? RowLife(created: RecordClock.foundCreation) : nil
  }

  /// Notes that lives have moved: the present one too, if it is among them.
  mutating func note(moves: [RowMove]) {
    note(inClock: moves)
    if clock.place(ofMoveOf: clock) != nil { forget(deletes: .deleteWins) }
  }

  /// That its present life ends because its key is changed, from the record's own name to another one.
  func move(
    from name: String,
    to other: String,
    at time: HybridTime,
    arrival: HybridTime
  ) -> RowMove {
    RowMove(
      row: clock.origin(named: name),
      isOfInserted: !clock.isArrival,
      since: clock.lastEnd,
      first: clock.first ?? created,
      life: created,
      time: time,
      arrival: arrival,
      name: other
    )
  }

  /// What of it is handed to the record as which it goes on.
  func handed(by move: RowMove) -> RecordVersion {
    var clock = RecordClock()
    clock.created = move.arrival
    clock.row = move.isUnion ? nil : move.row
    // A former row of that key that a device still has takes no part.
    clock.ended = move.ended
    clock.deleted = move.ended
    clock.shares = move.isUnion ? [] : self.clock.shares
    var handed = RecordVersion(clock: clock, columns: columns)
    if move.isUnion { handed.removeColumns(self.clock.shares.map(\.column)) }
    return handed
  }

  /// What was to be handed on so, as the life that it was taken of.
  func withheld(from move: RowMove) -> RecordVersion {
    var clock = RecordClock()
    clock.created = move.life
    clock.row = move.isOfInserted ? nil : move.row
    clock.shares = self.clock.shares
    return RecordVersion(clock: clock, columns: columns)
  }
}

extension RowMove {
  /// Whether another change of the same row's key counts instead of it: the one that has given it a key later; but one that
  /// has followed another row's key does so only if the row had come back to the key that it leaves after the other one.
  func counts(before other: RowMove) -> Bool {
    if isFollowing == other.isFollowing { return arrives(before: other) }
    return isFollowing ? !follows(other) : other.follows(self)
  }

  /// Whether it ends a life of the row that came after the one which another change has ended.
  private func follows(_ other: RowMove) -> Bool { !isOfInserted && life > other.life }

  /// Whether the row that it leads to got its key before another one.
  func arrives(before other: RowMove) -> Bool {
    if arrival != other.arrival { return arrival < other.arrival }
    return UTF8Bytes.order(key, other.key) < 0
  }

  /// When the life began that the row goes on with.
  var nextLife: HybridTime { max(arrival, ended.successor) }

  /// The same, as references tell it.
  var arrived: RowLife { RowLife(created: nextLife, row: isUnion ? nil : row) }

  /// Whether it ends the life that a clock of the record tells of.
  func ends(lifeOf clock: RecordClock) -> Bool {
    clock.row.map { ends($0, begunAt: clock.created) }
      ?? (isOfInserted && begins(at: clock.created))
  }

  /// Whether it ends a life of a row that had been given the key.
  func ends(_ row: RowOrigin, begunAt created: HybridTime) -> Bool {
    !isOfInserted && self.row == row && created <= life
  }

  /// Whether it ends a life that began at a time.
  ///
  /// What was there before anybody captured it is every row that the key has had since.
  func begins(at created: HybridTime) -> Bool {
    guard isOfInserted else { return created == life }
    return created > since && created <= life
      && (created >= first || created <= RecordClock.foundCreation)
  }
}

/// What a record hands to the one as which its row goes on.
struct HandOver: Sendable, Hashable {
  var move: RowMove
  var version: RecordVersion
  /// What the cloud was known to have had of the columns that a policy looks at.
  var base: [VersionedColumn] = []
  /// The versions that it was made from.
  var ancestors: [Ancestor] = []
  /// What this database had added to its counters before what is handed was edited.
  var counted: [CounterShare] = []
  /// Whether it is the cloud's version, and not the one of this device.
  var isOfCloud = false
  /// Whether it has some of the row's columns only.
  var isPart = false
  /// From how many records it was handed on before.
  var steps = 0
}

/// Where a row comes from that was given its key here.
struct MovedRow: Sendable, Hashable {
  /// Which row it is.
  var row: RowOrigin
  /// What was known of it under its former key; nil if nothing was.
  var version: RecordVersion?
  /// What the cloud was known to have of the columns that a policy looks at.
  var base: [VersionedColumn] = []
  /// The versions that it was made from, if it was edited and not sent.
  var ancestors: [Ancestor] = []
  /// When columns were set under its former keys that were not sent yet.
  var times: [String: HybridTime] = [:]
  /// When the others were set, as far as the version does not tell.
  var initial: HybridTime
  /// The columns of the key.
  var key: [String]
}
