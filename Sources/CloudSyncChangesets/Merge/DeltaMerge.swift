import CloudSyncSQLiteSupport

/// Merges what two sides have made of a state.
struct DeltaMerge {
  let rules: MergeRules
  /// Which side the merge's changes are against.
  let isOntoOurs: Bool
  /// Who is asked about rows of which something is lost; nil for the policies alone.
  let questions: MergeQuestions?

  /// What leads from that side to the merge.
  private(set) var changes = StateDelta()
  private(set) var conflicts: [MergeConflict] = []
  /// The rows that both sides have changed.
  private(set) var shared: [String: Set<RowKey>] = [:]
  /// The values that neither side has had.
  private(set) var computed: [MergePlan.ComputedValue] = []

  init(rules: MergeRules, isOntoOurs: Bool, questions: MergeQuestions? = nil) {
    self.rules = rules
    self.isOntoOurs = isOntoOurs
    self.questions = questions
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
        shared[table.name, default: []].insert(row.key)
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
    let (ours, theirs) = isOntoOurs ? (first, second) : (second, first)
    let merge = RowMerge(table: table, rules: rules.table(table), ours: ours, theirs: theirs)
    var outcome = try merge.outcome()
    if outcome.conflict != nil, let questions {
      guard let answered = try questions.outcome(of: merge, automatic: outcome) else { return nil }
      outcome = answered
    }
    if let conflict = outcome.conflict { conflicts.append(conflict) }
    guard let change = outcome.change else {
      return first.inverted(at: max(ours.time, theirs.time))
    }
    for cell in change.cells where cell.new != .null {
      if cell.new == ours.cell(cell.column)?.new || cell.new == theirs.cell(cell.column)?.new {
        continue
      }
      computed.append(.init(table: table, column: cell.column, value: cell.new))
    }
    // A row that comes back is as new as the edit that brought it back.
    let back = first.inverted(at: change.time)
    return try composing { () throws(ByteFault) in try back.followed(by: change) }
  }
}
