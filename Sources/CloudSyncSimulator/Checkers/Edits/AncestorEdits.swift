import CloudSyncCore

/// The edits in the records from which a device's edits were made: where a record is made anew they are saved again,
/// though not as edits.
struct AncestorEdits {
  private var numbers: [DeviceRecordKey: Set<Int64>] = [:]

  mutating func note(_ event: SimulationEvent, on device: Int) {
    guard case .event(let record, _, _) = event, case .doWork(.modify(let operation)) = record.event
    else { return }
    for ancestor in operation.ancestors {
      let key = DeviceRecordKey(device: device, name: ancestor.recordID.name)
      numbers[key, default: []].formUnion(ancestor.editValues.map(\.number))
    }
  }

  func contains(_ number: Int64, of key: DeviceRecordKey) -> Bool {
    numbers[key]?.contains(number) ?? false
  }
}
