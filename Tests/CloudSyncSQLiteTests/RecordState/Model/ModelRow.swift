/// The model of how a row travels, in whole numbers: the real machine is held against it, state by state.
///
/// A record is a state that is joined, never a message that is applied. Saves are compare-and-swap on the tag, a
/// deletion is a save too, and `take` is the only way in for what the cloud has.
enum Model {
  /// A column: who wrote last wins.
  struct Column: Hashable {
    var time: Int
    var value: Int
  }

  /// What one writer has added to a counter, with the time of its last addition.
  struct Share: Hashable {
    var time: Int
    var sum: Int
  }

  /// A version of a column, or of a writer's share.
  struct Part: Hashable {
    var column: Int?
    var writer: Int?
    var time: Int
  }

  /// The writer of what was in a counter before anybody captured it.
  static let found = -1

  /// Who is about to remove a tombstone from the cloud, and since when: a lease.
  struct Mark: Hashable {
    var since: Int
    var by: Int
  }

  static let lease = 80

  /// What is drawn once for a whole script.
  struct Rules {
    var editWins = false
    /// Whether column 1 is of the policy `server`: of two edits, the one that came first.
    var serverFirst = false
    /// Whether the record that tells the zone's incarnation is on the last page.
    var comesLate = false
  }

  struct RowState: Hashable {
    var created: Int
    var deleted: Int
    /// When the last life began that has ended.
    var ended = 0
    /// When the first of the lives began that have met the present one, and are one row with it.
    var first: Int?
    var editWins: Bool
    var columns: [Int: Column] = [:]
    var counter: [Int: Share] = [:]
    /// Where edits win: the times of the columns and shares that whoever deleted the row had seen.
    var seen: [Int: Int] = [:]
    var seenShares: [Int: Int] = [:]
    var purger: Mark?

    var isUnseen: Bool {
      columns.contains { $0.value.time > seen[$0.key] ?? 0 }
        || counter.contains { $0.value.time > seenShares[$0.key] ?? 0 }
    }
    var isDeleted: Bool { deleted >= created && !(editWins && isUnseen) }
    var counterValue: Int { counter.values.reduce(0) { $0 + $1.sum } }

    /// The versions of all columns and shares.
    var parts: [Part] {
      columns.map { Part(column: $0.key, time: $0.value.time) }
        + counter.map { Part(writer: $0.key, time: $0.value.time) }
    }

    func joined(with other: RowState) -> RowState {
      let ended = max(deleted, other.deleted)
      let (mine, theirs) = (editWins || created > ended, editWins || other.created > ended)
      var result = RowState(
        created: max(created, other.created),
        deleted: ended,
        editWins: editWins
      )
      result.ended = max(self.ended, other.ended)
      let lives = [self, other]
        .filter { $0.created > 1 && $0.created > max(result.ended, ended) }
        .map { $0.first ?? $0.created }
      result.first = lives.min().flatMap { $0 == result.created ? nil : $0 }
      result.columns = mine ? columns : [:]
      result.counter = mine ? counter : [:]
      if theirs { result.take(columns: other.columns, counter: other.counter) }
      if editWins {
        result.seen = seen.merging(other.seen) { max($0, $1) }
        result.seenShares = seenShares.merging(other.seenShares) { max($0, $1) }
      }
      if result.isDeleted {
        result.purger = [purger, other.purger].compactMap { $0 }
          .max { ($0.since, $0.by) < ($1.since, $1.by) }
      }
      return result
    }

    private mutating func take(columns: [Int: Column], counter: [Int: Share]) {
      for (name, column) in columns {
        if let known = self.columns[name] {
          if known.time > column.time { continue }
          // What was there before anybody captured it gives way to what is in the cloud.
          if known.time == column.time, column.time > 0, known.value >= column.value { continue }
        }
        self.columns[name] = column
      }
      for (writer, share) in counter
      where writer == Model.found || self.counter[writer]?.time ?? -1 < share.time {
        self.counter[writer] = share
      }
    }

    /// Whether something is older here than in what was known before.
    func isBehind(_ known: RowState) -> Bool {
      if created < known.created || deleted < known.deleted || ended < known.ended { return true }
      if !editWins, known.created <= deleted { return false }
      return known.columns.contains { columns[$0.key]?.time ?? -1 < $0.value.time }
        || known.counter.contains { counter[$0.key]?.time ?? -1 < $0.value.time }
        || known.seen.contains { seen[$0.key] ?? -1 < $0.value }
        || known.seenShares.contains { seenShares[$0.key] ?? -1 < $0.value }
    }

    /// A save sends what differs from the base, and leaves the rest of the record as it is.
    func saved(over present: RowState, from base: RowState?) -> RowState {
      var result = self
      for name in Set(columns.keys).union(present.columns.keys)
      where columns[name] == base?.columns[name] {
        result.columns[name] = present.columns[name]
      }
      for writer in Set(counter.keys).union(present.counter.keys)
      where counter[writer] == base?.counter[writer] {
        result.counter[writer] = present.counter[writer]
      }
      return result
    }
  }

  struct Row: Hashable {
    var local: RowState
    /// What the cloud has acknowledged, and its tag.
    var base: RowState?
    var tag: Int?
    var awaitsFetch = false
    /// The tag for which the cloud said that there is no such record.
    var missing: Int?
    /// What the row was made from since it was clean last.
    var ancestors: Set<Part> = []

    var isDirty: Bool { local != base }
  }
}
