import CloudSyncCore

/// A record as one side has it: a state that is joined with others, never a message to be applied.
///
/// - Invariant: There is a value for every column of the clock. A counter that has shares newer than its
///   own column has no column: its value is the sum of its shares.
struct RecordVersion: Sendable, Hashable {
  private(set) var clock: RecordClock
  /// The values of the clock's columns, in their order; null means NULL.
  private(set) var values: [FieldValue]
  /// Fields of the record that belong to no column, sorted by name: they are whoever's wrote last.
  var foreignFields: [RecordField] = []

  /// A version of columns in any order, each there once.
  init(clock: RecordClock = RecordClock(), columns: [VersionedColumn] = []) {
    self.clock = clock
    let sorted = columns.sorted { UTF8Bytes.order($0.name, $1.name) < 0 }
    self.clock.columns = sorted.map { ColumnTime($0) }
    values = sorted.map(\.value)
    dropPassedCounters()
  }

  var created: HybridTime {
    get { clock.created }
    set { clock.created = newValue }
  }

  var deleted: HybridTime {
    get { clock.deleted }
    set { clock.deleted = newValue }
  }

  var ended: HybridTime { clock.ended }

  var purge: PurgeMark? {
    get { clock.purge }
    set { clock.purge = newValue }
  }

  /// The columns with their values, but for counters that have shares.
  var columns: [VersionedColumn] {
    zip(clock.columns, values).map { VersionedColumn($0, value: $1) }
  }

  /// A column's version; nil if the side does not know it, or it is a counter with shares.
  subscript(name: String) -> VersionedColumn? {
    clock.columns.place(of: name)
      .map { VersionedColumn(clock.columns[$0], value: values[$0]) }
  }

  /// What the row has in a column: the column's value, or the sum of the counter's shares; nil if the side
  /// does not know it.
  func value(of name: String) -> FieldValue? {
    if let place = clock.columns.place(of: name) { return values[place] }
    return counterSum(of: name)?.fieldValue
  }

  /// The sum of a counter's shares; nil if it has none.
  func counterSum(of name: String) -> CounterSum? { clock.counterSum(of: name) }

  /// Whether a table has the same row for both.
  func isSameRow(as other: RecordVersion) -> Bool {
    let isDeleted = clock.isDeleted
    if isDeleted != other.clock.isDeleted { return false }
    if isDeleted { return true }
    let names = columnNames
    return names.count == other.columnNames.count
      && names.allSatisfy { name in
        guard let mine = value(of: name), let theirs = other.value(of: name) else { return false }
        return ValueContent.areEqual(mine, theirs)
      }
  }

  /// The names of all columns that the side knows, counters with shares too, each once.
  var columnNames: [String] { clock.columnNames }

  // MARK: Changes

  /// Sets a column.
  mutating func set(_ column: VersionedColumn) {
    let (place, isNew) = clock.set(ColumnTime(column))
    if isNew { values.insert(column.value, at: place) } else { values[place] = column.value }
  }

  /// The version with what the cloud has in columns where a table has no more than its type makes of that.
  func taking(_ server: RecordVersion, _ rules: RowRules) -> RecordVersion {
    var version = self
    for (place, column) in clock.columns.enumerated() {
      guard let theirs = server[column.name], theirs.time == column.time,
        rules.isImage(column.name, values[place], theirs.value)
      else { continue }
      version.values[place] = theirs.value
    }
    return version
  }

  /// Takes what a column has held since it was set: a row that is gone from its table has no values.
  mutating func recall(_ value: FieldValue, of name: String) {
    if let place = clock.columns.place(of: name) { values[place] = value }
  }

  /// Notes which row a column refers to.
  mutating func note(_ reference: ReferenceLife) {
    guard let place = clock.columns.place(of: reference.column) else { return }
    clock.columns[place].life = reference.life
  }

  /// Sets a share of a counter.
  mutating func set(_ share: CounterShare) {
    clock.set(share)
    dropPassedCounters()
  }

  mutating func note(seen versions: [SeenTime]) { clock.note(seen: versions) }

  mutating func noteSeen(
    _ share: CounterShare,
    insteadOf former: CounterShare,
    in base: RecordClock?
  ) {
    clock.noteSeen(share, insteadOf: former, in: base)
  }

  /// Gives the records other names as which the row's lives go on.
  mutating func renameMoves(_ name: (String) -> String) { clock.renameMoves(name) }

  mutating func note(inClock moves: [RowMove]) { clock.note(moves: moves) }

  /// A life that begins after those that a record has had, of which stays what nobody may forget: additions, so that those
  /// of others are not counted twice, what was seen, and where rows have gone.
  init(after former: RecordVersion?, at time: HybridTime, as row: RowOrigin? = nil) {
    var clock = RecordClock()
    if let former {
      (clock.deleted, clock.ended) = (former.deleted, former.ended)
      clock.endings = former.clock.endings
      (clock.shares, clock.seen) = (former.clock.shares, former.clock.seen)
      clock.moves = former.clock.moves
    }
    self.init(clock: clock)
    begin(at: time, as: row)
  }

  /// Begins a life, after all that have ended; one of a row that is given its key after its own ones and those of rows that
  /// were inserted with it: when others were deleted here does not make it any younger.
  mutating func begin(at time: HybridTime, as row: RowOrigin? = nil) {
    let end = row.map { clock.end(of: $0) } ?? max(clock.lastDeletion, clock.lastMoved)
    clock.created = max(time, end.successor, clock.ended.successor)
    clock.first = nil
    clock.row = row
  }

  /// Has its life have begun no earlier than at a time: as the same row, also for those who know it as it was.
  mutating func delayBeginning(to time: HybridTime) {
    guard time > created else { return }
    if !clock.isArrival, created > RecordClock.foundCreation {
      clock.first = clock.first ?? created
    }
    created = time
  }

  /// Takes part as the row that another version is of.
  mutating func adopt(_ row: RowOrigin?) { clock.row = row }

  /// Forgets columns, and what was added to them.
  mutating func removeColumns(_ names: [String]) {
    for name in names {
      clock.shares.removeAll { UTF8Bytes.equal($0.column, name) }
      guard let place = clock.columns.place(of: name) else { continue }
      clock.columns.remove(at: place)
      values.remove(at: place)
    }
  }

  mutating func removeShare(of column: String, by writer: Int64) {
    clock.shares.removeAll { $0.writer == writer && UTF8Bytes.equal($0.column, column) }
  }

  /// Forgets what columns were set to since the cloud got them; that they were set is seen all the same.
  mutating func forget(unsent names: [String], of cloud: RecordClock?) {
    for name in names {
      guard let place = clock.columns.place(of: name) else { continue }
      let time = clock.columns[place].time
      let base = cloud?.column(named: name)
      if base?.time == time { continue }
      clock.note(seen: [SeenTime(column: name, writer: nil, time: time)])
      if let base {
        clock.columns[place] = base
      } else {
        clock.columns.remove(at: place)
        values.remove(at: place)
      }
    }
  }

  /// Ends the row's life: of its columns nothing stays, or, where edits win, everything, and what was seen of it.
  mutating func end(at time: HybridTime, deletes policy: DeletePolicy) {
    guard let row = clock.row else { return end(created, at: time, deletes: policy) }
    clock.note(endings: [RowEnding(row: row, life: created, time: max(time, created))])
    forget(deletes: policy)
  }

  /// The same, and all lives until one, by when it began.
  mutating func end(_ life: HybridTime, at time: HybridTime, deletes policy: DeletePolicy) {
    clock.ended = max(clock.ended, life)
    clock.deleted = max(clock.deleted, time, life)
    forget(deletes: policy)
  }

  /// Forgets what the row had whose life has ended.
  mutating func forget(deletes policy: DeletePolicy) {
    purge = nil
    foreignFields = []
    clock.first = nil
    guard policy == .editWins else {
      values = []
      clock.columns = []
      clock.shares = []
      clock.seen = []
      return
    }
    let columns = clock.columns.map { SeenTime(column: $0.name, writer: nil, time: $0.time) }
    let shares = clock.shares.map { SeenTime(column: $0.column, writer: $0.writer, time: $0.time) }
    clock.note(seen: columns + shares)
  }

  /// Whether something was added to a counter that nobody has taken back; of reals the last bits do not tell.
  func hasAddition(to column: String) -> Bool {
    let sums = clock.shares(of: column).map(\.sum)
    switch CounterSum.total(of: sums) {
    case .whole(let sum): return sum != 0
    case .real(let sum):
      let largest = sums.lazy.map { abs($0.real) }.max() ?? 0
      return abs(sum) > largest * 1e-9
    }
  }

  /// A counter's column gives way to shares that are newer.
  ///
  /// One that is no number, such as NULL, counts as zero: who has set it has taken back all that was known to be added,
  /// so it also gives way to what others have added beside it.
  private mutating func dropPassedCounters() {
    if clock.shares.isEmpty { return }
    var newest: [ColumnTime] = []
    for share in clock.shares {
      if let last = newest.last, UTF8Bytes.equal(last.name, share.column) {
        newest[newest.count - 1].time = max(last.time, share.time)
      } else {
        newest.append(ColumnTime(name: share.column, time: share.time))
      }
    }
    for share in newest {
      guard let place = clock.columns.place(of: share.name),
        clock.columns[place].time < share.time
          || CounterSum(values[place]) == nil && hasAddition(to: share.name)
      else { continue }
      clock.columns.remove(at: place)
      values.remove(at: place)
    }
  }
}

extension ColumnTime {
  /// What a clock tells of a column.
  init(_ column: VersionedColumn) {
    self.init(name: column.name, time: column.time, life: column.life)
  }
}

extension VersionedColumn {
  /// What a clock tells of a column, with its value.
  init(_ column: ColumnTime, value: FieldValue) {
    self.init(name: column.name, value: value, time: column.time, life: column.life)
  }
}

extension CounterShare {
  /// Whether it comes before another one in a clock.
  func precedes(_ other: CounterShare) -> Bool {
    let order = UTF8Bytes.order(column, other.column)
    return order != 0 ? order < 0 : writer < other.writer
  }
}

extension SeenTime {
  func precedes(_ other: SeenTime) -> Bool {
    let order = UTF8Bytes.order(column, other.column)
    return order != 0
      ? order < 0
      : (writer ?? .min, writer == nil ? 0 : 1) < (
        other.writer ?? .min, other.writer == nil ? 0 : 1
      )
  }
}
