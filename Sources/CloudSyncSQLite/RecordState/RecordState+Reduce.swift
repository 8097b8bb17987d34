import CloudSyncCore

extension RecordState {
  /// The first wait of a row that is refused in passing, and the longest, in milliseconds.
  static let firstWait: Int64 = 30_000
  static let longestWait: Int64 = 3_600_000

  /// Takes an event; returns what has to be done.
  mutating func reduce(_ event: RecordEvent, rules: RowRules) -> [RecordAction] {
    #if DEBUG
    if let reduce = RecordMutation.reduce { return reduce(&self, event, rules) }
    #endif
    return reduceSoundly(event, rules: rules)
  }

  mutating func reduceSoundly(_ event: RecordEvent, rules: RowRules) -> [RecordAction] {
    let mine = isDeleted ? nil : row
    var actions = take(event, rules: rules)
    noteFormer(mine, before: event, rules: rules)
    if case .removal = hold, known == nil || !isDeleted { hold = nil }
    if placement == .deletionDeferred, row != nil, !isDeleted {
      // It lives again before its deletion was carried out.
      placement = .inTable
      if !actions.contains(.writeRow) { actions.append(.writeRow) }
    }
    return actions
  }

  /// Keeps what a row had that is deleted elsewhere.
  private mutating func noteFormer(
    _ mine: RecordVersion?,
    before event: RecordEvent,
    rules: RowRules
  ) {
    if !isDeleted { return former = nil }
    switch event {
    case .has, .conflict:
      if let mine { former = mine }
    case .placed(.deletionDeferred): break
    case .placed: former = nil
    default: break
    }
  }

  private mutating func take(_ event: RecordEvent, rules: RowRules) -> [RecordAction] {
    switch event {
    case .edited(let edit): return take(edit, rules: rules)
    case .has(let tag, let version): return take(version, tag: tag, rules: rules)
    // The rest tells of a row that is known; an answer may come when it is not any more.
    default: return row == nil ? [] : takeRest(of: event, rules: rules)
    }
  }

  private mutating func takeRest(of event: RecordEvent, rules: RowRules) -> [RecordAction] {
    switch event {
    case .edited, .has: return []
    case .conflict(let tag, let former, let version, let now):
      return takeConflict(with: version, tag: tag, over: former, now: now, rules: rules)
    case .saved(let tag, let former, let version):
      takeSave(of: version, tag: tag, over: former, rules: rules)
      return returnDisplaced(rules: rules)
    case .missing(let tag, let now): return takeMissing(tag: tag, now: now, rules: rules)
    case .refused(let code, let reason, let isPassing, let wait, let now):
      if code == .quotaExceeded, hasUnsentEnd(by: rules), hold == nil, row?.clock.moves == [] {
        // One that tells as which record a row goes on stays: others may have edited it under its former key.
        hold = .removal(isDue: false)
        return [.fetch]
      }
      take(refusal: code, reason: reason, isPassing: isPassing, wait: wait, now: now)
      return []
    case .retried:
      endRefusal()
      return []
    case .vanished: return takeAbsence(rules: rules)
    case .absent(let tag): return awaitsAnswer(over: tag) ? takeAbsence(rules: rules) : []
    case .fetchEnded: return takeEndOfFetch()
    case .zoneReplaced:
      leaveZone(rules: rules)
      return []
    case .completed(let columns):
      complete(with: columns, rules: rules)
      return []
    case .recalled(let columns): return recall(columns, rules: rules)
    case .renumbered(let former, let writer):
      renumber(from: former, to: writer)
      return []
    case .marked(let mark):
      if !isDirty, row != nil, isDeleted { row?.purge = mark }
      return []
    case .purging:
      hold = .nextFetch(missing: nil)
      return []
    case .placed(let placement):
      self.placement = placement
      return []
    }
  }

  /// Whether an answer counts to a save of the record as it was with a tag, or of a new record.
  ///
  /// If a page has told of it since, or of what others have made of it, what is known is no older than the answer.
  func awaitsAnswer(over former: String?) -> Bool {
    row != nil && UTF8Bytes.equal(known?.tag, former)
  }

  // MARK: What the cloud says

  private mutating func take(
    _ server: RecordVersion,
    tag: String,
    rules: RowRules
  ) -> [RecordAction] {
    guard let own = row else {
      row = server
      cloud = .present(rules.record(server, tag: tag, over: server))
      return server.clock.isDeleted ? [] : [.writeRow]
    }
    let isKnown = known.map { UTF8Bytes.equal($0.tag, tag) } ?? false
    if !isKnown, isOfOtherFile(server, rules: rules) { return [.renumber] }
    // It is there: whatever an answer said, it has not vanished.
    if case .nextFetch = hold { hold = .nextFetch(missing: nil) }
    if isKnown { return [] }
    let wasDirty = isDirty
    let mine = takingBackAdditions(of: own.taking(server, rules), from: server, rules: rules)
    let isBehind = known.map { server.clock.isBehind($0.clock, deletes: rules.deletes) } ?? true
    let merged = wasDirty || isBehind ? merged(mine, with: server, rules: rules) : server
    let joined = endedLives.rejoin(merged, rules: rules)
    if wasDirty { addAncestors(rules: rules) }
    let handed =
      handOverEndedLives(by: joined.clock)
      + handOvers(
        of: mine,
        wasDirty: wasDirty,
        base: known?.values ?? [],
        beside: server,
        rules: rules
      )
    forgotten = []
    // The one that has lost the key in the cloud too: the next save writes over it.
    noteEndedLife(server, by: joined, wasDirty: false, rules: rules)
    noteEndedLife(mine, by: joined, wasDirty: wasDirty, rules: rules)
    row = joined
    cloud = .present(rules.record(server, tag: tag, over: joined))
    let returned = returnDisplaced(rules: rules)
    // What comes of it descends from both sides.
    if isDirty { addAncestors(rules: rules) } else { settleEdits() }
    if !returned.isEmpty { return handed + returned }
    return placement == .inTable && joined.isSameRow(as: mine)
      ? handed : handed + [.writeRow]
  }

  private mutating func takeConflict(
    with server: RecordVersion,
    tag: String,
    over former: String?,
    now: Int64,
    rules: RowRules
  ) -> [RecordAction] {
    guard awaitsAnswer(over: former) else { return [] }
    let actions = take(server, tag: tag, rules: rules)
    if actions.contains(.renumber) { return actions }
    conflicts = isDirty ? conflicts + 1 : 0
    let reason = "others have changed the record again and again while it was sent"
    _ = giveUpIfFutile(code: .serverRecordChanged, reason: reason, now: now, rules: rules)
    return actions
  }

  /// Has the row wait once it has met too many answers of one kind in a row; returns whether it waits for that.
  private mutating func giveUpIfFutile(
    code: SyncError.Code,
    reason: String,
    now: Int64,
    rules: RowRules
  ) -> Bool {
    guard conflicts > rules.conflictBudget else { return false }
    conflicts = 0
    // What waits for a fetch is not sent anyway.
    if case .nextFetch = hold { return false }
    take(refusal: code, reason: reason, isPassing: true, wait: nil, now: now)
    return true
  }

  private mutating func takeSave(
    of sent: RecordVersion,
    tag: String,
    over former: String?,
    rules: RowRules
  ) {
    guard let mine = row, awaitsAnswer(over: former) else { return }
    let row = takingBackAdditions(of: mine, from: sent, rules: rules)
    self.row = row
    cloud = .present(rules.record(sent, tag: tag, over: row, savedOver: known))
    conflicts = 0
    endRefusal()
    if !isDirty { settleEdits() }
  }

  private mutating func takeMissing(tag: String?, now: Int64, rules: RowRules) -> [RecordAction] {
    guard awaitsAnswer(over: tag) else { return [] }
    conflicts = isDirty ? conflicts + 1 : 0
    let reason = "the cloud says again and again that it lacks the record, and brings it"
    if giveUpIfFutile(code: .unknownItem, reason: reason, now: now, rules: rules) { return [] }
    // A refusal before has passed, or it would not have been sent.
    hold = .nextFetch(missing: known?.tag)
    return [.fetch]
  }

  /// Whether the row was deleted, and the cloud's record is not known to tell that.
  private func hasUnsentEnd(by rules: RowRules) -> Bool {
    isDeleted && known?.clock.isDeleted == false
  }

  /// The feed has told of absence, or a look-up: what vanished is joined with a tombstone of what the cloud had.
  private mutating func takeAbsence(rules: RowRules) -> [RecordAction] {
    // A row that was found in the table, or is made anew, is not of what is gone.
    guard let mine = row, let known else { return [] }
    let isNewLife = mine.clock.begins(after: known.clock)
    let isEdited =
      rules.deletes.policy(for: known.clock) == .editWins && isDirty
      && known.isEdited(in: mine.clock)
    // A full storage has had the record deleted: its tombstone follows, for those who have not heard of that.
    guard hasUnsentEnd(by: rules) || !isDeleted && (isNewLife || isEdited) else {
      self = RecordState()
      return [.forget]
    }
    loseRecord(rules: rules)
    return []
  }

  private mutating func takeEndOfFetch() -> [RecordAction] {
    if case .removal = hold { hold = .removal(isDue: true) }
    guard case .nextFetch(let missing) = hold else { return [] }
    // The feed has said nothing since: it had told before, or the answer was wrong.
    if let missing, let known, UTF8Bytes.equal(missing, known.tag) { return [.lookUp] }
    hold = nil
    return []
  }

  private mutating func leaveZone(rules: RowRules) {
    loseRecord(rules: rules)
    row?.purge = nil
  }

  /// Whatever the cloud had counts no more: the row is made anew.
  private mutating func loseRecord(rules: RowRules) {
    addAncestors(rules: rules)
    // With it has gone what had kept the row in a column that was dropped here.
    if row?.clock.isDeleted == true, !isDeleted {
      row?.begin(at: .zero)
    }
    cloud = .absent
    forgotten = []
    // Those that have lost the key to another row are on this device alone, and so is what waits for another record.
    endedLives.removeAll { life in
      guard let clock = row?.clock else { return true }
      return !clock.displaces(life.clock) && clock.move(of: life.clock) == nil
    }
    conflicts = 0
    // It still waits for the fetch to end, but for no word of a record.
    if case .nextFetch = hold { hold = .nextFetch(missing: nil) }
  }

  private mutating func take(
    refusal code: SyncError.Code,
    reason: String,
    isPassing: Bool,
    wait: Int64?,
    now: Int64
  ) {
    // A page has made it clean meanwhile.
    guard isDirty else { return }
    var count = 1
    if case .refusal(let former) = hold { count = former.count + 1 }
    let grown = min(Self.longestWait, Self.firstWait << Int64(min(count - 1, 16)))
    let next = isPassing ? now + max(grown, wait ?? 0) : nil
    hold = .refusal(
      CloudRefusal(code: Int64(code.rawValue), reason: reason, count: count, next: next)
    )
  }

  // MARK: Parts

  /// Notes the versions that the row was made from.
  private mutating func addAncestors(rules: RowRules) {
    noteAncestors(of: row?.clock, rules: rules)
    noteAncestors(of: known?.clock, rules: rules)
  }

  private mutating func settleEdits() {
    ancestors = []
    formerBase = []
    conflicts = 0
    endRefusal()
  }

  mutating func endRefusal() {
    switch hold {
    case .refusal, .removal: hold = nil
    case nil, .nextFetch: break
    }
  }

  /// Notes that a column which is as old as the cloud's may have another value: what the cloud has is of a life that has
  /// ended.
  mutating func noteDifference(in name: String) {
    guard var record = known, let time = record.clock.time(of: name), row?[name]?.time == time,
      time <= RecordClock.filling || record.clock.created != row?.created,
      !record.differing.contains(where: { UTF8Bytes.equal($0, name) })
    else { return }
    record.differing.append(name)
    record.differing.sort { UTF8Bytes.order($0, $1) < 0 }
    cloud = .present(record)
  }

  private mutating func recall(_ columns: [VersionedColumn], rules: RowRules) -> [RecordAction] {
    if let hand = recalledByMove(columns, rules: rules) { return [.handOver(hand)] }
    guard var record = known, var mine = row, !isDeleted,
      // Those of a life that has ended are not the row's.
      mine.created == record.clock.created
    else { return [] }
    var actions: [RecordAction] = []
    for column in columns
    where !rules.isCounter(column.name) && record.clock.time(of: column.name) == nil {
      record.clock.set(ColumnTime(column))
      if rules.looksAtValues(of: column.name) { record.values.append(column) }
      if let own = mine[column.name] {
        // The table has the column again.
        if RecordJoin.outranks(own, cloud: column) { continue }
        actions = [.writeRow]
      }
      mine.set(column)
    }
    record.values.sort { UTF8Bytes.order($0.name, $1.name) < 0 }
    forgotten.removeAll { one in columns.contains { UTF8Bytes.equal($0.name, one.column) } }
    row = mine
    cloud = .present(record)
    if !isDirty { settleEdits() }
    return actions
  }

  private mutating func complete(with columns: [VersionedColumn], rules: RowRules) {
    guard let row, !isDeleted else { return }
    for column in columns where row.value(of: column.name) == nil {
      if rules.isCounter(column.name), let sum = CounterSum(column.value) {
        self.row?.set(CounterShare(column: column.name, found: sum))
      } else {
        self.row?.set(column)
        noteDifference(in: column.name)
      }
    }
  }
}

extension Ancestor {
  init(_ column: ColumnTime) { self.init(column: column.name, writer: nil, time: column.time) }

  init(_ share: CounterShare) {
    self.init(column: share.column, writer: share.writer, time: share.time)
  }
}

extension CounterShare {
  /// What a counter held before anybody counted.
  init(column: String, found sum: CounterSum, time: HybridTime = .zero) {
    self.init(column: column, writer: Self.found, time: time, sum: sum)
  }
}

extension RowRules {
  /// What is kept of a record that the cloud has, beside the row as it is here.
  fileprivate func record(
    _ server: RecordVersion,
    tag: String,
    over row: RecordVersion,
    savedOver known: CloudRecord? = nil
  ) -> CloudRecord {
    let columns = server.columns
    return CloudRecord(
      tag: tag,
      clock: server.clock,
      values: columns.filter { looksAtValues(of: $0.name) },
      differing:
        columns.filter { column in
          guard let mine = row[column.name] else { return false }
          return mine.time == column.time && !ValueContent.areEqual(mine.value, column.value)
        }
        .map(\.name),
      aside: asideFields(server, known)
    )
  }
}
