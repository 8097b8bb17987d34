import CloudSyncCore

extension RecordState {
  /// The row joined with what the cloud has, and with what the policies say of columns that both sides have
  /// changed since the last state that the cloud was known to have.
  func merged(
    _ mine: RecordVersion,
    with server: RecordVersion,
    rules: RowRules
  ) -> RecordVersion {
    var joined = rules.join.join(mine, with: server)
    // What a deletion has ended takes no part.
    let lives = ![mine, server].contains { joined.clock.ends(lifeOf: $0.clock) }
    guard !joined.clock.isDeleted,
      lives || rules.deletes.policy(for: mine.clock, server.clock) == .editWins
    else {
      return joined
    }
    for column in joined.columns where rules.looksAtValues(of: column.name) {
      guard let local = mine[column.name], let theirs = server[column.name],
        column == local || column == theirs,
        let settled = settled(local, with: theirs, over: bases, rules: rules)
      else { continue }
      joined.set(settled)
    }
    return joined
  }

  /// The row joined with what the record has had that it was before.
  ///
  /// It is nothing but the join, so that it may be done by every device, and again: columns have kept their times.
  func merged(_ mine: RecordVersion, with hand: HandOver, rules: RowRules) -> RecordVersion {
    let handed = hand.version
    // Of what was there before anybody captured it the row's own stays.
    var joined = rules.join.join(handed, with: mine)
    joined.foreignFields = mine.foreignFields
    guard !joined.clock.isDeleted else { return joined }
    for column in joined.columns where rules.looksAtValues(of: column.name) {
      guard let other = handed[column.name], let own = mine[column.name],
        column == other || column == own
      else { continue }
      let (local, theirs) = hand.isOfCloud ? (own, other) : (other, own)
      guard let settled = settled(local, with: theirs, over: hand.base, rules: rules) else {
        continue
      }
      joined.set(settled)
    }
    return joined
  }

  /// What a policy makes of a column; nil if the join stands.
  private func settled(
    _ local: VersionedColumn,
    with theirs: VersionedColumn,
    over bases: [VersionedColumn],
    rules: RowRules
  ) -> VersionedColumn? {
    let base = bases.first { UTF8Bytes.equal($0.name, local.name) }
    // What was there before anybody captured it gives way to what the cloud has, unless that is a mere default.
    if local.time <= RecordClock.filling || ValueContent.areEqual(local.value, theirs.value) {
      return nil
    }
    if theirs == base || local == base { return nil }
    // It is in the cloud what this row was made from: its answer was lost. Another value of the same moment as the row's
    // is an edit of another device, which both made in the same millisecond.
    if theirs.time != local.time,
      ancestors.contains(Ancestor(column: local.name, writer: nil, time: theirs.time))
    {
      return nil
    }
    let value = rules.policy.policy(for: local.name)
      .merge(
        ColumnConflict(
          column: local.name,
          ancestor: base?.value,
          local: local.value,
          localTime: local.time,
          server: theirs.value,
          serverTime: theirs.time
        )
      )
    if ValueContent.areEqual(value, theirs.value) { return theirs }
    if ValueContent.areEqual(value, local.value), local.time > theirs.time { return local }
    // Just later than both, so that every device makes the same edit, and nobody's join undoes it.
    return VersionedColumn(
      name: local.name,
      value: value,
      time: max(local.time, theirs.time).successor
    )
  }
}
