import CloudSyncCore

/// The join of two versions of a record: the same on every device, in whatever order versions meet.
///
/// A deletion ends every row that was created before it, with all edits of that row, whenever they were
/// made. What lives on both sides is joined column by column: the newer version wins, of two of the same time
/// the one with the greater bytes. Where edits win nothing ends so: the deleted row keeps its columns, and lives
/// if one of them is newer than what whoever deleted it had seen. They win on all devices, whatever their own policy, if
/// one of the versions tells that they do.
///
/// What of a life comes that goes on under another key is handed on: see ``RowMove``.
///
/// What was there before anybody captured it has the time zero, and gives way to what the cloud has. So the
/// join is symmetric but for that: `cloud` is the side that such values are taken from.
struct RecordJoin {
  var deletes: DeletePolicy
  /// Columns that are taken from one side together, such as those of one foreign key.
  var groups: [[String]] = []

  init(deletes: DeletePolicy, groups: [[String]] = []) {
    self.deletes = deletes
    self.groups = groups
  }

  func join(_ local: RecordVersion, with cloud: RecordVersion) -> RecordVersion {
    let policy = deletes.policy(for: local.clock, cloud.clock)
    if policy != deletes {
      return RecordJoin(deletes: policy, groups: groups).join(local, with: cloud)
    }
    var clock = RecordClock()
    clock.deleted = max(local.deleted, cloud.deleted)
    clock.ended = max(local.ended, cloud.ended)
    clock.moves = cloud.clock.moves
    clock.note(moves: local.clock.moves)
    clock.endings = cloud.clock.endings
    clock.note(endings: local.clock.endings)
    noteLife(of: local, and: cloud, in: &clock)
    if deletes == .editWins { clock.seen = seen(of: local.clock.seen, and: cloud.clock.seen) }
    let mine = part(of: local, in: clock)
    let theirs = part(of: cloud, in: clock)
    clock.shares = shares(of: mine.clock.shares, and: theirs.clock.shares)
    var joined = RecordVersion(clock: clock, columns: columns(of: mine, and: theirs))
    joined.foreignFields = theirs.foreignFields
    if joined.clock.isDeleted {
      joined.foreignFields = cloud.foreignFields
      joined.purge = later(of: local.purge, and: cloud.purge)
    }
    return joined
  }

  /// Notes which row it is, and when its present life began: the younger one of both, but for one that has ended.
  ///
  /// That one need not be the older one, where both have been given the key without knowing of each other.
  private func noteLife(
    of local: RecordVersion,
    and cloud: RecordVersion,
    in clock: inout RecordClock
  ) {
    var sides = [local, cloud]
    if !clock.moves.isEmpty {
      let staying = sides.filter { clock.move(of: $0.clock) == nil }
      if !staying.isEmpty { sides = staying }
    }
    if sides.contains(where: { $0.clock.isArrival }) {
      let living = sides.filter { !clock.ends(lifeOf: $0.clock) }
      if !living.isEmpty { sides = living }
    }
    clock.created = sides.map(\.created).max() ?? .zero
    // Of two rows that got one key at the same time it is the same one on all devices.
    clock.row =
      sides.filter { $0.created == clock.created }.map(\.clock.row)
      .max { $0.precedes($1) } ?? nil
    if !clock.isArrival { clock.first = firstLife(of: sides, in: clock) }
  }

  /// When the first of the lives began that are one row from now on; nil if there is but one.
  private func firstLife(of sides: [RecordVersion], in clock: RecordClock) -> HybridTime? {
    let lives = sides.map(\.clock)
      .filter { !$0.isArrival && $0.created > RecordClock.foundCreation && !clock.ends(lifeOf: $0) }
    let first = lives.map { $0.first ?? $0.created }.min()
    return first == clock.created ? nil : first
  }

  /// What of a version is the record's: a life that goes on as another one has taken its columns along, also where edits
  /// win.
  ///
  /// What another row has that got the same key is not this one's. Where edits win, of one that was deleted there that goes
  /// on in it which whoever deleted it had not seen.
  private func part(of version: RecordVersion, in clock: RecordClock) -> RecordVersion {
    let hasEnded = clock.ends(lifeOf: version.clock)
    if deletes == .deleteWins, hasEnded { return RecordVersion() }
    if !clock.moves.isEmpty, clock.move(of: version.clock) != nil { return RecordVersion() }
    if version.clock.isOfSameRow(as: clock) || version.created == .zero { return version }
    if !hasEnded || deletes == .deleteWins { return RecordVersion() }
    var part = version
    part.removeColumns(
      version.columnNames.filter { name in
        guard let time = version.clock.time(of: name) else { return true }
        return !clock.isUnseen(name, at: time)
      }
    )
    return part
  }

  private func later(of mine: PurgeMark?, and theirs: PurgeMark?) -> PurgeMark? {
    guard let mine, let theirs else { return mine ?? theirs }
    return (mine.since, mine.writer) > (theirs.since, theirs.writer) ? mine : theirs
  }

  // MARK: Columns

  private func columns(of mine: RecordVersion, and theirs: RecordVersion) -> [VersionedColumn] {
    let (left, right) = (mine.columns, theirs.columns)
    var joined: [VersionedColumn] = []
    joined.reserveCapacity(max(left.count, right.count))
    walk(left, beside: right, by: { UTF8Bytes.order($0.name, $1.name) }) { one, other in
      guard let one, let other else { return joined += [one ?? other].compactMap { $0 } }
      joined.append(Self.outranks(one, cloud: other) ? one : other)
    }
    for group in groups { unite(group, in: &joined, of: mine, and: theirs) }
    return joined
  }

  /// Whether a version of a column stays when the cloud has another.
  static func outranks(_ local: VersionedColumn, cloud: VersionedColumn) -> Bool {
    if local.time != cloud.time { return local.time > cloud.time }
    if local.time <= RecordClock.filling { return false }
    if ValueContent.precedes(cloud.value, local.value) { return true }
    // Of one reference to two rows that have had the same key the younger one is meant.
    guard let life = local.life, ValueContent.areEqual(cloud.value, local.value) else {
      return false
    }
    return cloud.life.map { $0.precedes(life) } ?? true
  }

  /// Takes the columns of a group from the side that has set one of them last.
  ///
  /// Half of a reference to one row and half of one to another would refer to neither.
  private func unite(
    _ group: [String],
    in columns: inout [VersionedColumn],
    of mine: RecordVersion,
    and theirs: RecordVersion
  ) {
    let left = group.compactMap { mine[$0] }
    let right = group.compactMap { theirs[$0] }
    guard left.count == group.count, right.count == group.count else { return }
    let leads = zip(left, right).map { Self.outranks($0, cloud: $1) }
    guard leads.contains(true), leads.contains(false) else { return }
    let (mineLast, theirLast) = (left.map(\.time).max(), right.map(\.time).max())
    // Of two sides that are equally new the first column that differs decides.
    let first = zip(left, right)
      .first { $0.time != $1.time || !ValueContent.areEqual($0.value, $1.value) }
    let takesMine =
      mineLast != theirLast
      ? mineLast ?? .zero > theirLast ?? .zero : first.map { Self.outranks($0, cloud: $1) } ?? false
    for column in takesMine ? left : right {
      if let place = columns.place(of: column.name) { columns[place] = column }
    }
  }

  // MARK: Shares

  private func shares(of mine: [CounterShare], and theirs: [CounterShare]) -> [CounterShare] {
    if mine.isEmpty { return theirs }
    var joined: [CounterShare] = []
    walk(mine, beside: theirs, by: { $0.precedes($1) ? -1 : $1.precedes($0) ? 1 : 0 }) {
      one,
      other in
      guard let one, let other else { return joined += [one ?? other].compactMap { $0 } }
      joined.append(one.time > other.time ? one : other)
    }
    return joined
  }

  private func seen(of mine: [SeenTime], and theirs: [SeenTime]) -> [SeenTime] {
    if mine.isEmpty { return theirs }
    var joined: [SeenTime] = []
    walk(mine, beside: theirs, by: { $0.precedes($1) ? -1 : $1.precedes($0) ? 1 : 0 }) {
      one,
      other in
      guard let one, let other else { return joined += [one ?? other].compactMap { $0 } }
      joined.append(one.time > other.time ? one : other)
    }
    return joined
  }

  /// Goes through two sorted lists, pairing what is in both.
  private func walk<Element>(
    _ lhs: [Element],
    beside rhs: [Element],
    by order: (Element, Element) -> Int,
    visit: (Element?, Element?) -> Void
  ) {
    var (left, right) = (0, 0)
    while left < lhs.count || right < rhs.count {
      let order = left == lhs.count ? 1 : right == rhs.count ? -1 : order(lhs[left], rhs[right])
      visit(order <= 0 ? lhs[left] : nil, order >= 0 ? rhs[right] : nil)
      if order <= 0 { left += 1 }
      if order >= 0 { right += 1 }
    }
  }
}
