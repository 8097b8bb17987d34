import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// The merge as it is specified, made of whole states: slow, and plain enough to be believed.
///
/// It knows nothing of constraints: what these make of a merge is for others to judge.
final class HistoryMergeModel {
  private let rules: SimulatedMergeRules
  /// By table and column, as SQL.
  private let defaults: [String: [String: String]]
  private(set) var commits: [Int: HistoryCommit] = [:]
  private var virtualCount = 0
  private var virtualBases: [String: HistoryCommit] = [:]

  init(rules: SimulatedMergeRules, schema: SimulatedSchema) {
    self.rules = rules
    let tables = schema.tables(version: schema.newest)
    defaults = Dictionary(
      uniqueKeysWithValues: tables.map { table in
        (table.name, Dictionary(uniqueKeysWithValues: table.columns.map { ($0.name, $0.initial) }))
      }
    )
  }

  func add(commit: HistoryCommit) { commits[commit.number] = commit }

  // MARK: Bases

  /// The common ancestors of a commit and some others that no other common ancestor descends from, in order.
  private func bestCommonAncestors(
    of commit: HistoryCommit,
    and others: [HistoryCommit]
  ) -> [HistoryCommit] {
    var ancestors: Set<Int> = []
    for other in others { ancestors.formUnion(other.ancestors) }
    let common = commit.ancestors.intersection(ancestors).compactMap { commits[$0] }
    var best: [HistoryCommit] = []
    for candidate in common.sorted(by: { $1.precedes($0) })
    where !best.contains(where: { $0.ancestors.contains(candidate.number) }) {
      best.append(candidate)
    }
    return best.sorted { $0.precedes($1) }
  }

  private func base(of bases: [HistoryCommit], rules: SimulatedMergeRules) -> HistoryCommit? {
    guard bases.count > 1 else { return bases.first }
    let name = "\(rules == .plain) \(bases.map(\.number))"
    if let known = virtualBases[name] { return known }
    var merged = bases[0]
    for place in 1..<bases.count {
      let others = Array(bases[..<place])
      let below = bestCommonAncestors(of: bases[place], and: others)
      let rules = hasEdits(beside: [bases[place]], other: others) ? rules : .plain
      merged = virtual(
        ours: merged,
        theirs: bases[place],
        base: base(
          of: below,
          and: rebased(by: others, and: [bases[place]]),
          rules: rules
        ),
        rules: rules
      )
    }
    virtualBases[name] = merged
    return merged
  }

  /// The base with what both sides have rebased, each for itself: that is common to them too.
  private func base(
    of bases: [HistoryCommit],
    and rebased: [HistoryCommit],
    rules: SimulatedMergeRules
  ) -> HistoryCommit? {
    guard var merged = base(of: bases, rules: rules) else { return nil }
    for commit in rebased {
      merged = virtual(ours: merged, theirs: commit, base: commit.parents.first, rules: self.rules)
    }
    return merged
  }

  /// Commits that stand for what two sides have rebased, and for nothing else, in order.
  private func rebased(
    by one: [HistoryCommit],
    and other: [HistoryCommit]
  ) -> [HistoryCommit] {
    var (mine, theirs): (Set<Int>, Set<Int>) = ([], [])
    for commit in one { mine.formUnion(commit.ancestors) }
    for commit in other { theirs.formUnion(commit.ancestors) }
    let beside = mine.symmetricDifference(theirs).compactMap { commits[$0] }
      .filter { !$0.originals.isEmpty }
    let own = beside.filter { mine.contains($0.number) }.flatMap(\.originals)
    let others = beside.filter { theirs.contains($0.number) }.flatMap(\.originals)
    var open = Set(own).intersection(others)
    if open.isEmpty { return [] }
    let shared = open
    var found: [HistoryCommit] = []
    for commit in beside.filter({ $0.originals.isSubset(of: shared) })
      .sorted(by: { (one: HistoryCommit, other: HistoryCommit) in
        one.originals.count != other.originals.count
          ? one.originals.count > other.originals.count : one.precedes(other)
      })
    where commit.originals.isSubset(of: open) {
      open.subtract(commit.originals)
      found.append(commit)
    }
    return found.sorted { $0.precedes($1) }
  }

  private func virtual(
    ours: HistoryCommit,
    theirs: HistoryCommit,
    base: HistoryCommit?,
    rules: SimulatedMergeRules
  ) -> HistoryCommit {
    virtualCount += 1
    // Nobody is asked about what is merged in memory.
    var rules = rules
    rules.asksApp = false
    let number = 1_000_000 + virtualCount
    let merge = HistoryRowMerges(
      base: base,
      first: ours,
      second: theirs,
      rules: rules,
      number: number
    )
    // It stands where the first of its bases stands.
    return HistoryCommit(
      number: number,
      id: nil,
      parents: [ours, theirs],
      time: ours.time,
      isMerge: true,
      state: merge.state
    )
  }

  // MARK: Merging

  /// What the merge of two commits comes to, and which of them is the first.
  func merge(
    _ one: HistoryCommit,
    _ other: HistoryCommit,
    number: Int
  ) -> (first: HistoryCommit, base: HistoryCommit?, state: HistoryState) {
    let isSorted = one.id.map { mine in other.id.map { mine < $0 } ?? true } ?? true
    let (ours, theirs) = isSorted ? (one, other) : (other, one)
    let bases = bestCommonAncestors(of: ours, and: [theirs])
    let rules = hasEdits(beside: [ours], other: [theirs]) ? rules : .plain
    let base = base(of: bases, and: rebased(by: [ours], and: [theirs]), rules: rules)
    let (mine, others) = (changedCells(from: base, to: ours), changedCells(from: base, to: theirs))
    let (first, second) = others > mine ? (theirs, ours) : (ours, theirs)
    let merge = HistoryRowMerges(
      base: base,
      first: first,
      second: second,
      rules: rules,
      number: number
    )
    return (first, base, merge.state)
  }

  /// Whether there is an edit that only one of two sides descends from.
  private func hasEdits(beside one: [HistoryCommit], other: [HistoryCommit]) -> Bool {
    var (mine, theirs): (Set<Int>, Set<Int>) = ([], [])
    for commit in one { mine.formUnion(commit.ancestors) }
    for commit in other { theirs.formUnion(commit.ancestors) }
    return mine.symmetricDifference(theirs).contains { commits[$0]?.isMerge == false }
  }

  /// How many cells a side has changed since a base.
  func changedCells(from base: HistoryCommit?, to side: HistoryCommit) -> Int {
    let (before, after) = (base?.state ?? [:], side.state)
    var count = 0
    for id in Set(before.keys).union(after.keys) {
      switch (before[id], after[id]) {
      case (nil, nil): break
      case (nil, let row?), (let row?, nil):
        // An app that lacks a column does not know what others fill it with.
        count += 1
        count += row.cells.count { column, cell in
          cell.value != .null && cell.value.literal != defaults[id.table]?[column]
        }
      case (let old?, let new?):
        count += old.columns.union(new.columns).count { old[$0].value != new[$0].value }
      }
    }
    return count
  }
}

/// The rows of one merge.
struct HistoryRowMerges {
  let base: HistoryCommit?
  let first: HistoryCommit
  let second: HistoryCommit
  let rules: SimulatedMergeRules
  /// Of the merge.
  let number: Int

  var state: HistoryState {
    var state: HistoryState = [:]
    for id in Set(first.state.keys).union(second.state.keys) {
      state[id] = merged(
        id.table,
        base: base?.state[id],
        mine: first.state[id],
        other: second.state[id]
      )
    }
    return state
  }

  private func merged(
    _ table: String,
    base row: HistoryRow?,
    mine: HistoryRow?,
    other: HistoryRow?
  ) -> HistoryRow? {
    if isSame(other, row), mine == nil || row == nil { return mine }
    let isDeletionStronger = rules.deleteWins.contains(table)
    guard let other else {
      // The second deleted it. What nobody has edited in the first goes.
      return isUnedited(mine, since: row, at: first) || isDeletionStronger ? nil : mine
    }
    guard let mine else {
      guard let row else { return written(row: other) }
      let isGone = isUnedited(other, since: row, at: second) || isDeletionStronger
      return isGone ? nil : restored(other, base: row)
    }
    var merged = mine
    if row == nil { merged.time = max(mine.time, time(of: other)) }
    for column in mine.columns.union(other.columns).union(row?.columns ?? []) {
      merged.cells[column] = cell(
        (column, mine[column]),
        other[column],
        base: row,
        start: row.map { $0[column].value } ?? start(of: column, in: mine, other),
        rule: rules.asksApp && column == "a" && row != nil
          ? .smaller : rules.column(column, of: table)
      )
    }
    return merged
  }

  private func isSame(_ one: HistoryRow?, _ other: HistoryRow?) -> Bool {
    switch (one, other) {
    case (nil, nil): true
    case (let one?, let other?): one.hasSameValues(as: other)
    default: false
    }
  }

  /// Whether nobody has edited a row since the base: what migrations have made of values from before is no edit.
  private func isUnedited(
    _ row: HistoryRow?,
    since base: HistoryRow?,
    at side: HistoryCommit
  ) -> Bool {
    guard let row, let base else { return isSame(row, base) }
    return row.columns.union(base.columns)
      .allSatisfy {
        row[$0].value == base[$0].value || time(of: row[$0], at: side, since: base) == .zero
      }
  }

  /// A row that the first deleted and the second edited: what was not edited is older than every edit.
  private func restored(_ row: HistoryRow, base: HistoryRow) -> HistoryRow {
    var back = written(row: row, base: base)
    let changed = row.columns.union(base.columns).filter { row[$0].value != base[$0].value }
    back.time = .zero
    for column in row.columns.union(base.columns) {
      var cell = back[column]
      cell.time =
        changed.contains(column) ? time(of: row[column], at: second, since: base) : .zero
      cell.writer = number
      back.cells[column] = cell
    }
    return back
  }

  private func cell(
    _ named: (column: String, cell: HistoryCell),
    _ other: HistoryCell,
    base row: HistoryRow?,
    start: SQLiteValue?,
    rule: SimulatedMergeRules.Column
  ) -> HistoryCell {
    let (mine, base) = (named.cell, row?[named.column])
    if other.value == base?.value {
      guard mine.value == base?.value, isMadeNewer(other),
        !isMadeNewer(mine) || mine.time < other.time
      else { return mine }
      return HistoryCell(value: mine.value, time: other.time, writer: number, isNewerOnly: true)
    }
    if mine.value == base?.value { return written(other, base: row) }
    // Two additions of the same amount are two.
    let isSum = rule == .counter && start != nil && start != mine.value
    let (own, theirs) = (
      time(of: mine, at: first, since: row), time(of: other, at: second, since: row)
    )
    if mine.value == other.value, !isSum {
      if theirs <= own { return mine }
      return HistoryCell(value: mine.value, time: theirs, writer: number, isNewerOnly: true)
    }
    let isOther =
      own == theirs ? Self.precedes(mine.value, other.value) : own < theirs
    var value = isOther ? other.value : mine.value
    // Nobody is asked about what came back with its row and nobody has written since: it is no loss.
    let isAsked = (isOther ? own : theirs) > .zero
    switch (rule, mine.value, other.value) {
    case (.smaller, .integer(let one), .integer(let other)) where isAsked:
      value = .integer(min(one, other))
    case (.maximum, let one, let other) where one.number != nil && other.number != nil:
      value = Self.greater(of: one, other)
    // Whatever there is counts as more than nothing.
    case (.maximum, .null, let other): value = other
    case (.maximum, let one, .null): value = one
    case (.counter, .integer(let one), .integer(let other)):
      // Rows of one key that two have made with unlike numbers began with nothing.
      var common: Int64 = 0
      if case .integer(let number)? = start { common = number }
      value = .integer(one + other - common)
    default: break
    }
    if value == mine.value { return mine }
    let time = value == other.value ? theirs : max(own, theirs)
    return HistoryCell(value: value, time: time, writer: number)
  }

  /// What a column of a row that both sides have inserted began with on both; nil if that was not the same.
  private func start(
    of column: String,
    in mine: HistoryRow,
    _ other: HistoryRow
  ) -> SQLiteValue? {
    func start(_ row: HistoryRow, at side: HistoryCommit) -> SQLiteValue? {
      let inserted = base?.isBuilt(on: row.writer) == true ? side.time : row.time
      if time(of: row[column], at: side, since: nil) == inserted { return row[column].value }
      guard let beginning = row.beginning,
        base?.ancestors.contains(beginning.commit) != true
      else { return nil }
      return beginning.values[column]
    }
    guard let one = start(mine, at: first), one == start(other, at: second) else { return nil }
    return one
  }

  /// Whether a value has become newer since the base, and nothing else.
  private func isMadeNewer(_ cell: HistoryCell) -> Bool {
    cell.isNewerOnly && base?.isBuilt(on: cell.writer) != true
  }

  private func written(row: HistoryRow, base: HistoryRow? = nil) -> HistoryRow {
    var row = row
    row.time = time(of: row)
    row.cells = row.cells.mapValues { written($0, base: base) }
    row.writer = number
    return row
  }

  private func written(_ cell: HistoryCell, base: HistoryRow?) -> HistoryCell {
    HistoryCell(
      value: cell.value,
      time: time(of: cell, at: second, since: base),
      writer: number
    )
  }

  /// When a cell became what it is, on the way from the base: what was written before is a taking back.
  ///
  /// What a migration has made is as new as the latest edit that it was made of, and that is not in the base.
  private func time(
    of cell: HistoryCell,
    at side: HistoryCommit,
    since row: HistoryRow?
  ) -> HybridTime {
    if base?.isBuilt(on: cell.writer) == true { return side.time }
    guard let sources = cell.sources else { return cell.time }
    let edits = sources.filter { source in
      // What the base has had already is no edit beside it, also where the base has the row no more.
      if base?.isBuilt(on: source.cell.writer) == true { return false }
      guard let row else { return true }
      return source.column.map { row[$0].value != source.cell.value } ?? false
    }
    return edits.map { time(of: $0.cell, at: side, since: row) }.max() ?? .zero
  }

  private func time(of row: HistoryRow) -> HybridTime {
    base?.isBuilt(on: row.writer) == true ? second.time : row.time
  }

  /// The greater number; of 1 and 1.0 the one with the later bytes.
  private static func greater(of one: SQLiteValue, _ other: SQLiteValue) -> SQLiteValue {
    guard let first = one.number, let second = other.number, first != second else {
      return precedes(one, other) ? other : one
    }
    return first > second ? one : other
  }

  /// Of two values of one time the one with the later bytes counts, and of two BLOBs the one with the later digest.
  private static func precedes(_ one: SQLiteValue, _ other: SQLiteValue) -> Bool {
    if case .blob(let mine) = one, case .blob(let theirs) = other {
      return SHA256.digest(of: mine).lexicographicallyPrecedes(SHA256.digest(of: theirs))
    }
    return FieldValue(one).codedBytes.lexicographicallyPrecedes(FieldValue(other).codedBytes)
  }
}
