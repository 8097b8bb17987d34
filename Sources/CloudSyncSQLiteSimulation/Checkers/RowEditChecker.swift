import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

/// What a user has set and nobody has set later or deleted is there, and nothing else.
final class RowEditChecker: ZoneLossChecker {
  let rule = "what a user has set is there, unless somebody set it later or deleted it"

  var losesZones = false

  func finish(_ end: SimulationEnd) -> String? {
    let devices = end.devices.compactMap { $0.device as? SQLiteDevice }
    // All are equal, says another checker; so whoever knows most speaks for all.
    guard let best = devices.max(by: { $0.version < $1.version }) else { return nil }
    let histories = RowHistories(devices)
    let tables = best.schema.tables(version: best.version)
    var rows: [RowID: EndRow] = [:]
    for table in tables {
      for row in best.rows(of: table) {
        rows[row.id] = row
        guard let history = histories[row.id] else { return "nobody has made \(row.line)" }
        for column in table.columns {
          let value = row[column.name] ?? .null
          if let text = history.invention(column: column, value: value) {
            return "\(row.id) has \(text)"
          }
        }
      }
    }
    // Who loses the zone may lose with it what others had there.
    if losesZones { return nil }
    for history in histories.inOrder {
      guard let table = tables.first(where: { $0.name == history.id.table }) else { continue }
      let row = rows[history.id]
      let isShaken = histories.isShaken(history: history, schema: best.schema)
      if let text = wrong(
        history: history,
        row: row,
        table: table,
        isShaken: isShaken,
        schema: best.schema
      ) {
        return text + histories.words(id: history.id)
      }
    }
    return nil
  }

  private func wrong(
    history: RowHistory,
    row: EndRow?,
    table: SimulatedSchema.Table,
    isShaken: Bool,
    schema: SimulatedSchema
  ) -> String? {
    if history.deleters.isEmpty {
      // It may have gone with a parent that is not in its own history.
      if isShaken, schema.action == .cascade { return nil }
      guard let row else { return "\(history.id) is gone, and nobody has deleted it" }
      for column in table.columns where column.parent == nil || !isShaken {
        let newest = history.newest(column: column.name)
        let value = row[column.name] ?? .null
        if newest.isEmpty || newest.contains(value) { continue }
        let wanted = newest.map(\.literal).joined(separator: " or ")
        return "\(history.id) has \(column.name) \(value.literal), its newest edit is \(wanted)"
      }
      return nil
    }
    if isShaken, schema.action == .cascade { return nil }
    // What several have deleted depends on the order in which the deletions came to the cloud.
    guard history.deleters.count == 1, let deleter = history.deleters.first else { return nil }
    if history.lastWasDeletion(by: deleter) {
      let isParent = table.name == "lists" || table.name == "notes"
      let mayComeBack = isParent && schema.action == .noAction
      guard !mayComeBack, !history.wasMade(byOtherThan: deleter), let row else { return nil }
      return "\(row.line) is back, and device \(deleter) has deleted it"
    }
    if row == nil { return "\(history.id) is gone, and device \(deleter) has made it again" }
    return nil
  }
}
