import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

/// What was in the tables before any engine gives way to what the cloud has, and nobody's wins over it.
final class FoundValueChecker: SimulationChecker {
  let rule =
    "of values that were there before the first synchronization the first in the cloud stays"

  /// A column whose values tell which device has set them.
  private static let column = "a"

  /// What the records had that were the first of their names in the zone.
  private var first: [String: FieldValue] = [:]
  /// The records of which somebody else has removed one.
  private var removed: Set<String> = []

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    switch event {
    case .carriedOut(.modify(let operation), _, .success(.modify(let response))):
      let saved = Set(response.savedRecords.map(\.recordID.name))
      for record in operation.records where record.changeTag == nil {
        let name = record.recordID.name
        guard first[name] == nil, saved.contains(name) else { continue }
        first[name] = RecordContent(record)?.values[Self.column]
      }
    case .recordRemoved(let recordID): removed.insert(recordID.name)
    // Whoever makes the next one has its own values.
    case .zoneLost, .storeRestored: first = [:]
    default: break
    }
    return nil
  }

  func finish(_ end: SimulationEnd) -> String? {
    let devices = end.devices.compactMap { $0.device as? SQLiteDevice }
    guard let schema = devices.first?.schema, schema.isSeeded else { return nil }
    for history in RowHistories(devices).inOrder {
      // Whoever edits a row, or has two of them become one, sets its values.
      guard history.edits.allSatisfy(\.edit.isSeed), !mayMerge(history, in: schema) else {
        continue
      }
      let name = history.id.recordName
      guard let value = first[name], !removed.contains(name),
        let record = end.records.first(where: { $0.recordID.name == name })
      else { continue }
      let found = RecordContent(record)?.values[Self.column]
      if found != value {
        return "\(history.id) had \(Self.column) \(value) first, and has \(found ?? .null)"
          + RowAccount(devices: devices, end: end).words(id: history.id)
      }
    }
    return nil
  }

  private func mayMerge(_ history: RowHistory, in schema: SimulatedSchema) -> Bool {
    history.id.table == "items" && schema.uniqueness != .none
  }
}
