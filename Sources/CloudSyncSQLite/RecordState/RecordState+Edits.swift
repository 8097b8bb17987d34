import CloudSyncCore

extension RecordState {
  /// Takes an edit of the table.
  mutating func take(_ edit: RowEdit, rules: RowRules) -> [RecordAction] {
    endRefusal()
    conflicts = 0
    switch edit {
    case .inserted(let columns, let time): return takeInsert(of: columns, at: time, rules: rules)
    case .updated(let columns, let time): return takeUpdate(of: columns, at: time, rules: rules)
    case .deleted(let columns, let time):
      // What SQLite has refused for the row does not stand any more: the user's own deletion has taken it out.
      let actions: [RecordAction] = placement.isViolation ? [.writeRow] : []
      guard var row, !isDeleted else { return actions }
      for column in columns { recall(column.value, of: column.name, in: &row) }
      end(row, at: time, rules: rules)
      return actions
    case .lost(let names, let time):
      guard var row, !isDeleted else { return [] }
      row.forget(unsent: names, of: known?.clock)
      end(row, at: time, rules: rules)
      return []
    case .found(let columns):
      guard row == nil else { return [] }
      var found = RecordVersion()
      found.created = RecordClock.foundCreation
      for column in columns {
        found.insert(column, at: .zero, by: CounterShare.found, rules: rules)
      }
      change(to: found, rules: rules)
      return []
    case .settled(let columns, let created):
      var row = self.row ?? RecordVersion()
      row.settle(columns, created: created, rules: rules)
      change(to: row, rules: rules)
      return [.writeRow]
    case .restored(let columns):
      takeRestoration(of: columns, rules: rules)
      return []
    case .renamed(let moves):
      guard var row else { return [] }
      row.note(moves: moves)
      change(to: row, rules: rules)
      return handOverEndedLives(by: row.clock)
    case .moved(let columns, let origin, let time):
      return takeMove(of: columns, from: origin, at: time, rules: rules)
    case .handed(let hand): return take(hand, rules: rules)
    case .withheld(let hand):
      endedLives.keepLife(hand.version.withheld(from: hand.move), rules: rules)
      return []
    case .referred(let references):
      for reference in references { row?.note(reference) }
      return []
    }
  }

  /// Ends the row's life; whoever does that has seen all that is known of it.
  private mutating func end(_ row: RecordVersion, at time: HybridTime, rules: RowRules) {
    var row = row
    row.end(at: time, deletes: rules.deletes)
    row.note(seen: forgotten)
    forgotten = []
    change(to: row, rules: rules)
  }

  private mutating func takeInsert(
    of columns: [ColumnEdit],
    at time: HybridTime,
    rules: RowRules
  ) -> [RecordAction] {
    // A row that is there already was written over, or is kept by the engine: then all columns are edited.
    if row != nil, !isDeleted {
      // Who has made a row where the table had none has begun its life: a deletion before that does not end it.
      if placement != .inTable { self.row?.delayBeginning(to: time) }
      return takeUpdate(of: columns, at: time, rules: rules)
    }
    var new = RecordVersion(after: row, at: time)
    for column in columns { new.insert(column, at: new.created, by: rules.writer, rules: rules) }
    change(to: new, rules: rules)
    return placement == .inTable && row?.has(columns) == true ? [] : [.writeRow]
  }

  /// Begins a new life just after the deletion, with what the row had: two devices that do that do not count it twice.
  ///
  /// Where edits win the deleted row has its columns still.
  private mutating func takeRestoration(of columns: [ColumnEdit], rules: RowRules) {
    guard var row, isDeleted else { return }
    row.begin(at: .zero)
    row.purge = nil
    row.foreignFields = []
    // Columns that its table does not have are of newer versions of the app.
    let others = former?.columns.map { ColumnEdit(name: $0.name, value: $0.value) }
    for column in columns + (others ?? []) where row.value(of: column.name) == nil {
      row.restore(column, rules: rules)
    }
    change(to: row, rules: rules)
  }

  private mutating func takeUpdate(
    of columns: [ColumnEdit],
    at time: HybridTime,
    rules: RowRules
  ) -> [RecordAction] {
    guard var row else { return [] }
    if isDeleted {
      // The table may still have a row whose deletion is put off: its life has ended, unless edits win, or it goes on.
      if let hand = takeUpdateOfMoved(columns, at: time, rules: rules) { return [.handOver(hand)] }
      guard rules.deletes.policy(for: row.clock) == .editWins, placement == .deletionDeferred
      else { return [] }
    }
    for column in columns {
      if let former = column.former { recall(former, of: column.name, in: &row) }
      row.update(column, at: time, by: rules.writer, rules: rules)
    }
    change(to: row, rules: rules)
    return placement == .inTable && self.row?.has(columns) == true ? [] : [.writeRow]
  }

  /// Takes an edit of a row that has got another key elsewhere, while its table has it under the former one; returns what
  /// goes along with it, or nil if there is no such row.
  private mutating func takeUpdateOfMoved(
    _ columns: [ColumnEdit],
    at time: HybridTime,
    rules: RowRules
  ) -> HandOver? {
    guard placement == .deletionDeferred, let clock = row?.clock,
      let move = clock.move(of: former?.clock ?? clock)
    else { return nil }
    var life = former ?? RecordVersion()
    var hand = life.part(of: columns, at: time, going: move, rules: rules)
    // Where nothing is known of the life any more, what was counted in it before is not part of what goes along.
    hand.ancestors.note(ancestors.filter { former != nil || $0.writer == nil })
    former = life
    return hand
  }

  /// Takes what a column has held before an edit.
  ///
  /// When the edit is heard of, the table has the new value already: so what the cloud has is told too, if it is
  /// the same version.
  private mutating func recall(_ value: FieldValue, of name: String, in row: inout RecordVersion) {
    guard let own = row[name] else { return }
    let isInCloud = known?.clock.time(of: name) == own.time
    // What the cloud has need not be kept here, a large value in a file least of all.
    let value = isInCloud && ValueContent.areEqual(own.value, value) ? own.value : value
    row.recall(value, of: name)
    guard var record = known, let place = record.values.place(of: name),
      record.values[place].time == own.time,
      !record.differing.contains(where: { UTF8Bytes.equal($0, name) })
    else { return }
    record.values[place].value = value
    cloud = .present(record)
  }

  /// The versions of before the edit, and that of the edit, are ancestors of all that comes of it.
  mutating func change(to row: RecordVersion, rules: RowRules) {
    noteAncestors(of: self.row?.clock, rules: rules)
    self.row = row
    noteAncestors(of: row.clock, rules: rules)
    noteDifferences(fromEnded: row)
    guard var record = known, !record.differing.isEmpty else { return }
    // What differs in time does not differ by its value alone.
    record.differing.removeAll { row[$0]?.time != record.clock.time(of: $0) }
    cloud = .present(record)
  }

  /// Notes the columns of another life than the cloud's that are as old as the cloud's.
  ///
  /// What was there before, or was filled later, has the same time in every row; and devices that do not know of each
  /// other may give the same one to edits of two rows, which were the same record one after the other.
  private mutating func noteDifferences(fromEnded row: RecordVersion) {
    guard let record = known, record.clock.created != row.created else { return }
    for column in row.clock.columns { noteDifference(in: column.name) }
  }

  /// Notes the versions of a clock that the row was made from.
  mutating func noteAncestors(of clock: RecordClock?, rules: RowRules) {
    guard let clock else { return }
    ancestors.note(clock.ancestors(rules: rules))
    ancestors.note(clock.shares.filter { $0.writer == rules.writer }.map(Ancestor.init))
  }
}

extension [Ancestor] {
  mutating func note(_ versions: [Ancestor]) {
    for one in versions where !contains(one) { append(one) }
  }
}

extension RecordClock {
  /// The versions of the columns that a policy looks at, counters aside.
  func ancestors(rules: RowRules) -> [Ancestor] {
    columns.filter { rules.looksAtValues(of: $0.name) }.map(Ancestor.init)
  }
}

extension RecordVersion {
  /// Takes a column of a row that has to be there again.
  fileprivate mutating func restore(_ column: ColumnEdit, rules: RowRules) {
    if rules.isCounter(column.name), let number = CounterSum(column.value) {
      set(CounterShare(column: column.name, found: number, time: created))
    } else {
      set(VersionedColumn(name: column.name, value: column.value, time: created))
    }
  }

  /// Takes an edit of a row that has got another key; returns what goes along with it.
  fileprivate mutating func part(
    of columns: [ColumnEdit],
    at time: HybridTime,
    going move: RowMove,
    rules: RowRules
  ) -> HandOver {
    let counters = columns.map(\.name).filter(rules.isCounter)
    let counted = counters.map { clock.addition(to: $0, by: rules.writer) }
    let ancestors = clock.ancestors(rules: rules)
    for column in columns { update(column, at: time, by: rules.writer, rules: rules) }
    let isEdited = { (name: String) in columns.contains { UTF8Bytes.equal($0.name, name) } }
    var part = RecordVersion(columns: self.columns.filter { isEdited($0.name) })
    for share in clock.shares where isEdited(share.column) { part.set(share) }
    return HandOver(
      move: move,
      version: part.handed(by: move),
      ancestors: ancestors,
      counted: counted,
      isPart: true
    )
  }

  /// Takes a column of a row that is new.
  fileprivate mutating func insert(
    _ column: ColumnEdit,
    at time: HybridTime,
    by writer: Int64,
    rules: RowRules
  ) {
    guard rules.isCounter(column.name) else {
      return set(VersionedColumn(name: column.name, value: column.value, time: time))
    }
    // Where edits win the former row's counts are kept: the new one begins beside them.
    count(column, from: counterSum(of: column.name), at: time, by: writer)
  }

  /// Takes a column of a row that was given its key: a counter with all that was added to it under the former one, so that
  /// additions of others are counted once.
  mutating func arrive(
    _ column: ColumnEdit,
    from origin: MovedRow,
    at time: HybridTime,
    by writer: Int64,
    rules: RowRules
  ) {
    guard rules.isCounter(column.name) else {
      return set(VersionedColumn(name: column.name, value: column.value, time: time))
    }
    // Where edits win the counts of a row that was deleted under this key are kept too.
    for share in origin.version?.shares(of: column.name) ?? [] {
      let kept = clock.share(of: column.name, by: share.writer)
      if kept.map({ $0.time < share.time }) ?? true { set(share) }
    }
    let former = counterSum(of: column.name)
    if let number = CounterSum(column.value) {
      if number != former { count(column, from: former, at: time, by: writer) }
    } else if hasAddition(to: column.name) {
      count(column, from: former, at: time, by: writer)
    } else {
      let last = clock.shares(of: column.name).reduce(time) { max($0, $1.time) }
      set(VersionedColumn(name: column.name, value: column.value, time: last))
    }
  }

  /// Whether it has what the table was given: a counter's sum may be another one.
  func has(_ edited: [ColumnEdit]) -> Bool {
    edited.allSatisfy { column in
      value(of: column.name).map { ValueContent.areEqual($0, column.value) } ?? false
    }
  }

  /// What was added to a counter, as shares.
  private func shares(of column: String) -> [CounterShare] {
    let shares = clock.shares(of: column)
    guard shares.isEmpty, let known = self[column], let found = CounterSum(known.value) else {
      return shares
    }
    return [CounterShare(column: column, found: found, time: known.time)]
  }

  /// Takes what a counter was set to: what was added to what it held; what is no number sets it to nothing.
  ///
  /// `former` is what it held; nil for one that nobody has counted.
  private mutating func count(
    _ column: ColumnEdit,
    from former: CounterSum?,
    at time: HybridTime,
    by writer: Int64
  ) {
    let shares = clock.shares(of: column.name)
    // Nobody's additions are newer, or the one that is set would give way to them.
    let time = shares.reduce(time) { max($0, $1.time.successor) }
    if let number = CounterSum(column.value) {
      let own = clock.share(of: column.name, by: writer)?.sum ?? .zero
      let sum = own.adding(from: former ?? .zero, to: number)
      set(CounterShare(column: column.name, writer: writer, time: time, sum: sum))
    } else {
      set(VersionedColumn(name: column.name, value: column.value, time: time))
      if former == nil { return }
      let others = shares.filter { $0.writer != writer }.map(\.sum)
      let sum = CounterSum.opposite(of: others)
      set(CounterShare(column: column.name, writer: writer, time: time, sum: sum))
    }
  }

  /// Takes an edit that several devices may make, of a row that is as young as the younger one of theirs.
  fileprivate mutating func settle(
    _ columns: [VersionedColumn],
    created time: HybridTime,
    rules: RowRules
  ) {
    if clock.isDeleted {
      begin(at: time)
      purge = nil
    } else {
      delayBeginning(to: time)
    }
    for column in columns { settle(column, rules: rules) }
  }

  /// Takes a column of an edit that several devices may make: what it adds to a counter is counted once.
  private mutating func settle(_ column: VersionedColumn, rules: RowRules) {
    let time = max(column.time, self[column.name]?.time.successor ?? .zero)
    guard rules.isCounter(column.name) else {
      return set(VersionedColumn(name: column.name, value: column.value, time: time))
    }
    for share in shares(of: column.name) { set(share) }
    let edit = ColumnEdit(name: column.name, value: column.value)
    count(edit, from: counterSum(of: column.name), at: time, by: CounterShare.found)
  }

  /// Takes an edit of a column of a row that is there.
  fileprivate mutating func update(
    _ column: ColumnEdit,
    at time: HybridTime,
    by writer: Int64,
    rules: RowRules
  ) {
    let known = clock.time(of: column.name) ?? .zero
    // The clock is later than all that was seen; were it not, an edit would have no effect.
    let time = max(time, known.successor)
    guard rules.isCounter(column.name) else {
      return set(VersionedColumn(name: column.name, value: column.value, time: time))
    }
    for share in shares(of: column.name) { set(share) }
    if column.former == nil, let number = CounterSum(column.value) {
      // It was captured before the column was a counter: what it sets is what was there before anybody counted.
      let counted = clock.shares(of: column.name).filter { $0.writer != CounterShare.found }
      let sum = CounterSum.opposite(of: counted.map(\.sum)).adding(from: .zero, to: number)
      let found = CounterShare.found
      return set(CounterShare(column: column.name, writer: found, time: time, sum: sum))
    }
    let total = counterSum(of: column.name) ?? .zero
    // From what was no number it begins with nothing.
    let former =
      CounterSum(column.value) == nil ? total : column.former.flatMap { CounterSum($0) } ?? total
    count(column, from: former, at: time, by: writer)
  }
}
