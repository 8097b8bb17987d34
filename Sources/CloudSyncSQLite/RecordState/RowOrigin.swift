import CloudSyncCore

/// Which row it is, whatever keys it was given since it was inserted: the record that it was inserted as, and when.
///
/// Rows that devices have inserted with one key, without knowing of each other, are one only once they have met under that
/// key, where there is room for one. One whose key was changed before is a row of its own: a key that many devices give to
/// rows for a while does not make one row of all. It stays the same row when its table is renamed, and its records get other
/// names: of the first one's the key counts, whether that is told or only its digest.
package struct RowOrigin: Sendable {
  /// The name of the record that the row was first, as its table was called when it got another key.
  let name: String
  /// When that life of the record began, as whoever first gave the row another key knew it.
  let created: HybridTime

  private var key: String { RecordName.identity(of: name) }

  func precedes(_ other: RowOrigin) -> Bool {
    if created != other.created { return created < other.created }
    return UTF8Bytes.order(key, other.key) < 0
  }
}

extension Optional<RowOrigin> {
  /// Whether it comes first: a row that was inserted with its key does so before all that were given it.
  func precedes(_ other: RowOrigin?) -> Bool {
    guard let self, let other else { return self == nil && other != nil }
    return self.precedes(other)
  }
}

extension RowOrigin: Hashable {
  package static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.created == rhs.created
      && (UTF8Bytes.equal(lhs.name, rhs.name) || UTF8Bytes.equal(lhs.key, rhs.key))
  }

  package func hash(into hasher: inout Hasher) {
    UTF8Bytes.with(key) { hasher.combine(bytes: $0) }
    hasher.combine(created)
  }
}

/// The life of a row under one key, as a reference tells it.
package struct RowLife: Sendable, Hashable {
  /// When it began, as far as whoever has set the reference knew.
  var created: HybridTime
  /// Which row it is, if it was given its key by a change of it; nil if it was inserted with that.
  var row: RowOrigin?

  func precedes(_ other: RowLife) -> Bool {
    if created != other.created { return created < other.created }
    return row.precedes(other.row)
  }
}

/// That a row was deleted which had been given its key.
struct RowEnding: Sendable, Hashable {
  var row: RowOrigin
  /// When its life under this key began, as whoever has deleted it knew it.
  var life: HybridTime
  /// When it was deleted.
  var time: HybridTime

  /// How many are remembered of a record: the last ones.
  static let limit = 32

  func precedes(_ other: RowEnding) -> Bool {
    if life != other.life { return life < other.life }
    return row.precedes(other.row)
  }
}

extension RecordClock {
  /// Whether the row was given its key by a change of it, in its present life.
  var isArrival: Bool { row != nil }

  /// Whether another clock of the record tells of the same row.
  ///
  /// Two rows may have been given one key by devices that did not know of each other.
  func isOfSameRow(as other: RecordClock) -> Bool { row == other.row }

  /// Which row it tells of, as the clock of a record of a name.
  func origin(named name: String) -> RowOrigin { row ?? RowOrigin(name: name, created: created) }

  /// Whether another row that had its key is in no table for that.
  func displaces(_ other: RecordClock) -> Bool { !isOfSameRow(as: other) && leavesOpen(other) }

  /// Whether it tells neither that the life of another clock has ended nor where that goes on.
  func leavesOpen(_ other: RecordClock) -> Bool {
    !ends(lifeOf: other) && move(of: other) == nil
  }

  /// When a row with this key was deleted last; `zero` if none ever was.
  var lastDeletion: HybridTime {
    endings.reduce(deleted) { max($0, $1.time) }
  }

  /// Whether its life has begun after all that another clock of the record tells of; what other rows have had the key
  /// does not matter to one that was given it.
  func begins(after other: RecordClock) -> Bool {
    if !isArrival { return created > max(other.created, other.lastDeletion) }
    return !other.ends(lifeOf: self) && (!other.isOfSameRow(as: self) || created > other.created)
  }

  /// The last life of a row under this key that has ended, by when it began; `zero` if none has.
  func end(of row: RowOrigin) -> HybridTime {
    let deleted = endings.filter { $0.row == row }.map(\.life).max() ?? .zero
    return moves.filter { $0.row == row }.reduce(deleted) { max($0, $1.life) }
  }

  /// Notes that rows were deleted; what was noted before stays noted.
  mutating func note(endings others: [RowEnding]) {
    for one in others {
      var ending = one
      if let place = endings.firstIndex(where: { $0.row == one.row }) {
        let known = endings.remove(at: place)
        ending.life = max(known.life, one.life)
        ending.time = max(known.time, one.time)
      }
      endings.insert(ending, at: endings.indices.firstPlace { ending.precedes(endings[$0]) })
    }
    if endings.count > RowEnding.limit { endings.removeFirst(endings.count - RowEnding.limit) }
  }
}
