import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Merges what two sides have made of a state.
struct DeltaMerge {
  let rules: MergeRules
  /// Which side the merge's changes are against.
  let isOntoOurs: Bool
  /// Who is asked about rows of which something is lost; nil for the policies alone.
  let questions: MergeQuestions?
  /// Nil where nobody knows what rows began with.
  let starts: CounterStarts?

  /// What leads from that side to the merge.
  private(set) var changes = StateDelta()
  private(set) var conflicts: [MergeConflict] = []
  /// The rows that both sides have changed.
  private(set) var shared: [String: Set<RowKey>] = [:]
  /// The values that neither side has had.
  private(set) var computed: [MergePlan.ComputedValue] = []

  init(
    rules: MergeRules,
    isOntoOurs: Bool,
    questions: MergeQuestions? = nil,
    starts: CounterStarts? = nil
  ) {
    self.rules = rules
    self.isOntoOurs = isOntoOurs
    self.questions = questions
    self.starts = starts
  }

  /// Merges two sides' net changes from their base.
  mutating func merge(ours: StateDelta, theirs: StateDelta) throws(ChangesetError) {
    let (first, second) = isOntoOurs ? (ours, theirs) : (theirs, ours)
    let known = Dictionary(first.tables.map { ($0.name, $0) }, uniquingKeysWith: { one, _ in one })
    for table in second.tables {
      let other = known[table.name]?.rows ?? []
      var rows: [RowDelta] = []
      var place = other.startIndex
      for row in table.rows {
        while place < other.endIndex, other[place].key < row.key { place += 1 }
        guard place < other.endIndex, other[place].key == row.key else {
          rows.append(row)
          continue
        }
        if row.isChange, other[place].isChange {
          shared[table.name, default: []].insert(row.key)
        }
        if let change = try merge(table.name, first: other[place], second: row) {
          rows.append(change)
        }
      }
      if !rows.isEmpty || !table.fills.isEmpty {
        changes.tables.append(TableDelta(table.name, fills: table.fills, rows: rows))
      }
    }
    conflicts.sort()
  }

  private mutating func merge(
    _ table: String,
    first: RowDelta,
    second: RowDelta
  ) throws(ChangesetError) -> RowDelta? {
    // What one side has made newer alone, or its migration has made, the other may delete.
    if first.kind == .delete, !second.isEdit { return nil }
    if second.kind == .delete, !first.isEdit {
      guard first.isChange else { return second }
      return try composing { () throws(ByteFault) in
        try first.inverted(at: second.time).followed(by: second)
      }
    }
    let (ours, theirs) = isOntoOurs ? (first, second) : (second, first)
    var merge = RowMerge(table: table, rules: rules.table(table), ours: ours, theirs: theirs)
    if let starts { merge.starts = try starts.starts(of: merge) }
    var outcome = try merge.outcome()
    if outcome.conflict != nil, let questions {
      guard let answered = try questions.outcome(of: merge, automatic: outcome) else { return nil }
      outcome = answered
    }
    if let conflict = outcome.conflict { conflicts.append(conflict) }
    guard let change = outcome.change else {
      return first.isChange ? first.inverted(at: max(ours.time, theirs.time)) : nil
    }
    for cell in change.cells where cell.isChange && cell.new != .null {
      if cell.new == ours.cell(cell.column)?.new || cell.new == theirs.cell(cell.column)?.new {
        continue
      }
      computed.append(.init(table: table, column: cell.column, value: cell.new))
    }
    var merged: RowDelta? = change
    if first.isChange {
      // What comes back without having been edited is older than every edit.
      let back = first.inverted(at: first.kind == .delete ? .zero : change.time)
      merged = try composing { () throws(ByteFault) in try back.followed(by: change) }
    }
    return newer(change, than: first, merged: merged, of: table)
  }

  /// A merge's change with the values that the first side has as well, and that the second has written later.
  private func newer(
    _ change: RowDelta,
    than first: RowDelta,
    merged: RowDelta?,
    of table: String
  ) -> RowDelta? {
    guard change.kind != .delete, first.kind != .delete else { return merged }
    var cells = change.cells
    if change.kind == .insert { cells += nulls(of: change, in: table) }
    let values = cells.filter { cell in
      let mine = first.cell(cell.column)
      let present = mine?.new ?? (first.kind == .insert ? .null : cell.old)
      let time = mine?.time ?? (first.kind == .insert ? first.time : nil)
      return cell.new == present && time.map { $0 < cell.time } ?? true
    }
    let changes = merged?.cells.filter(\.isChange) ?? []
    let same = values.map { CellDelta($0.column, old: $0.new, new: $0.new, time: $0.time) }
    return RowDelta(
      updating: change.key,
      cells: (changes + same).sorted { $0.column.precedesByBytes($1.column) }
    )
  }

  /// The columns that a row is inserted without: they are NULL, and as new as the row.
  private func nulls(of row: RowDelta, in table: String) -> [CellDelta] {
    (rules.columns[table] ?? []).filter { row.cell($0) == nil }
      .map { CellDelta($0, old: .null, new: .null, time: row.time) }
  }
}
