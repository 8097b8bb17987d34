import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

/// What is in a column that stays on its device is what that device's user has put there, also after whatever came from
/// others.
final class LocalValueChecker: SimulationChecker {
  let rule = "in the end every local column has what its own device's user has set"

  /// The names of the records that somebody has removed with another tool: their rows go, and may come back.
  private var vanished: Set<String> = []

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    if case .recordRemoved(let recordID) = event { vanished.insert(recordID.name) }
    return nil
  }

  func finish(_ end: SimulationEnd) -> String? {
    let devices = end.devices.compactMap { $0.device as? SQLiteDevice }
    guard let schema = devices.first?.schema, schema.hasLocals else { return nil }
    var histories = RowHistories(devices)
    histories.vanished = vanished
    let hasErased = devices.contains { $0.history.withLock { $0.hasErased } }
    for (number, device) in devices.enumerated() {
      let notes = device.attempt { () throws in try device.disk.file().rows(sql: LocalValue.query) }
      let noted = (notes ?? []).compactMap(LocalValue.init)
      for table in schema.tables(version: device.version) where !table.locals.isEmpty {
        for (row, born, value) in device.locals(of: table) {
          let text = "device \(number) has \(value.literal) in the local column of \(row)"
          if value != .null, !noted.contains(where: { $0.value == value }) {
            return "\(text), which nobody has set there"
          }
          let last = noted.last { $0.row == "\(row)" && $0.born == born }
          guard let last, last.value != value else { continue }
          if value == .null, hasErased || mayLeave(row, histories, schema: schema) { continue }
          return "\(text), and it was set to \(last.value.literal)"
        }
      }
    }
    return nil
  }

  /// Whether a row may have left its table for a while: it begins with defaults then.
  private func mayLeave(
    _ row: RowID,
    _ histories: RowHistories,
    schema: SimulatedSchema
  ) -> Bool {
    guard let history = histories[row] else { return true }
    return history.isUnsure || history.wasDeleted || histories.isVanished(history)
      || histories.isShaken(history: history, schema: schema)
      || row.table == "items" && schema.uniqueness != .none
  }
}

extension SQLiteDevice {
  /// The rows of a table with what is in their local column.
  fileprivate func locals(
    of table: SimulatedSchema.Table
  ) -> [(row: RowID, born: SQLiteValue, value: SQLiteValue)] {
    let list = (table.key + table.locals).map(\.sql).joined(separator: ", ")
    let query = "SELECT born, \(list) FROM \(table.name) ORDER BY 2"
    let found = attempt { () throws in try disk.file().rows(sql: query) }
    return (found ?? [])
      .map { values in
        let row = RowID.canonical(table: table.name, key: [values[1]])
        return (row, values[0], values[2])
      }
  }
}
