import CloudSyncCore

/// The numbers under which databases add to counters.
extension RecordState {
  /// Whether the cloud has a share under this database's number that this file has not written: it is a copy, or
  /// was set back.
  ///
  /// Of a row that was given its key others may have taken along what was added under a former one: all that is no later
  /// than what this database has added last.
  func isOfOtherFile(_ server: RecordVersion, rules: RowRules) -> Bool {
    guard isDirty, let row, let known else { return false }
    return server.clock.shares.contains { share in
      guard share.writer == rules.writer else { return false }
      if row.clock.hasBrought(share) { return false }
      let base = known.clock.share(of: share.column, by: share.writer)?.time ?? .beforeAll
      return share.time > base && !ancestors.contains(Ancestor(share))
    }
  }

  /// What was added under one number and is not in the cloud goes on under another.
  mutating func renumber(from former: Int64, to writer: Int64) {
    guard isDirty, let row, let known else { return }
    for share in row.clock.shares where share.writer == former {
      let base = known.clock.share(of: share.column, by: former)
      guard share != base else { continue }
      if let base {
        self.row?.set(base)
      } else {
        self.row?.removeShare(of: share.column, by: former)
      }
      let sum = share.sum - (base?.sum ?? .zero)
      let moved = CounterShare(column: share.column, writer: writer, time: share.time, sum: sum)
      self.row?.set(moved)
      self.row?.noteSeen(moved, insteadOf: share, in: known.clock)
      // It is one's own, should its answer be lost.
      if !ancestors.contains(Ancestor(moved)) { ancestors.append(Ancestor(moved)) }
    }
  }

  /// The row without what goes on under another number, and turns out to be in the cloud under the one that it was made
  /// under: it was sent before, and its answer was lost, or comes only now.
  func takingBackAdditions(
    of mine: RecordVersion,
    from server: RecordVersion,
    rules: RowRules
  ) -> RecordVersion {
    // What was added to a row that has ended is not in the present one.
    let isOver =
      rules.deletes.policy(for: mine.clock, server.clock) == .deleteWins
      && mine.clock.ends(lifeOf: server.clock)
    if ancestors.isEmpty || isOver { return mine }
    var row = mine
    for share in server.clock.shares
    where share.writer != rules.writer && ancestors.contains(Ancestor(share)) {
      let former = row.clock.share(of: share.column, by: share.writer)
      guard former?.time ?? .beforeAll < share.time,
        var own = row.clock.share(of: share.column, by: rules.writer)
      else { continue }
      row.set(share)
      // Who has deleted the row had seen all of it.
      if row.clock.hasSeen(own) { row.note(seen: [SeenTime(share)]) }
      own.sum = own.sum.adding(from: share.sum, to: former?.sum ?? .zero)
      let isInCloud = [server.clock, known?.clock]
        .contains { $0?.share(of: own.column, by: own.writer) != nil }
      if own.sum == .zero, !isInCloud {
        row.removeShare(of: own.column, by: own.writer)
      } else {
        let former = own
        own.time = own.time.successor
        row.set(own)
        row.noteSeen(own, insteadOf: former, in: nil)
      }
    }
    return row
  }
}

extension RecordClock {
  /// Whether a share is no later than what this database has added last to a row that was given its key.
  fileprivate func hasBrought(_ share: CounterShare) -> Bool {
    guard isArrival else { return false }
    let own = self.share(of: share.column, by: share.writer)?.time ?? .zero
    return share.time < max(created, own.successor)
  }
}
