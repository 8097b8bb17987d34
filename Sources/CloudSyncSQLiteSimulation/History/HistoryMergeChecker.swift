import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

/// Every commit follows from its parents, every merge is what the specification makes of them, and what is taken back is
/// as if it had never been.
final class HistoryMergeChecker: SimulationChecker {
  let rule = "every merge is what the model makes of its parents"

  func finish(_ end: SimulationEnd) -> String? {
    let devices = end.changesetDevices
    guard let device = devices.first else { return nil }
    var models: [HistoryMergeModel] = []
    for rules in Set(devices.map(\.rules)) {
      models.append(HistoryMergeModel(rules: rules, schema: device.schema))
    }
    do {
      var known: [ChangesetID: HistoryCommit] = [:]
      var all: [HistoryCommit] = []
      let hasOneRule = models.count == 1 && devices.allSatisfy { $0.schema.tagRule == nil }
      var twins = MergeTwins(hasOneRule: hasOneRule)
      var renames = RenameNotes(schema: device.schema)
      for (number, entry) in try device.inspected().commits().enumerated() {
        let parents = entry.commit.header.parents.compactMap { known[$0] }
        let data = device.schema.canonical(
          entry.commit,
          after: renames.all(before: entry.commit),
          unseen: renames.unseen(by: entry.commit)
        )
        renames.add(entry.commit, id: entry.id)
        let state = try HistoryFold.state(
          after: parents.first,
          and: parents.count > 1 ? parents[1] : nil,
          changes: data.changes,
          writer: number,
          isMigration: entry.commit.header.kind == .migration
        )
        let isMerge = entry.commit.header.kind == .merge
        let commit = HistoryCommit(
          number: number,
          id: entry.id,
          parents: parents,
          time: entry.commit.header.time,
          isMerge: isMerge,
          originals: Set(entry.commit.header.originals),
          isReversal: entry.commit.header.reverts != nil,
          state: state
        )
        if isMerge, parents.count == 2 {
          if let text = twins.difference(of: entry.commit, id: entry.id) { return text }
          if let text = HistoryNames.difference(of: commit, from: data) {
            return "merge \(entry.id.short): \(text)"
          }
          // Where devices settle unlike rules any of them may have made it.
          let differences = models.compactMap {
            Self.difference(of: commit, from: data, by: $0, unseen: renames.unseen(by: data))
          }
          if differences.count == models.count {
            return
              "merge \(entry.id.short) of \(parents.compactMap { $0.id?.short }):"
              + " \(differences.sorted().joined(separator: "; by the rules of others "))"
          }
        }
        if let text = Self.reversalDifference(
          of: commit,
          from: data,
          devices: devices,
          known: known,
          all: all
        ) {
          return "commit \(entry.id.short): \(text)"
        }
        known[entry.id] = commit
        all.append(commit)
        for model in models { model.add(commit: commit) }
      }
      return try Self.squashDifference(devices: devices, known: known)
    } catch { return "\((error as? HistoryFault)?.text ?? "\(error)")" }
  }

  /// What a commit that takes another one back has taken with it; nil if nothing.
  private static func reversalDifference(
    of commit: HistoryCommit,
    from data: Commit,
    devices: [ChangesetDevice],
    known: [ChangesetID: HistoryCommit],
    all: [HistoryCommit]
  ) -> String? {
    guard let id = data.header.reverts, let reverted = known[id],
      // What is removed, rewritten or renamed between both nobody can hold against the rows.
      all.allSatisfy(\.originals.isEmpty), devices.allSatisfy({ $0.schema.renames.isEmpty }),
      devices.allSatisfy({ $0.history.withLock { !$0.hasCollected } })
    else { return nil }
    let reversal = HistoryReversal(
      reverting: commit,
      reverted: reverted,
      commits: all,
      rules: Set(devices.map(\.rules))
    )
    let settled = data.conflicts.filter { [.unique, .foreignKey, .check].contains($0.kind) }
      .map { HistoryRowID(table: $0.table, key: $0.key) }
    return reversal.difference(besides: Set(settled))
  }

  /// What another replica has otherwise at the commit that the history begins with; nil if nothing.
  private static func squashDifference(
    devices: [ChangesetDevice],
    known: [ChangesetID: HistoryCommit]
  ) throws -> String? {
    guard let horizon = try devices.first?.inspected().horizon()?.id,
      let wanted = known[horizon]?.state
    else { return nil }
    for device in devices.dropFirst() where device.history.withLock({ !$0.hasCollected }) {
      var states: [ChangesetID: HistoryCommit] = [:]
      for (number, entry) in try device.inspected().commits().enumerated() {
        let parents = entry.commit.header.parents.compactMap { states[$0] }
        let changes = device.schema.canonical(entry.commit).changes
        states[entry.id] = HistoryCommit(
          number: number,
          id: entry.id,
          parents: parents,
          time: entry.commit.header.time,
          isMerge: false,
          state: try HistoryFold.state(after: parents.first, changes: changes, writer: number)
        )
        if entry.id == horizon { break }
      }
      let found = states[horizon]?.state ?? [:]
      for id in Set(wanted.keys).union(found.keys).sorted() {
        let (one, other) = (wanted[id], found[id])
        let columns = (one?.columns ?? []).union(other?.columns ?? []).subtracting(["c"])
        // What columns were filled with the snapshot has, and the commits before it have not.
        if let one, let other, columns.allSatisfy({ one[$0].value == other[$0].value }) { continue }
        return "device \(device.setup.number) has another row \(id.text) where the history begins"
      }
    }
    return nil
  }

  /// What a merge has otherwise than the model; nil if nothing.
  private static func difference(
    of merge: HistoryCommit,
    from data: Commit,
    by model: HistoryMergeModel,
    unseen: Set<RenamedColumn>
  ) -> String? {
    let (first, base, wanted) = model.merge(
      merge.parents[0],
      merge.parents[1],
      number: merge.number
    )
    if first !== merge.parents[0] {
      if !unseen.isEmpty { return nil }
      let counts = merge.parents.map { model.changedCells(from: base, to: $0) }
      return "the first parent is the one with fewer changes: \(counts[0]) of \(counts)"
    }
    // What constraints demand is decided in the open.
    let settled = Set(
      data.conflicts.filter { [.unique, .foreignKey, .check].contains($0.kind) }
        .map { HistoryRowID(table: $0.table, key: $0.key) }
    )
    for id in Set(wanted.keys).union(merge.state.keys).sorted() where !settled.contains(id) {
      switch (wanted[id], merge.state[id]) {
      case (nil, nil): break
      case (nil, _?): return "\(id.text) is there"
      case (_?, nil): return "\(id.text) is not there"
      case (let wanted?, let found?):
        for column in wanted.columns.union(found.columns).sorted() {
          let (one, other) = (wanted[column], found[column])
          if unseen.contains(RenamedColumn(table: id.table, name: column)) { continue }
          // Who merged it may not have known yet what a migration fills the rows of an older app with.
          if column == "c", one.value == .null || other.value == .null { continue }
          if one.value != other.value {
            let sides = ([base].compactMap(\.self) + merge.parents)
              .map { Self.words(row: $0.state[id], column: column) }
            return
              "\(id.text).\(column) is \(other.value.literal), not \(one.value.literal), of \(sides)"
          }
          // An older app does not know either that both sides have it, so that the later time would count.
          if column == "c", one.isNewerOnly { continue }
          // Nor can anybody know what it was made of, beside a renamed column that no row shows.
          if column == "c", unseen.contains(where: { $0.table == id.table }) { continue }
          if one.time != other.time {
            return "\(id.text).\(column) is of \(other.time), not of \(one.time)"
          }
        }
      }
    }
    return nil
  }

  private static func words(row: HistoryRow?, column: String) -> String {
    guard let row else { return "no row" }
    let cell = row[column]
    return "\(cell.value.literal) at \(cell.time) in a row of \(row.time)"
  }
}

/// Which columns were renamed before commits.
private struct RenameNotes {
  let schema: SimulatedSchema
  private var known: [ChangesetID: (all: Set<RenamedColumn>, seen: Set<RenamedColumn>)] = [:]

  init(schema: SimulatedSchema) { self.schema = schema }

  func all(before commit: Commit) -> Set<RenamedColumn> {
    let own = commit.header.originals.isEmpty ? [] : schema.renamed(by: commit).all
    return commit.header.parents.reduce(into: own) { $0.formUnion(known[$1]?.all ?? []) }
  }

  /// Those of which no migration before a commit shows that one column has become the other.
  ///
  /// No row had anything in it: nobody can know it then, and what one side has emptied is as if nobody had.
  func unseen(by commit: Commit) -> Set<RenamedColumn> {
    commit.header.parents.reduce(into: all(before: commit)) {
      $0.subtract(known[$1]?.seen ?? [])
    }
  }

  mutating func add(_ commit: Commit, id: ChangesetID) {
    if schema.renames.isEmpty { return }
    var notes = schema.renamed(by: commit)
    for parent in commit.header.parents {
      notes.all.formUnion(known[parent]?.all ?? [])
      notes.seen.formUnion(known[parent]?.seen ?? [])
    }
    known[id] = notes
  }
}

/// Merges of the same parents, which different replicas have made.
private struct MergeTwins {
  /// Whether all replicas merge by the same rules.
  let hasOneRule: Bool
  private var known: [Set<ChangesetID>: [(id: ChangesetID, commit: Commit)]] = [:]

  init(hasOneRule: Bool) { self.hasOneRule = hasOneRule }

  /// What is wrong with a merge beside others of its parents; nil if nothing is.
  mutating func difference(of merge: Commit, id: ChangesetID) -> String? {
    let parents = Set(merge.header.parents)
    let others = known[parents] ?? []
    known[parents] = others + [(id, merge)]
    // Whose tables are declared otherwise makes a merge of its own schema.
    for other in others
    where other.commit.header.branch == merge.header.branch
      && other.commit.header.schema == merge.header.schema
    {
      if other.commit.changes == merge.changes, other.commit.conflicts == merge.conflicts {
        return "merges \(other.id.short) and \(id.short) say the same"
      }
      // Who does not know yet what a migration fills columns with makes another merge.
      let hasFills = [merge, other.commit]
        .contains { commit in
          commit.changes.tables.contains { !$0.fills.isEmpty }
        }
      if hasOneRule, !hasFills,
        other.commit.changes.tables.map(\.name) == merge.changes.tables.map(\.name)
      {
        return "merges \(other.id.short) and \(id.short) make unlike things of the same parents"
      }
    }
    return nil
  }
}
