import CloudSyncCore

/// What is kept of a row beside its table: everything of its state but the values that the table has.
struct StoredState: Sendable, Hashable {
  private var clock: RecordClock
  /// The values that the table does not have: all if the row is not in it as it is to be, else those of
  /// columns that this version of the app does not know.
  private var kept: [VersionedColumn]
  private var foreignFields: [RecordField]
  private var cloud: CloudRecord?
  private var ancestors: [Ancestor]
  private var formerBase: [VersionedColumn]
  private(set) var placement: Placement
  private(set) var hold: Hold?
  private var conflicts: Int
  /// Of a row whose deletion is put off, what it had that its table does not have, and what was added to its counters.
  private var former: RecordVersion?
  private var forgotten: [SeenTime]
  private var endedLives: [RecordVersion]
  private(set) var isDirty: Bool
  /// Whether it is of a row that is gone.
  private(set) var isTombstone: Bool
  /// Why its edits stay on this device: in columns of its own, beside the coded state.
  var filtering: Filtering?

  /// Takes a state apart; nil if nothing is known of the row.
  ///
  /// - Parameters:
  ///   - state: The row's state.
  ///   - isStored: Whether the table has a column of this name.
  init?(_ state: RecordState, isStored: (String) -> Bool) {
    guard let row = state.row else { return nil }
    clock = row.clock
    isTombstone = state.isDeleted
    let isInTable = state.placement == .inTable && !isTombstone
    kept = row.columns.filter { !isInTable || !isStored($0.name) }
    foreignFields = row.foreignFields
    cloud = state.known
    ancestors = state.ancestors
    formerBase = state.formerBase
    placement = state.placement
    hold = state.hold
    conflicts = state.conflicts
    former =
      state.placement == .deletionDeferred ? state.former.map { $0.kept(beside: isStored) } : nil
    forgotten = state.forgotten
    endedLives = state.endedLives
    isDirty = state.isDirty
    filtering = state.filtering
  }

  /// Whether the cloud is known to have the record.
  var isInCloud: Bool { cloud != nil }

  /// Who is about to delete the record from the cloud, as far as is known.
  var purgeMark: PurgeMark? { cloud?.clock.purge }

  /// The columns of a row in its table whose values are kept beside it, because it did not have them.
  var keptOfTable: [String] {
    placement == .inTable && !isTombstone ? kept.map(\.name) : []
  }

  /// A value that is kept beside the table; nil if none is.
  func keptValue(of column: String) -> FieldValue? {
    kept.place(of: column).map { kept[$0].value }
  }

  /// What a counter counts together; nil for any other column.
  func sum(of column: String) -> FieldValue? { clock.counterSum(of: column)?.fieldValue }

  /// The same of a table whose columns have other names: what the cloud has under the former ones counts no more.
  ///
  /// Another version of the app may have set a column under its new name before: the newer one stays.
  ///
  /// - Parameters:
  ///   - names: The new names by the former ones.
  ///   - policy: What becomes of rows that are deleted here and edited there.
  ///   - isChanged: Whether somebody has changed the row in its table unseen. Then the table's value stands, to be
  ///     compared with what the cloud has under both names.
  ///   - writer: The number under which this database adds to counters.
  ///   - filled: The former names of columns that have more than their default: others who had no more may have sent that
  ///     under the new name, and it is as if this device had filled the new column.
  /// - Returns: The state.
  func renamed(
    _ names: [String: String],
    deletes policy: DeletePolicy,
    isChanged: Bool,
    writer: Int64,
    filled: [String]
  ) -> StoredState {
    if names.isEmpty { return self }
    var renamed = self
    let former = names.keys.sortedByBytes()
    for old in former {
      guard let new = names[old] else { continue }
      let isFilled = filled.contains { UTF8Bytes.equal($0, old) }
      renamed.rename(old, to: new, noEarlierThan: isFilled ? RecordClock.filling : .zero)
      if isChanged, !keptOfTable.isEmpty {
        renamed.kept.removeAll { UTF8Bytes.equal($0.name, new) }
      }
    }
    if let cloud {
      renamed.forgotten += cloud.clock.seenTimes(of: former, deletes: policy)
      renamed.cloud = cloud.without(former)
      for old in former {
        guard let new = names[old], let sent = cloud.clock.share(of: old, by: writer) else {
          continue
        }
        renamed.keepSent(sent, as: new)
      }
    }
    return renamed
  }

  /// Remembers what this database has sent of a counter under its former name.
  ///
  /// Others who rename it bring that back under the new one, an older addition too. It has not been sent under that yet.
  private mutating func keepSent(_ share: CounterShare, as name: String) {
    guard var record = cloud else { return }
    var sent = share
    sent.column = name
    if clock.share(of: name, by: share.writer) == sent { sent.time = sent.time.predecessor }
    let known = record.clock.share(of: name, by: share.writer)
    if known.map({ $0.time >= sent.time }) ?? false { return }
    record.clock.set(sent)
    cloud = record
  }

  private mutating func rename(_ old: String, to new: String, noEarlierThan least: HybridTime) {
    if let place = clock.columns.place(of: old) {
      let column = clock.columns.remove(at: place)
      let time = max(column.time, least)
      let value = kept.place(of: old).map { kept.remove(at: $0).value }
      let other = clock.time(of: new)
      // Of what was there before on both sides the cloud's stays, and what others have counted.
      if other.map({ $0 < time }) ?? clock.shares(of: new).isEmpty {
        clock.columns.removeAll { UTF8Bytes.equal($0.name, new) }
        kept.removeAll { UTF8Bytes.equal($0.name, new) }
        let next = clock.columns.indices.firstPlace {
          UTF8Bytes.order(clock.columns[$0].name, new) > 0
        }
        clock.columns.insert(
          ColumnTime(name: new, time: time, life: column.life),
          at: next
        )
        if let value {
          kept.append(
            VersionedColumn(name: new, value: value, time: time, life: column.life)
          )
          kept.sort { UTF8Bytes.order($0.name, $1.name) < 0 }
        }
      }
    }
    let isOld = { (name: String) in UTF8Bytes.equal(name, old) }
    for place in endedLives.indices { endedLives[place].rename(old, to: new) }
    clock.renameShares(of: old, to: new)
    clock.note(
      seen: clock.seen.filter { isOld($0.column) }
        .map { SeenTime(column: new, writer: $0.writer, time: $0.time) }
    )
    for place in ancestors.indices where isOld(ancestors[place].column) {
      ancestors[place].column = new
    }
    former?.rename(old, to: new)
    formerBase = formerBase.map { $0.renamed(old, to: new) }
  }

  /// The columns that the cloud has of a row, and whose values are nowhere here since they were dropped.
  func forgottenColumns(value: (String) -> FieldValue?) -> [String] {
    guard !isTombstone, let cloud else { return [] }
    return clock.columns.map(\.name)
      .filter { name in
        kept.place(of: name) == nil && cloud.clock.columns.place(of: name) != nil
          && value(name) == nil
      }
  }

  /// How many other rows are kept beside it that had its key.
  var displacedCount: Int {
    if isTombstone || endedLives.isEmpty { return 0 }
    return endedLives.count { clock.displaces($0.clock) }
  }

  /// Puts a state together again.
  ///
  /// A column whose value is nowhere has been dropped from the table: it is not known here any more, which is
  /// no edit of it.
  ///
  /// - Parameters:
  ///   - policy: What becomes of rows that are deleted here and edited there.
  ///   - value: What the table has in a column; nil if it has no such column.
  /// - Returns: The state.
  func state(deletes policy: DeletePolicy, value: (String) -> FieldValue?) -> RecordState {
    var columns: [VersionedColumn] = []
    var dropped: [String] = []
    for column in clock.columns {
      let known = kept.place(of: column.name).map { kept[$0].value } ?? value(column.name)
      if let known {
        columns.append(VersionedColumn(column, value: known))
      } else {
        dropped.append(column.name)
      }
    }
    var state = RecordState()
    var row = RecordVersion(clock: clock, columns: columns)
    row.foreignFields = foreignFields
    state.forgotten = forgotten
    if let cloud {
      state.forgotten += cloud.clock.seenTimes(of: dropped, deletes: policy)
      state.cloud = .present(dropped.isEmpty ? cloud : cloud.without(dropped))
    }
    state.row = row
    state.ancestors = ancestors
    state.formerBase = formerBase
    state.placement = placement
    state.hold = hold
    state.conflicts = conflicts
    state.former = former
    state.endedLives = endedLives
    state.filtering = filtering
    return state
  }
}

extension CloudRecord {
  /// The record without columns that are not known here any more.
  fileprivate func without(_ names: [String]) -> CloudRecord {
    let isDropped = { (name: String) in names.contains { UTF8Bytes.equal($0, name) } }
    var record = self
    record.clock.columns.removeAll { isDropped($0.name) }
    record.clock.shares.removeAll { isDropped($0.column) }
    record.values.removeAll { isDropped($0.name) }
    record.differing.removeAll(where: isDropped)
    return record
  }
}

extension RecordVersion {
  /// The same without the values that a table has.
  fileprivate func kept(beside isStored: (String) -> Bool) -> RecordVersion {
    RecordVersion(clock: clock, columns: columns.filter { !isStored($0.name) })
  }

  /// Gives a column another name, of a version that is kept beside its table; what another version of the app has set under
  /// that name stays if it is newer.
  fileprivate mutating func rename(_ old: String, to new: String) {
    var clock = clock
    clock.renameShares(of: old, to: new)
    let isNewer = clock.time(of: new).map { $0 >= clock.time(of: old) ?? .zero } ?? false
    let less = isNewer ? old : new
    let columns = columns.filter { self[old] == nil || !UTF8Bytes.equal($0.name, less) }
    self = RecordVersion(clock: clock, columns: columns.map { $0.renamed(old, to: new) })
  }
}

extension RecordClock {
  /// Gives the shares of a counter another name.
  ///
  /// A database has all that it ever added in the one that it set last: what it had added before it renamed the counter
  /// is in both.
  fileprivate mutating func renameShares(of old: String, to new: String) {
    let former = shares(of: old)
    if former.isEmpty { return }
    shares.removeAll { UTF8Bytes.equal($0.column, old) }
    for var share in former {
      share.column = new
      guard let other = self.share(of: new, by: share.writer) else {
        set(share)
        continue
      }
      // Who had the row without the counter has found nothing there, whatever others had.
      let isFound = share.writer == CounterShare.found
      if isFound, share.sum == .zero { continue }
      if other.time < share.time || isFound && other.sum == .zero { set(share) }
    }
  }
}

extension VersionedColumn {
  /// The same under a new name, if it has the old one.
  fileprivate func renamed(_ old: String, to new: String) -> VersionedColumn {
    UTF8Bytes.equal(name, old)
      ? VersionedColumn(name: new, value: value, time: time, life: life) : self
  }
}

extension RecordVersion: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    let clock = try coder.field("clock") { $0.clock }
    self.init(clock: clock, columns: try coder.field("columns") { $0.columns })
  }
}

extension StoredState: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    clock = try coder.field("clock") { $0.clock }
    kept = try coder.field("kept") { $0.kept }
    foreignFields = try coder.field("foreignFields") { $0.foreignFields }
    cloud = try coder.field("cloud") { $0.cloud }
    ancestors = try coder.field("ancestors") { $0.ancestors }
    formerBase = try coder.field("formerBase") { $0.formerBase }
    placement = try coder.field("placement") { $0.placement }
    hold = try coder.field("hold") { $0.hold }
    conflicts = try coder.field("conflicts") { $0.conflicts }
    former = try coder.field("former") { $0.former }
    forgotten = try coder.field("forgotten") { $0.forgotten }
    endedLives = try coder.field("endedLives") { $0.endedLives }
    isDirty = try coder.field("isDirty") { $0.isDirty }
    isTombstone = try coder.field("isTombstone") { $0.isTombstone }
  }
}
