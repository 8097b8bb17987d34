import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

/// Every row is what the edits of all users come to, and nothing else.
final class RowEditChecker: ZoneLossChecker {
  let rule = "in the end every row is the join of all edits"

  var losesZones = false
  /// The names of the records that were deleted themselves: a full storage took no tombstone, so nothing tells those
  /// who had made the row anew when it was deleted.
  private var removed: Set<String> = []

  /// The names of the records that somebody has removed with another tool: with them goes whatever was not sent, where
  /// edits do not win.
  private var vanished: Set<String> = []

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    switch event {
    case .zoneLost: losesZones = true
    case .recordRemoved(let recordID): vanished.insert(recordID.name)
    case .carriedOut(.modify, _, .success(.modify(let response))):
      removed.formUnion(response.deletedRecordIDs.map(\.name))
    default: break
    }
    return nil
  }

  func finish(_ end: SimulationEnd) -> String? {
    let devices = end.devices.compactMap { $0.device as? SQLiteDevice }
    // All are equal, says another checker; so whoever knows most speaks for all.
    guard let best = devices.max(by: { $0.version.rank < $1.version.rank }) else { return nil }
    var histories = RowHistories(devices)
    histories.vanished = vanished
    let account = RowAccount(devices: devices, end: end)
    let schema = best.schema
    let tables = schema.tables(version: best.version)
    let hasErased = devices.contains { $0.history.withLock { $0.hasErased } }
    var rows: [RowID: EndRow] = [:]
    let parked = Set(best.parked)
    for table in tables {
      // What waits beside its table has in the cloud what it would have there.
      let beside = end.records.filter { parked.contains($0.recordID.name) }
        .compactMap { EndRow($0, table: table) }
      for var row in best.rows(of: table) + beside {
        row.id = schema.identity(of: row.id, values: row.values)
        if rows.updateValue(row, forKey: row.id) != nil, schema.givesKeys(of: table.name) {
          return "there are two of \(row.line)"
        }
        let mayHaveFollowed = histories.hasRenamedParent(row.id, in: schema)
        guard let history = histories[row.id] else {
          // Children of two rows that became one, or of one that got another key, may get a key of their own.
          if table.name == "tags", schema.followsKeys || mayHaveFollowed { continue }
          return "nobody has made \(row.line)"
        }
        // Of a record that was removed others may have made what they had not sent yet.
        if history.isUnsure || histories.isVanished(history) { continue }
        // Under the key that it gets it may meet another row, with which it becomes one.
        if table.name == "tags", mayHaveFollowed { continue }
        for column in table.columns where !Self.isMade(column, in: schema) {
          let value = row[column.name] ?? .null
          let carried = history.edits.flatMap { histories.carried(by: $0.edit, in: column) }
          if carried.contains(value.literal) { continue }
          // The change of its key was erased with the rest: it is where it was, with what was to go along.
          if hasErased, histories.hasGone(row.id, with: value, in: column) { continue }
          if let text = history.invention(column: column, value: value) {
            return "\(row.id) has \(text)" + account.words(id: row.id)
          }
        }
      }
    }
    // What an app has erased is gone, with edits that others had not sent yet.
    if hasErased { return nil }
    var oracle = RowOracle(schema: schema, histories: histories)
    oracle.removed = removed
    oracle.hasUnsureCounters =
      losesZones && devices.contains { $0.history.withLock { $0.isCopy } }
    for history in histories.inOrder {
      guard let table = tables.first(where: { $0.name == history.id.table }) else { continue }
      // Which of them had the key whose record has gone, nobody has noted.
      if schema.givesKeys(of: table.name), !vanished.isEmpty || !removed.isEmpty {
        continue
      }
      if let text = oracle.error(of: history, row: rows[history.id], table: table) {
        return text + account.words(id: history.id)
      }
    }
    return nil
  }

  /// Whether values of a column may be of the engine's own making, or of another row.
  private static func isMade(_ column: SimulatedSchema.Column, in schema: SimulatedSchema) -> Bool {
    column.isCounter || column.parent != nil
      || column.name == "name" && schema.uniqueness != .none && schema.uniqueness != .parked
      || schema.uniqueness == .merged
      || schema.followsKeys && (column.name == "born" || column.name == "list")
  }
}
