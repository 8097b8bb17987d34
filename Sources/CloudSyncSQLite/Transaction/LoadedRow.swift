import CloudSyncCore
import CloudSyncSQLiteSupport

/// A row with what is known of it, while a transaction deals with it.
struct LoadedRow {
  /// The place of its table among the transaction's.
  let place: Int
  let key: RecordKey
  /// The key as the engine's tables have it.
  let rowKey: RowKey
  /// What the table has; nil if it has no such row.
  var values: [SQLiteValue]?
  private(set) var state: RecordState
  let source: RecordStore.Source
  /// Whether the table's row is to be another one.
  var needsWrite = false
  /// Whether a fetch has to tell what became of the record.
  private(set) var needsFetch = false

  init(
    place: Int,
    key: RecordKey,
    rowKey: RowKey,
    values: [SQLiteValue]?,
    state: RecordState,
    source: RecordStore.Source
  ) {
    self.place = place
    self.key = key
    self.rowKey = rowKey
    self.values = values
    self.state = state
    self.source = source
  }

  /// Lets an event happen.
  mutating func reduce(_ event: RecordEvent, _ rules: RowRules) -> [RecordAction] {
    let actions = state.reduce(event, rules)
    if actions.contains(.writeRow) || actions.contains(.forget) { needsWrite = true }
    if actions.contains(.fetch) { needsFetch = true }
    return actions
  }

  /// Takes what became of writing the row.
  mutating func place(_ placement: Placement, _ rules: RowRules) {
    needsWrite = false
    if placement != state.placement { _ = state.reduce(.placed(placement), rules) }
  }

  /// Columns that the row did not know: the first device that sees them sends what the table has.
  mutating func complete(_ table: RecordTable) {
    guard let version = state.row, let values, state.placement == .inTable,
      !version.clock.isDeleted(table.rules.deletes)
    else { return }
    var missing: [VersionedColumn] = []
    for (name, value) in zip(table.columns, values) where version.value(of: name) == nil {
      missing.append(VersionedColumn(name: name, value: table.fieldValue(value), time: .zero))
    }
    if !missing.isEmpty { _ = state.reduce(.completed(missing), table.rules) }
  }

  func isDeleted(_ rules: RowRules) -> Bool {
    state.isDeleted(rules)
  }

  /// The order in which rows are looked at and kept: by table, and by key.
  func precedes(_ other: LoadedRow) -> Bool {
    place != other.place ? place < other.place : UTF8Bytes.order(key.name, other.key.name) < 0
  }
}
