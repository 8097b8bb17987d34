import CloudSyncChangesets
import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// A cell of the model: its value, when it was set, and which commit wrote it.
struct HistoryCell: Sendable, Hashable {
  var value: SQLiteValue
  var time: HybridTime
  var writer: Int
  /// Whether the writer, a merge, has found the value there and only made it newer.
  var isNewerOnly = false
  /// What a migration has made it of; nil if it was edited or merged.
  var sources: [HistorySource]?
}

/// A cell that a migration may have made another one of, as it was before; without a column it is the row itself.
struct HistorySource: Sendable, Hashable {
  var column: String?
  var cell: HistoryCell
}

/// What a row was inserted with, and by which commit.
struct HistoryBeginning: Sendable, Hashable {
  var values: [String: SQLiteValue]
  var commit: Int
}

/// A row of the model: the cells that were ever set, and when and by whom it was inserted.
struct HistoryRow: Sendable, Hashable {
  var cells: [String: HistoryCell] = [:]
  var time: HybridTime
  var writer: Int
  /// Nil where nobody has to know.
  var beginning: HistoryBeginning?

  /// What a column holds: NULL since the row was inserted where nobody has set it.
  subscript(column: String) -> HistoryCell {
    cells[column] ?? HistoryCell(value: .null, time: time, writer: writer)
  }

  var columns: Set<String> { Set(cells.keys) }

  func hasSameValues(as other: HistoryRow) -> Bool {
    columns.union(other.columns).allSatisfy { self[$0].value == other[$0].value }
  }
}

/// The key of a row and its table.
struct HistoryRowID: Sendable, Hashable, Comparable {
  var table: String
  var key: RowKey

  static func < (lhs: Self, rhs: Self) -> Bool {
    lhs.table != rhs.table ? lhs.table < rhs.table : lhs.key < rhs.key
  }

  var text: String { "\(table)(\(key.values.map(\.literal).joined(separator: ", ")))" }
}

typealias HistoryState = [HistoryRowID: HistoryRow]

/// A commit of the model, with all of its state.
final class HistoryCommit {
  let number: Int
  let id: ChangesetID?
  /// The first is the data parent.
  let parents: [HistoryCommit]
  let generation: Int64
  let time: HybridTime
  let isMerge: Bool
  /// The commits from before a squash that it stands for.
  let originals: Set<ChangesetID>
  /// Whether it takes another commit back.
  let isReversal: Bool
  let state: HistoryState
  /// The numbers of all commits that it descends from, and its own unless it is virtual.
  let ancestors: Set<Int>

  init(
    number: Int,
    id: ChangesetID?,
    parents: [HistoryCommit],
    time: HybridTime,
    isMerge: Bool,
    originals: Set<ChangesetID> = [],
    isReversal: Bool = false,
    state: HistoryState
  ) {
    self.number = number
    self.id = id
    self.parents = parents
    self.time = time
    self.isMerge = isMerge
    self.originals = originals
    self.isReversal = isReversal
    self.state = state
    generation = 1 + (parents.map(\.generation).max() ?? 0)
    var ancestors: Set<Int> = []
    for parent in parents { ancestors.formUnion(parent.ancestors) }
    if id != nil { ancestors.insert(number) }
    self.ancestors = ancestors
  }

  /// Whether a commit is on the way of data parents from this one to the root.
  func isBuilt(on writer: Int) -> Bool {
    var commit: HistoryCommit? = self
    while let one = commit {
      if one.number == writer { return true }
      commit = one.parents.first
    }
    return false
  }

  /// In the order in which bases and heads are merged.
  func precedes(_ other: HistoryCommit) -> Bool {
    if generation != other.generation { return generation < other.generation }
    guard let id, let theirs = other.id else { return false }
    return id < theirs
  }
}

/// What a commit's data say of the state after it.
enum HistoryFold {
  /// Folds a commit's changes into the state of its first parent; throws words if they do not follow from it.
  static func state(
    after parent: HistoryCommit?,
    and second: HistoryCommit? = nil,
    changes delta: StateDelta,
    writer: Int,
    isMigration: Bool = false
  ) throws(HistoryFault) -> HistoryState {
    var state = parent?.state ?? [:]
    for table in delta.tables {
      let added = Set(table.fills.map(\.column))
      for change in table.rows {
        let id = HistoryRowID(table: table.name, key: change.key)
        let old = state[id]
        guard (old == nil) == (change.kind == .insert) else {
          throw HistoryFault(
            "\(id.text) was \(old == nil ? "not " : "")there before its \(change.kind)"
          )
        }
        for cell in change.cells where (old?[cell.column].value ?? .null) != cell.old {
          throw HistoryFault("\(id.text).\(cell.column) was not \(cell.old.literal)")
        }
        state[id] = row(old: old, change: change, writer: writer)
        if old == nil {
          // What a merge has of its second side was inserted there.
          let values = Dictionary(change.cells.map { ($0.column, $0.new) }) { one, _ in one }
          state[id]?.beginning =
            second?.state[id]?.beginning ?? HistoryBeginning(values: values, commit: writer)
        }
        guard isMigration, let old, change.kind == .update else { continue }
        for cell in change.cells {
          state[id]?.cells[cell.column]?.sources = sources(
            of: cell,
            among: change,
            row: old,
            added: added
          )
        }
      }
    }
    return state
  }

  /// What a migration has made a value of: what it has moved here, else what was here; what comes into a new column may be
  /// made of anything in the row.
  private static func sources(
    of cell: CellDelta,
    among change: RowDelta,
    row: HistoryRow,
    added: Set<String>
  ) -> [HistorySource] {
    let moved = change.cells
      .filter { cell.new != .null && $0.old == cell.new && $0.new == .null }
    let isNew = moved.isEmpty && added.contains(cell.column)
    var columns = moved.isEmpty ? [cell.column] : moved.map(\.column)
    if isNew { columns = row.columns.subtracting(added).sorted() }
    let sources = columns.map { HistorySource(column: $0, cell: row[$0]) }
    let insertion = HistoryCell(value: .null, time: row.time, writer: row.writer)
    return isNew ? sources + [HistorySource(cell: insertion)] : sources
  }

  private static func row(old: HistoryRow?, change: RowDelta, writer: Int) -> HistoryRow? {
    if change.kind == .delete { return nil }
    var row = old ?? HistoryRow(time: change.time, writer: writer)
    for cell in change.cells {
      row.cells[cell.column] = HistoryCell(
        value: cell.new,
        time: cell.time,
        writer: writer,
        isNewerOnly: change.kind == .update && !cell.isChange
      )
    }
    return row
  }
}

/// Something that cannot be.
struct HistoryFault: Error {
  var text: String

  init(_ text: String) { self.text = text }
}
