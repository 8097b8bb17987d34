import CloudSyncCore

/// When a column was set.
struct ColumnTime: Sendable, Hashable {
  var name: String
  var time: HybridTime
  /// Which row a reference refers to; nil for other columns, and where nobody knows.
  ///
  /// Another row may get its key later.
  var life: RowLife?
}

/// What one database has added to a counter, as one sum, with the time of its last addition.
struct CounterShare: Sendable, Hashable {
  var column: String
  /// The number of the database that has added; ``found`` for what was there before any was asked.
  var writer: Int64
  var time: HybridTime
  var sum: CounterSum

  /// The writer of what a counter held before it was one: as with columns, the cloud's value wins.
  static let found: Int64 = 0
}

/// A version of a column, or a share of a counter, that whoever deleted a row had seen.
struct SeenTime: Sendable, Hashable {
  var column: String
  /// The writer of a counter's share; nil for the column itself.
  var writer: Int64?
  var time: HybridTime
}

extension SeenTime {
  init(_ share: CounterShare) {
    self.init(column: share.column, writer: share.writer, time: share.time)
  }
}

/// Who is about to delete a tombstone from the cloud, and since when by the server's clock.
///
/// It is a lease: nobody writes over a marked tombstone for ``length``, everybody after.
struct PurgeMark: Sendable, Hashable {
  var writer: Int64
  /// In milliseconds since 1970, the latest that the one who set it had seen of the server's.
  var since: Int64

  /// How long others leave a marked tombstone alone, in milliseconds.
  static let length: Int64 = 86_400_000
  /// How long after its mark a tombstone may be deleted by who has marked it, in milliseconds.
  static let use: Int64 = length / 2

  /// Creates a mark; a time that no clock shows, as a hostile record may have it, becomes the nearest that one does.
  init(writer: Int64, since: Int64) {
    self.writer = writer
    self.since = min(max(since, 0), HybridTime(rawValue: .max).milliseconds)
  }

  /// When others need not wait any more, in milliseconds since 1970.
  var end: Int64 { since + Self.length + 1 }

  /// Whether others have to wait, at a time in milliseconds since 1970 by their own clocks: one that is further from the mark
  /// than a mark is long is wrong, whichever way, and nobody waits for years.
  func isValid(at now: Int64) -> Bool { since - Self.length...since + Self.length ~= now }

  /// Whether who has set it may delete the tombstone, at a time in milliseconds since 1970 by the server's clock.
  func isUsable(at present: Int64) -> Bool { since - Self.use...since + Self.use ~= present }
}

/// All that is known of when a row's parts were written: what two versions of it are compared by.
///
/// - Invariant: Columns, shares and what was seen are sorted by name, in the order of the bytes, then by
///   writer; each is there once.
struct RecordClock: Sendable, Hashable {
  /// When the row was inserted last; `zero` if nobody ever has.
  var created = HybridTime.zero
  /// When the first of the lives began that have met the present one under the key, and are one row with it; nil if there
  /// are none, or the row was given its key.
  var first: HybridTime?
  /// When one was deleted last that had been inserted with this key; `zero` if nobody ever has.
  var deleted = HybridTime.zero
  /// The last life of such a row that has ended, as far as whoever ended it knew, by when it began; `zero` if none has.
  var ended = HybridTime.zero
  /// Which row it is, if it was given its key by a change of it; nil if it was inserted with it.
  var row: RowOrigin?
  /// The rows that were given this key and deleted.
  var endings: [RowEnding] = []
  var columns: [ColumnTime] = []
  var shares: [CounterShare] = []
  /// Where edits win: what whoever deleted the row had seen of it.
  var seen: [SeenTime] = []
  var purge: PurgeMark?
  /// The lives of the row that go on as other records, because its key was changed.
  var moves: [RowMove] = []

  /// When a row was inserted that was there before anybody captured it.
  static let foundCreation = HybridTime.zero.successor

  /// When a column was filled that its row got later: after it got its default, and before every edit.
  static let filling = HybridTime.zero.successor

  /// The latest of all times.
  var latest: HybridTime {
    var latest = max(created, deleted)
    for column in columns { latest = max(latest, column.time) }
    for share in shares { latest = max(latest, share.time) }
    for move in moves { latest = max(latest, move.arrival) }
    for ending in endings { latest = max(latest, ending.time) }
    return latest
  }

  /// The names of all columns that the side knows, counters with shares too, each once.
  var columnNames: [String] {
    var names = columns.map(\.name)
    for share in shares where columns.place(of: share.column) == nil {
      if !names.contains(where: { UTF8Bytes.equal($0, share.column) }) {
        names.append(share.column)
      }
    }
    return names
  }

  func time(of column: String) -> HybridTime? {
    columns.place(of: column).map { columns[$0].time }
  }

  /// What is told of a column; nil if it is not known.
  func column(named name: String) -> ColumnTime? {
    columns.place(of: name).map { columns[$0] }
  }

  /// The life of the row that a column refers to.
  func life(of column: String) -> RowLife? {
    self.column(named: column)?.life
  }

  func shares(of column: String) -> [CounterShare] {
    shares.filter { UTF8Bytes.equal($0.column, column) }
  }

  func share(of column: String, by writer: Int64) -> CounterShare? {
    shares.first { $0.writer == writer && UTF8Bytes.equal($0.column, column) }
  }

  /// The sum of a counter's shares; nil if it has none.
  func counterSum(of column: String) -> CounterSum? {
    let shares = shares(of: column)
    return shares.isEmpty ? nil : .total(of: shares.lazy.map(\.sum))
  }

  /// Sets a share of a counter.
  mutating func set(_ share: CounterShare) {
    let place = shares.indices.firstPlace { !shares[$0].precedes(share) }
    if place < shares.count, !share.precedes(shares[place]) {
      shares[place] = share
    } else {
      shares.insert(share, at: place)
    }
  }

  /// What a database has added to a counter, if only nothing.
  func addition(to column: String, by writer: Int64) -> CounterShare {
    share(of: column, by: writer)
      ?? CounterShare(column: column, writer: writer, time: .beforeAll, sum: .zero)
  }

  func seenTime(of column: String, by writer: Int64? = nil) -> HybridTime? {
    seen.first { $0.writer == writer && UTF8Bytes.equal($0.column, column) }?.time
  }

  /// Notes versions that were seen; what was seen before stays seen.
  mutating func note(seen versions: [SeenTime]) {
    for one in versions {
      let place = seen.indices.firstPlace { !seen[$0].precedes(one) }
      if place < seen.count, !one.precedes(seen[place]) {
        seen[place].time = max(seen[place].time, one.time)
      } else {
        seen.insert(one, at: place)
      }
    }
  }

  /// Whether whoever has deleted the row had seen a share.
  func hasSeen(_ share: CounterShare) -> Bool {
    seenTime(of: share.column, by: share.writer).map { $0 >= share.time } ?? false
  }

  /// Notes that a share which this database has given another number or time was seen by whoever has deleted the row, if it was
  /// before: else the deletion would be of an older row.
  ///
  /// - Parameters:
  ///   - share: The share as it is now.
  ///   - former: The share as it was.
  ///   - base: What the cloud has, which may tell more of the former number: another file may have it too.
  mutating func noteSeen(
    _ share: CounterShare,
    insteadOf former: CounterShare,
    in base: RecordClock?
  ) {
    guard hasSeen(former) else { return }
    defer { note(seen: [SeenTime(share)]) }
    if former.writer == share.writer { return }
    seen.removeAll {
      UTF8Bytes.equal($0.column, former.column) && $0.writer == former.writer
    }
    let known = [
      base?.share(of: former.column, by: former.writer)?.time,
      base?.seenTime(of: former.column, by: former.writer),
    ]
    if let time = known.compactMap(\.self).max() {
      note(seen: [SeenTime(column: former.column, writer: former.writer, time: time)])
    }
  }

  /// Sets when a column was set.
  ///
  /// - Returns: The column's place among all, and whether it is there only now.
  @discardableResult
  mutating func set(_ column: ColumnTime) -> (place: Int, isNew: Bool) {
    if let place = columns.place(of: column.name) {
      columns[place] = column
      return (place, false)
    }
    let place = columns.indices.firstPlace { UTF8Bytes.order(columns[$0].name, column.name) > 0 }
    columns.insert(column, at: place)
    return (place, true)
  }

  /// What is noted as seen of columns that are about to be forgotten here: nothing where deletions win.
  func seenTimes(of names: [String], deletes policy: DeletePolicy) -> [SeenTime] {
    guard policy == .editWins else { return [] }
    return names.compactMap { name in
      time(of: name).map { SeenTime(column: name, writer: nil, time: $0) }
    }
  }

  /// Whether whoever deleted the row had not seen a column of a time, by whatever clock.
  func isUnseen(_ column: String, at time: HybridTime) -> Bool {
    time > max(seenTime(of: column) ?? .zero, Self.filling)
  }

  /// Whether something in it is newer than what whoever deleted the row had seen.
  var hasUnseen: Bool {
    columns.contains { isUnseen($0.name, at: $0.time) }
      || shares.contains { $0.time > seenTime(of: $0.column, by: $0.writer) ?? .zero }
  }

  /// Whether there is no such row now: it has ended, and no edit has it live on.
  ///
  /// The record alone tells, so that devices with other policies see the same row: where deletions win, nothing of what
  /// has ended is in it.
  var isDeleted: Bool { ends(lifeOf: self) && !hasUnseen }

  /// Whether it tells that edits win: of a row that has ended something is there still, or whoever has ended one has noted
  /// what was seen of it.
  var keepsEdits: Bool {
    if !seen.isEmpty { return true }
    return created > .zero && !(columns.isEmpty && shares.isEmpty) && ends(lifeOf: self)
  }

  /// Whether the life that another clock of the record tells of has ended.
  ///
  /// A row that was given its key has ended if that is told of this row: others may have had the key since, and before. One
  /// that was inserted was deleted, whether or not who has deleted the row knew of it, if it had begun by then; unless what
  /// was deleted goes on under another key. Whoever gives a row another key ends that row, and no other one.
  func ends(lifeOf other: RecordClock) -> Bool {
    if moves.contains(where: { $0.ends(lifeOf: other) }) { return true }
    if let row = other.row {
      return endings.contains { $0.row == row && other.created <= $0.life }
    }
    if other.created <= ended { return true }
    if other.created > deleted { return false }
    return !moves.contains { $0.isOfInserted && $0.begins(at: ended) }
  }

  /// Whether something is older here than in what was known before: an answer has come late, the cloud was
  /// set back, or the zone is another one.
  func isBehind(_ known: RecordClock, deletes policy: DeletePolicy) -> Bool {
    if deleted < known.deleted || ended < known.ended { return true }
    // An older row may be there still when a younger one has left the key.
    if created < known.created, !ends(lifeOf: known) { return true }
    if !known.moves.isEmpty, !known.moves.allSatisfy({ moves.contains($0) }) { return true }
    if !known.endings.isEmpty, !known.endings.allSatisfy({ endings.contains($0) }) { return true }
    // What a deletion has ended is not missed, nor by a device where edits win what another one has deleted whole.
    if !keepsEdits, policy == .deleteWins || isDeleted, ends(lifeOf: known) { return false }
    return known.columns.contains { time(of: $0.name) ?? .beforeAll < $0.time }
      || known.shares.contains { share(of: $0.column, by: $0.writer)?.time ?? .beforeAll < $0.time }
      || known.seen.contains { seenTime(of: $0.column, by: $0.writer) ?? .beforeAll < $0.time }
  }
}

extension RecordClock {
  /// Whether another version of the same life has no edit that this one lacks: a migration has converted columns at most, or
  /// has filled new ones.
  func isConverted(in other: RecordClock) -> Bool {
    let known = Set(columns.map(\.name))
    let (common, added) = (
      other.columns.filter { known.contains($0.name) },
      other.columns.filter { !known.contains($0.name) }
    )
    return created == other.created && first == other.first && deleted == other.deleted
      && ended == other.ended && row == other.row && endings == other.endings
      && shares == other.shares
      && moves == other.moves
      && added.allSatisfy { $0.time <= Self.filling }
      && columns.map(\.name) == common.map(\.name)
      && zip(columns, common)
        .allSatisfy { one, other in
          other.time == one.time || Self.isConversion(from: one.time, to: other.time)
        }
  }

  /// Whether a time is one that a migration gives to what it converts, or fills, of an older version.
  static func isConversion(from former: HybridTime, to time: HybridTime) -> Bool {
    (former == .zero || former > filling) && time == former.successor
  }
}

extension DeletePolicy {
  /// What applies to versions of a record: edits win if one of them tells so.
  func policy(for clocks: RecordClock...) -> DeletePolicy {
    if self == .editWins { return self }
    return clocks.contains(where: \.keepsEdits) ? .editWins : .deleteWins
  }
}

/// What has a name, in lists that are sorted by it.
protocol NamedByColumn {
  var columnName: String { get }
}

extension ColumnTime: NamedByColumn {
  var columnName: String { name }
}

extension VersionedColumn: NamedByColumn {
  var columnName: String { name }
}

extension Array where Element: NamedByColumn {
  /// The place of a column in a list that is sorted by name.
  func place(of name: String) -> Int? {
    let place = indices.firstPlace { UTF8Bytes.order(self[$0].columnName, name) >= 0 }
    return place < endIndex && UTF8Bytes.equal(self[place].columnName, name) ? place : nil
  }
}

extension HybridTime {
  /// Before every time, `zero` too.
  static let beforeAll = HybridTime(rawValue: .min)
}
