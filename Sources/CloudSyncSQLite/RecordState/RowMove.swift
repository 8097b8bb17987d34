import CloudSyncCore

/// That a life of a row ended because its key was changed: the row goes on as another record.
///
/// It stays in the clock of the old record, also when another row has that key since, or the record is deleted once
/// more: so whoever meets an edit of that life, however late, knows whose edit it is.
struct RowMove: Sendable, Hashable {
  /// When the record was deleted before that life began; `zero` if it never was.
  var since: HybridTime
  /// When the life ended.
  var time: HybridTime
  /// When the life of the other record began.
  var arrival: HybridTime
  /// When the other record was deleted before; `zero` if it never was.
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
    if time != other.time { return time < other.time }
    return UTF8Bytes.order(name, other.name) < 0
  }
}

extension RecordClock {
  /// As which record a life of the row goes on that began at a time; nil if it has not moved.
  ///
  /// Of two changes of one life's key, made without knowing of each other, the later one counts; one that has only
  /// followed another row's key gives way to every other.
  func move(ofLife created: HybridTime) -> RowMove? {
    guard let first = moves.firstIndex(where: { created > $0.since && created <= $0.time }) else {
      return nil
    }
    return last(of: first)
  }

  /// The changes of keys that did not know of one of the same life which counts more, each with that one.
  var overriddenMoves: [(move: RowMove, winner: RowMove)] {
    moves.indices.compactMap { place in
      var first = place
      while first > 0, moves[first].since < moves[first - 1].time { first -= 1 }
      let winner = last(of: first)
      return UTF8Bytes.equal(winner.name, moves[place].name) ? nil : (moves[place], winner)
    }
  }

  private func last(of first: Int) -> RowMove {
    var (place, made) = (first, moves[first].isFollowing ? nil : first)
    while place + 1 < moves.count, moves[place + 1].since < moves[place].time {
      place += 1
      if !moves[place].isFollowing { made = place }
    }
    return moves[made ?? place]
  }

  /// Notes moves; what was noted before stays noted.
  mutating func note(moves others: [RowMove]) {
    for one in others where !moves.contains(one) {
      // An engine that has heard more of it knows better when the row came.
      let isSame = { (move: RowMove) in
        move.time == one.time && UTF8Bytes.equal(move.name, one.name)
      }
      if let place = moves.firstIndex(where: isSame) {
        moves[place].since = min(moves[place].since, one.since)
        moves[place].arrival = max(moves[place].arrival, one.arrival)
        moves[place].ended = max(moves[place].ended, one.ended)
        moves[place].isUnion = moves[place].isUnion || one.isUnion
        moves[place].isFollowing = moves[place].isFollowing && one.isFollowing
      } else {
        moves.insert(one, at: moves.indices.firstPlace { one.precedes(moves[$0]) })
      }
    }
    if moves.count > RowMove.limit { moves.removeFirst(moves.count - RowMove.limit) }
  }

  /// When the deletion was made that the row's present life came after.
  var lastEnd: HybridTime {
    // Where an edit has won over a deletion, that has ended nothing.
    deleted < created ? deleted : moves.last?.time ?? .zero
  }
}

extension RecordVersion {
  /// The name of the record as which a deleted row goes on, because its key was changed: whoever refers to it follows.
  var successor: String? { clock.move(ofLife: created)?.name }

  /// When the row was inserted that a foreign key's columns refer to; nil if nobody knows.
  ///
  /// Those tell it that belong to no other foreign key, if one of them was set last.
  func life(ofReference columns: [String], telling own: [String]) -> HybridTime? {
    let times = columns.compactMap { clock.time(of: $0) }
    guard times.count == columns.count, let last = times.max(),
      let column = own.first(where: { clock.time(of: $0) == last })
    else { return nil }
    if let life = clock.life(of: column) { return life }
    // What was there before anybody captured it refers to what was there then.
    return last == .zero ? RecordClock.foundCreation : nil
  }

  /// Notes that lives have moved: the present one too, if it is among them.
  mutating func note(moves: [RowMove]) {
    note(inClock: moves)
    guard let move = clock.move(ofLife: created) else { return }
    end(at: max(deleted, move.time), deletes: .deleteWins)
  }

  /// What of it is handed to the record as which it goes on.
  func handed(by move: RowMove) -> RecordVersion {
    var clock = RecordClock()
    clock.created = move.arrival
    // A former row of that key that a device still has takes no part.
    clock.deleted = move.ended
    clock.shares = move.isUnion ? [] : self.clock.shares
    var handed = RecordVersion(clock: clock, columns: columns)
    if move.isUnion { handed.removeColumns(self.clock.shares.map(\.column)) }
    return handed
  }
}

extension RowMove {
  /// When the life began that the row goes on with.
  var nextLife: HybridTime { max(arrival, ended.successor) }
}

/// What a record hands to the one as which its row goes on.
struct HandOver: Sendable, Hashable {
  var move: RowMove
  var version: RecordVersion
  /// What the cloud was known to have had of the columns that a policy looks at.
  var base: [VersionedColumn]
  /// Whether it is the cloud's version, and not the one of this device.
  var isOfCloud: Bool
  /// From how many records it was handed on before.
  var steps = 0
}

/// Where a row comes from that was given its key here.
struct MovedRow: Sendable, Hashable {
  /// What was known of it under its former key; nil if nothing was.
  var version: RecordVersion?
  /// When columns were set under its former keys that were not sent yet.
  var times: [String: HybridTime] = [:]
  /// When the others were set, as far as the version does not tell.
  var initial: HybridTime
  /// The columns of the key.
  var key: [String]
}
