import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

/// What a user has set and nobody has set later or deleted is there, and nothing else.
final class RowEditChecker: SimulationChecker {
  let rule = "what a user has set is there, unless somebody set it later or deleted it"

  private var losses = 0

  func take(_ moment: SimulationMoment, on device: Int, at time: Int64) -> String? {
    if case .zoneLost = moment { losses += 1 }
    return nil
  }

  func finish(_ end: SimulationEnd) -> String? {
    let devices = end.devices.compactMap { $0.device as? SQLiteDevice }
    // All are equal, says another checker; so whoever knows most speaks for all.
    guard let best = devices.max(by: { $0.version < $1.version }) else { return nil }
    let histories = RowHistories(devices)
    let tables = best.schema.tables(best.version)
    var rows: [RowID: EndRow] = [:]
    for table in tables {
      for row in best.rows(of: table) {
        rows[row.id] = row
        guard let history = histories[row.id] else { return "nobody has made \(row.line)" }
        for column in table.columns {
          let value = row[column.name] ?? .null
          if let text = history.invention(column, value) { return "\(row.id) has \(text)" }
        }
      }
    }
    // Who loses the zone may lose with it what others had there.
    if losses > 0 { return nil }
    for history in histories.inOrder {
      guard let table = tables.first(where: { $0.name == history.id.table }) else { continue }
      let row = rows[history.id]
      let isShaken = histories.isShaken(history, best.schema)
      if let text = wrong(history, row, table, isShaken, best.schema) { return text }
    }
    return nil
  }

  private func wrong(
    _ history: RowHistory,
    _ row: EndRow?,
    _ table: SimulatedSchema.Table,
    _ isShaken: Bool,
    _ schema: SimulatedSchema
  ) -> String? {
    if history.deleters.isEmpty {
      // It may have gone with a parent that is not in its own history.
      if isShaken, schema.action == .cascade { return nil }
      guard let row else { return "\(history.id) is gone, and nobody has deleted it" }
      for column in table.columns where column.parent == nil || !isShaken {
        let newest = history.newest(column.name)
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

/// What all users have done with one row.
struct RowHistory {
  let id: RowID
  var edits: [(device: Int, edit: RowEdit)] = []

  /// The devices whose users have deleted it.
  var deleters: [Int] {
    var found: [Int] = []
    for (device, edit) in edits where edit.isDeletion && !found.contains(device) {
      found.append(device)
    }
    return found
  }

  func lastWasDeletion(by device: Int) -> Bool {
    edits.last { $0.device == device }?.edit.isDeletion ?? false
  }

  func wasMade(byOtherThan device: Int) -> Bool {
    edits.contains { other, edit in
      if case .inserted = edit.change { other != device } else { false }
    }
  }

  /// The values that a column was given, with their times.
  private func values(_ column: String) -> [(time: HybridTime, value: SQLiteValue)] {
    edits.compactMap { _, edit in
      switch edit.change {
      case .inserted(let values):
        values.first { $0.column == column }.map { (edit.time, $0.value) }
      case .set(column, let value): (edit.time, value)
      default: nil
      }
    }
  }

  /// The values of the newest edit of a column; several if they were made at the same time.
  func newest(_ column: String) -> [SQLiteValue] {
    let values = values(column)
    let newest = values.map(\.time).max()
    return values.filter { $0.time == newest }.map(\.value)
  }

  /// Tells of a value that nobody has ever set.
  func invention(_ column: SimulatedSchema.Column, _ value: SQLiteValue) -> String? {
    if value == .null || value.literal == column.initial { return nil }
    if values(column.name).contains(where: { $0.value == value }) { return nil }
    return "\(column.name) \(value.literal), which nobody has set"
  }

  /// The rows that it has ever referred to.
  func parents(_ schema: SimulatedSchema) -> [RowID] {
    guard let table = schema.tables(SimulatedSchema.newest).first(where: { $0.name == id.table })
    else { return [] }
    var found: [RowID] = []
    for (column, value) in zip(table.key, id.key) {
      if let parent = column.parent { found.append(RowID(table: parent, key: [value])) }
    }
    for column in table.columns {
      guard let parent = column.parent else { continue }
      for (_, value) in values(column.name) where value != .null {
        found.append(RowID(table: parent, key: [value]))
      }
    }
    return found
  }
}

/// What all users have done, row by row.
struct RowHistories {
  private(set) var inOrder: [RowHistory] = []
  private var places: [RowID: Int] = [:]

  init(_ devices: [SQLiteDevice]) {
    for device in devices {
      for edit in device.history.withLock({ $0.edits }) {
        if places[edit.row] == nil {
          places[edit.row] = inOrder.count
          inOrder.append(RowHistory(id: edit.row))
        }
        guard let place = places[edit.row] else { continue }
        inOrder[place].edits.append((device: device.seat.number, edit: edit))
      }
    }
  }

  subscript(id: RowID) -> RowHistory? { places[id].map { inOrder[$0] } }

  /// Whether a row that it ever referred to was ever deleted.
  func isShaken(_ history: RowHistory, _ schema: SimulatedSchema) -> Bool {
    history.parents(schema)
      .contains { parent in
        guard let other = self[parent] else { return false }
        return !other.deleters.isEmpty || isShaken(other, schema)
      }
  }
}
