import CloudSyncCore

@testable import CloudSyncSQLite

extension Model {
  /// A device that holds a row as the model does, and beside it as the real machine does.
  struct Device {
    var id: Int
    /// The numbers that it has had.
    private var formerIDs: Set<Int> = []
    let rules: Rules
    /// Gives numbers to files that are found to be copies.
    let numbers: Numbers
    // Kept in the database, always written in one transaction:
    var rows: [Int: Row] = [:]
    var machines: [Int: Machine] = [:]
    var token: Token?
    var zone: Int?
    var isZoneReady = false
    private var clock = 0
    /// Keys that a fetch of everything has not told about yet, and those that it has.
    var sweep: Set<Int>?
    private var named: Set<Int> = []
    /// How many columns this version of the app has.
    var knows = 2
    private var made = 0
    // Lost in a crash:
    var answer: Answer?
    /// The first part of a request that was split.
    private(set) var held: [(item: Item, answer: ItemAnswer)] = []
    private var isOvertaken = false
    private var marks: Set<Int> = []

    init(id: Int, rules: Rules, numbers: Numbers) {
      self.id = id
      self.rules = rules
      self.numbers = numbers
    }

    mutating func crash() { (answer, held, marks) = (nil, [], []) }

    /// Starts on a copy of another device's database, under a number of its own.
    func copied(as writer: Int) -> Device {
      var copy = self
      copy.id = writer
      copy.crash()
      return copy
    }

    private mutating func tick(_ wall: Int) -> Int {
      clock = max(clock + 1, wall)
      return clock * 8 + id % 8
    }

    private mutating func see(_ state: RowState) {
      for time in [state.created, state.deleted] + state.parts.map(\.time) {
        clock = max(clock, time / 8)
      }
    }

    /// Lets the real machine do the same as the model has done.
    private mutating func mirror(_ key: Int, _ event: RecordEvent) {
      var machine = machines[key] ?? Machine()
      machine.take(event, as: id, rules, expecting: rows[key])
      machines[key] = machine
    }

    // MARK: Edits

    mutating func find(_ key: Int, _ columns: Int, _ value: inout Int) {
      var state = RowState(created: 1, deleted: 0, editWins: rules.editWins)
      for name in 0..<columns {
        value += 1
        state.columns[name] = Column(time: 0, value: value)
      }
      state.counter[Model.found] = Share(time: 0, sum: 100)
      write(key, state)
      mirror(key, .edited(.found(Machine.edits(of: state, counter: 100))))
    }

    mutating func insert(_ key: Int, _ columns: Int, _ wall: Int, _ value: inout Int) {
      if let row = rows[key], !row.local.isDeleted { return }
      let time = tick(wall)
      var state = RowState(
        created: time,
        deleted: rows[key]?.local.deleted ?? 0,
        editWins: rules.editWins
      )
      state.ended = rows[key]?.local.ended ?? 0
      if rules.editWins, let old = rows[key]?.local {
        (state.seen, state.seenShares, state.counter) = (old.seen, old.seenShares, old.counter)
      }
      for name in 0..<columns {
        value += 1
        state.columns[name] = Column(time: time, value: value)
      }
      // The new row's counter begins with nothing.
      let own = state.counter[id]?.sum ?? 0
      state.counter[id] = Share(time: time, sum: own - state.counterValue)
      write(key, state)
      let at = HybridTime(rawValue: Int64(time))
      mirror(key, .edited(.inserted(Machine.edits(of: state, counter: 0), at: at)))
    }

    mutating func update(_ key: Int, _ column: Int, _ wall: Int, _ value: inout Int) {
      guard var state = rows[key]?.local, !state.isDeleted else { return }
      value += 1
      let time = tick(wall)
      state.columns[column] = Column(time: time, value: value)
      write(key, state)
      let edit = ColumnEdit(name: Machine.name(column), value: Machine.value(value))
      mirror(key, .edited(.updated([edit], at: HybridTime(rawValue: Int64(time)))))
    }

    mutating func add(_ key: Int, _ amount: Int, _ wall: Int) -> Bool {
      guard var state = rows[key]?.local, !state.isDeleted else { return false }
      let (time, former) = (tick(wall), state.counterValue)
      state.counter[id] = Share(time: time, sum: (state.counter[id]?.sum ?? 0) + amount)
      write(key, state)
      let edit = ColumnEdit(
        name: Machine.counter,
        value: .int64(Int64(former + amount)),
        former: .int64(Int64(former))
      )
      mirror(key, .edited(.updated([edit], at: HybridTime(rawValue: Int64(time)))))
      return true
    }

    mutating func delete(_ key: Int, _ wall: Int) {
      guard let row = rows[key], !row.local.isDeleted else { return }
      let time = tick(wall)
      var state = RowState(created: row.local.created, deleted: time, editWins: rules.editWins)
      state.ended = row.local.created
      if rules.editWins {
        state.columns = row.local.columns
        state.counter = row.local.counter
        // What was seen of a former life stays seen, also of columns that this version of the app does not know.
        state.seen = row.local.columns.mapValues(\.time)
          .merging(row.local.seen, uniquingKeysWith: max)
        state.seenShares = row.local.counter.mapValues(\.time)
          .merging(row.local.seenShares, uniquingKeysWith: max)
      }
      write(key, state)
      mirror(key, .edited(.deleted([], at: HybridTime(rawValue: Int64(time)))))
    }

    private mutating func write(_ key: Int, _ state: RowState) {
      var row = rows[key] ?? Row(local: state)
      row.ancestors.formUnion(row.local.parts)
      row.local = state
      row.ancestors.formUnion(state.parts)
      rows[key] = row
    }

    // MARK: What the cloud says

    /// A share under this file's number that this file has not written: it is a copy, or was set back.
    private mutating func renumber() {
      let former = id
      formerIDs.insert(former)
      id = numbers.next()
      for (key, row) in rows {
        if row.isDirty, let mine = row.local.counter[former], let known = row.base,
          mine != known.counter[former]
        {
          let base = known.counter[former]
          rows[key]?.local.counter[former] = base
          rows[key]?.local.counter[id] = Share(time: mine.time, sum: mine.sum - (base?.sum ?? 0))
          rows[key]?.ancestors.insert(Part(writer: id, time: mine.time))
          if let seen = row.local.seenShares[former], seen >= mine.time {
            let others = [base?.time, known.seenShares[former]].compactMap(\.self).max()
            rows[key]?.local.seenShares[former] = others
            rows[key]?.local.seenShares[id] = mine.time
          }
        }
        mirror(key, .renumbered(from: Machine.writer(former), to: Machine.writer(id)))
      }
    }

    private func isOfOtherFile(_ server: RowState, _ row: Row) -> Bool {
      guard row.isDirty, let base = row.base, let share = server.counter[id] else { return false }
      let isNew = share.time > base.counter[id]?.time ?? -1
      return isNew && !row.ancestors.contains(Part(writer: id, time: share.time))
    }

    /// Takes back what goes on under this file's number, and is in the cloud under one that it had before.
    private func takenBack(_ row: Row, _ server: RowState) -> RowState {
      var local = row.local
      if !rules.editWins, server.created <= local.deleted { return local }
      for (writer, share) in server.counter
      where formerIDs.contains(writer)
        && row.ancestors.contains(Part(writer: writer, time: share.time))
      {
        let former = local.counter[writer]
        guard former?.time ?? -1 < share.time, let own = local.counter[id] else { continue }
        local.counter[writer] = share
        if let seen = local.seenShares[id], seen >= own.time {
          local.seenShares[writer] = max(local.seenShares[writer] ?? 0, share.time)
        }
        let sum = own.sum - (share.sum - (former?.sum ?? 0))
        let time = own.time + (own.time % 2 == 0 ? 1 : 2)
        let isInCloud = server.counter[id] != nil || row.base?.counter[id] != nil
        local.counter[id] = sum == 0 && !isInCloud ? nil : Share(time: time, sum: sum)
        if local.counter[id] != nil, let seen = local.seenShares[id], seen >= own.time {
          local.seenShares[id] = time
        }
      }
      return local
    }

    /// The cloud has this state of a record: the only way in which anything from the cloud gets in.
    private mutating func take(_ key: Int, _ tag: Int, _ server: RowState, asConflict: Int? = nil) {
      see(server)
      sweep?.remove(key)
      named.insert(key)
      let former = rows[key]?.tag
      let event = Machine.event(server, tag: tag, over: former, asConflict: asConflict)
      if let old = rows[key], old.tag != tag, isOfOtherFile(server, old) {
        machines[key]?.expectRenumbering(event, as: id, rules)
        renumber()
      }
      if let row = rows[key] {
        if row.tag != tag { rows[key] = taken(row, tag, server) }
      } else {
        rows[key] = Row(local: server, base: server, tag: tag)
      }
      mirror(key, event)
      complete(key)
    }

    private func taken(_ old: Row, _ tag: Int, _ server: RowState) -> Row {
      var row = old
      row.local = takenBack(old, server)
      // A clean row takes it as it is, unless that would set it back.
      if old.isDirty || old.base.map({ server.isBehind($0) }) ?? true {
        row.local = row.local.joined(with: server)
        // What a deletion has ended takes no part.
        let lives = min(old.local.created, server.created) > row.local.deleted
        if rules.serverFirst, lives, let mine = old.local.columns[1],
          let theirs = server.columns[1], [mine, theirs].contains(row.local.columns[1])
        {
          let base = old.base?.columns[1]
          let isConflict =
            theirs != base && mine != base
            && !row.ancestors.contains(Part(column: 1, time: theirs.time))
          if isConflict { row.local.columns[1] = theirs }
        }
      } else {
        row.local = server
      }
      row.base = server
      row.tag = tag
      row.ancestors =
        row.isDirty
        ? row.ancestors.union(row.local.parts).union(old.local.parts)
          .union(old.base?.parts ?? []).union(server.parts) : []
      return row
    }

    /// Columns that an older version of the app did not know are of the time zero: the first to see the
    /// row sends them.
    mutating func complete(_ key: Int) {
      guard let row = rows[key], !row.local.isDeleted else { return }
      var columns: [VersionedColumn] = []
      for name in 0..<knows where row.local.columns[name] == nil {
        made += 1
        let column = Column(time: 0, value: 1_000_000 * (id + 1) + made)
        rows[key]?.local.columns[name] = column
        columns.append(Machine.column(name, column))
      }
      if !columns.isEmpty { mirror(key, .completed(columns)) }
    }

    /// The cloud has no record any more: it was purged, or somebody else has removed it.
    private mutating func vanish(_ key: Int) {
      sweep?.remove(key)
      named.insert(key)
      loseRecord(key)
      if rows[key] != nil || machines[key] != nil { mirror(key, .vanished) }
    }

    private mutating func loseRecord(_ key: Int) {
      guard var row = rows[key], let base = row.base else { return }
      let wasDirty = row.isDirty
      row.ancestors.formUnion(base.parts + row.local.parts)
      row.base = nil
      row.tag = nil
      // A life that began after what is gone stays; it is made anew. So does, where edits win, an edit.
      let isEdited = row.local.columns != base.columns || row.local.counter != base.counter
      let isNewer =
        row.local.created > max(base.created, base.deleted)
        || rules.editWins && wasDirty && isEdited
      rows[key] = !row.local.isDeleted && isNewer ? row : nil
    }

    /// The zone is another one: nothing that was acknowledged counts; tombstones are sent again, too.
    private mutating func enter(_ zone: Int) {
      // What this fetch has told about is of the new one already.
      for key in rows.keys where !named.contains(key) {
        let known = rows[key]?.base?.parts ?? []
        let own = rows[key]?.local.parts ?? []
        rows[key]?.ancestors.formUnion(known + own)
        rows[key]?.base = nil
        rows[key]?.tag = nil
        rows[key]?.local.purger = nil
        mirror(key, .zoneReplaced)
      }
      self.zone = zone
    }

    mutating func deliver(splits: Bool = false) {
      guard let answer else {
        if !held.isEmpty { settle(held, isLate: isOvertaken) }
        held = []
        return
      }
      self.answer = nil
      switch answer {
      case .zoneNotFound: (isZoneReady, token, sweep) = (false, nil, nil)
      case .zoneCreated: isZoneReady = true
      case .tokenExpired: (token, sweep) = (nil, nil)
      case .deleted(let keys): for key in keys { vanish(key) }
      case .modified(let items):
        if splits, held.isEmpty {
          (held, isOvertaken) = (items, false)
        } else {
          settle(items, isLate: false)
        }
      case .page(let page): take(page)
      }
    }

    private mutating func take(_ page: Page) {
      isOvertaken = true
      if page.isWhole { named = [] }
      let isEnd = page.changed.isEmpty && page.deleted.isEmpty
      if page.token.zone != zone, !rules.comesLate { enter(page.token.zone) }
      if page.isWhole { sweep = Set(rows.filter { $0.value.base != nil }.map(\.key)) }
      for (key, tag, state) in page.changed { take(key, tag, state) }
      for key in page.deleted where page.token.zone == zone || named.contains(key) { vanish(key) }
      if isEnd {
        if page.token.zone != zone {
          enter(page.token.zone)
          sweep = nil
        }
        for key in sweep ?? [] { vanish(key) }
        sweep = nil
        for key in rows.keys.sorted() { endFetch(key) }
      }
      token = page.token
    }

    private mutating func endFetch(_ key: Int) {
      rows[key]?.awaitsFetch = false
      let missing = rows[key]?.missing
      rows[key]?.missing = nil
      mirror(key, .fetchEnded)
      guard let missing, missing == rows[key]?.tag else { return }
      // The feed has said nothing since: it had told before, as the look-up says at once.
      loseRecord(key)
      mirror(key, .vanished)
      mirror(key, .fetchEnded)
    }

    /// A response that a page has overtaken is dropped: its rows are still dirty, and asked about again.
    private mutating func settle(_ items: [(item: Item, answer: ItemAnswer)], isLate: Bool) {
      if isLate { return }
      for (item, answer) in items {
        let key = item.key
        switch answer {
        case .saved(let tag):
          guard let row = rows[key] else { continue }
          let local = takenBack(row, item.state)
          rows[key]?.local = local
          rows[key]?.base = item.state
          rows[key]?.tag = tag
          if rows[key]?.isDirty == false { rows[key]?.ancestors = [] }
          if item.state.purger?.by == id { marks.insert(key) }
          let former = item.tag.map { "\($0)" }
          mirror(key, .saved(tag: "\(tag)", over: former, Machine.version(item.state)))
        case .conflict(let tag, let server): take(key, tag, server, asConflict: clock)
        case .unknownItem:
          guard rows[key] != nil else { continue }
          rows[key]?.awaitsFetch = true
          if let tag = rows[key]?.tag { rows[key]?.missing = tag }
          mirror(key, .missing(tag: rows[key]?.tag.map { "\($0)" }, now: 0))
        }
      }
    }

    // MARK: What it asks

    /// A life is not written over a tombstone that somebody is about to remove.
    func sendable(limit: Int, wall: Int) -> [Item] {
      guard held.isEmpty else { return [] }
      return
        rows.filter { _, row in
          let isMarked = row.base?.purger.map { wall - $0.since <= Model.lease } ?? false
          return row.isDirty && !row.awaitsFetch && !isMarked
        }
        .sorted { $0.key < $1.key }.prefix(limit)
        .map { Item(key: $0, state: $1.local, tag: $1.tag, base: $1.base) }
    }

    /// Only right after the mark, in the same run; nobody else touches it for the lease.
    func purgeable(_ wall: Int) -> [Int] {
      guard held.isEmpty else { return [] }
      return
        rows.filter { key, row in
          guard let mark = row.base?.purger, mark.by == id, !row.awaitsFetch else { return false }
          return marks.contains(key) && wall - mark.since <= Model.lease / 2
        }
        .map(\.key).sorted()
    }

    mutating func beginPurging(_ keys: [Int]) {
      // Should the response be lost, only a fetch may tell whether it is to be repeated.
      for key in keys {
        rows[key]?.awaitsFetch = true
        mirror(key, .purging)
      }
    }

    mutating func mark(_ key: Int, _ wall: Int) {
      rows[key]?.local.purger = Mark(since: wall, by: id)
      let since = Int64(wall) * Machine.unit
      mirror(key, .marked(PurgeMark(writer: Machine.writer(id), since: since)))
    }
  }

  /// Gives numbers that no other file has.
  final class Numbers {
    private(set) var last = 9

    func next() -> Int {
      last += 1
      return last
    }
  }
}
