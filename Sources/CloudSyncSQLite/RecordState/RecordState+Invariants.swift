import CloudSyncCore

extension RecordState {
  /// What of the state can never be so; nil if all is well.
  func brokenInvariant(_ rules: RowRules) -> String? {
    guard let row else {
      return self == RecordState() ? nil : "something is remembered of a row that is not known"
    }
    if let broken = row.brokenInvariant(rules) { return broken }
    let isDeleted = self.isDeleted
    if !isDirty, !ancestors.isEmpty { return "a clean row remembers what it was made from" }
    if row.purge != nil, !isDeleted { return "a row that lives is marked to be purged" }
    if placement == .deletionDeferred, !isDeleted { return "a row that lives is to be deleted" }
    if let known {
      if known.tag.isEmpty { return "a record has no tag" }
      for name in known.differing where row[name]?.time != known.clock.time(of: name) {
        return "column \(name) is said to differ by its value alone, and differs in time"
      }
    } else if case .nextFetch(.some) = hold {
      return "it waits for word of a record that is not known to be there"
    }
    if case .removal = hold, known == nil || !isDeleted {
      return "a record is to be deleted that is not there, or whose row lives"
    }
    if conflicts > rules.conflictBudget { return "conflicts have no end" }
    return nil
  }
}

extension RecordVersion {
  func brokenInvariant(_ rules: RowRules) -> String? {
    if values.count != clock.columns.count { return "columns and values do not fit" }
    let names = clock.columns.map(\.name)
    if !names.indices.dropFirst().allSatisfy({ UTF8Bytes.order(names[$0 - 1], names[$0]) < 0 }) {
      return "columns are not in order"
    }
    let shares = clock.shares
    if !shares.indices.dropFirst().allSatisfy({ shares[$0 - 1].precedes(shares[$0]) }) {
      return "shares are not in order"
    }
    let seen = clock.seen
    if !seen.indices.dropFirst().allSatisfy({ seen[$0 - 1].precedes(seen[$0]) }) {
      return "what was seen is not in order"
    }
    for column in clock.columns
    where shares.contains(where: {
      UTF8Bytes.equal($0.column, column.name) && $0.time > column.time
    }) {
      return "counter \(column.name) has a column beside newer shares"
    }
    let moves = clock.moves
    if !moves.indices.dropFirst().allSatisfy({ moves[$0 - 1].precedes(moves[$0]) }) {
      return "moves are not in order"
    }
    if clock.move(of: clock) != nil, !clock.columns.isEmpty || !shares.isEmpty {
      return "a life that goes on as another record has columns"
    }
    if clock.ended > clock.deleted { return "a life has ended, and nobody has ended it" }
    if rules.deletes == .deleteWins {
      if !seen.isEmpty { return "a deletion has looked at what it ends" }
      if clock.ends(lifeOf: clock), clock.created > .zero, !clock.columns.isEmpty {
        return "a row that has ended has columns"
      }
    }
    return nil
  }
}
