import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

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
  private func values(column: String) -> [(time: HybridTime, value: SQLiteValue)] {
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
  func newest(column: String) -> [SQLiteValue] {
    let values = values(column: column)
    let newest = values.map(\.time).max()
    return values.filter { $0.time == newest }.map(\.value)
  }

  /// Tells of a value that nobody has ever set.
  func invention(column: SimulatedSchema.Column, value: SQLiteValue) -> String? {
    if value == .null || value.literal == column.initial { return nil }
    if values(column: column.name).contains(where: { $0.value == value }) { return nil }
    return "\(column.name) \(value.literal), which nobody has set"
  }

  /// All of it, in the order of time.
  var words: String {
    edits.sorted { $0.edit.time < $1.edit.time }
      .map { device, edit in
        switch edit.change {
        case .inserted(let values):
          "device \(device) inserted it"
            + values.filter { $0.value != .null }.map { " \($0.column): \($0.value.literal)" }
            .joined()
        case .set(let column, let value): "device \(device) set \(column) to \(value.literal)"
        case .deleted: "device \(device) deleted it"
        case .deletedWithParent: "device \(device) deleted it with its parent"
        }
      }
      .joined(separator: "; ")
  }

  /// The rows that it has ever referred to.
  func parents(schema: SimulatedSchema) -> [RowID] {
    guard
      let table = schema.tables(version: SimulatedSchema.newest)
        .first(where: { $0.name == id.table })
    else { return [] }
    var found: [RowID] = []
    for (column, value) in zip(table.key, id.key) {
      if let parent = column.parent { found.append(RowID(table: parent, key: [value])) }
    }
    for column in table.columns {
      guard let parent = column.parent else { continue }
      for (_, value) in values(column: column.name) where value != .null {
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
        inOrder[place].edits.append((device: device.setup.number, edit: edit))
      }
    }
  }

  subscript(id: RowID) -> RowHistory? { places[id].map { inOrder[$0] } }

  /// What users have done with a row.
  func words(id: RowID) -> String { ": " + (self[id]?.words ?? "nobody has made it") }

  /// Whether a row that it ever referred to was ever deleted.
  func isShaken(history: RowHistory, schema: SimulatedSchema) -> Bool {
    history.parents(schema: schema)
      .contains { parent in
        guard let other = self[parent] else { return false }
        return !other.deleters.isEmpty || isShaken(history: other, schema: schema)
      }
  }
}
