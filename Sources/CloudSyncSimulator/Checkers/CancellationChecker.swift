import CloudSyncCore

/// An operation ends as cancelled only if the app has cancelled it, and of what is said not to have been sent nothing is in
/// the cloud.
final class CancellationChecker: SimulationChecker {
  let rule = "what is cancelled says truly whether it may be in the cloud"

  private struct Host {
    /// The operations that the app has cancelled.
    var cancelled: Set<OperationID> = []
    /// Edits that may be in the cloud although their operation was cancelled, or has handed them back.
    var inDoubt: Set<Int64> = []
  }

  private struct Saved {
    let number: Int64
    let device: Int
  }

  private var hosts: [Host]
  /// The edit that each field in the cloud has its value from, and the device that saved it, by the record's name: one
  /// that makes a record again may save others' edits with it.
  private var cloud: [String: [String: Saved]] = [:]

  private var newSaves = NewSaves()
  private var ancestors = AncestorEdits()

  init(devices: Int) { hosts = Array(repeating: Host(), count: devices) }

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    ancestors.note(event, on: device)
    switch event {
    case .event(_, .cancel(let id)?, _): hosts[device].cancelled.insert(id)
    case .carriedOut(.modify(let operation), _, .success(.modify(let response))):
      for record in newSaves.note(operation, response) {
        for field in record.editValues {
          let saved = Saved(number: field.number, device: device)
          cloud[record.recordID.name, default: [:]][field.name] = saved
        }
      }
      for recordID in response.deletedRecordIDs { cloud[recordID.name] = nil }
    case .zoneLost, .storeRestored: cloud = [:]
    case .completed(let operation, let response):
      // What is handed back may be there whatever it was refused for: a response before that may have been lost.
      hosts[device].inDoubt.formUnion(operation.editNumbers(of: response.failures))
    case .failed(.modify(let operation), let error) where error.code == .cancelled:
      return check(operation, error, device: device)
    default: break
    }
    return nil
  }

  private func check(_ operation: ModifyOperation, _ error: SyncError, device: Int) -> String? {
    guard hosts[device].cancelled.contains(operation.id) else {
      return "device \(device) was told that \(operation.id) is cancelled, nobody did that"
    }
    guard !error.itemErrors.isEmpty, error.itemErrors.count <= operation.itemCount else {
      return "device \(device) was told that \(error.itemErrors.count) of \(operation.itemCount)"
        + " records of \(operation.id) are cancelled"
    }
    hosts[device].inDoubt.formUnion(operation.numbersInDoubt(by: error.itemErrors))
    let records = Dictionary(operation.records.map { ($0.recordID, $0) }) { first, _ in first }
    for failure in error.itemErrors {
      let numbers = records[failure.recordID]?.editValues.map(\.number) ?? []
      guard failure.error.code == .cancelled else { continue }
      let saved = cloud[failure.recordID.name]?.values.filter { $0.device == device } ?? []
      for number in numbers where saved.contains(where: { $0.number == number }) {
        // Its edit was in an operation before that which was given up, too.
        if hosts[device].inDoubt.contains(number) { continue }
        let key = DeviceRecordKey(device: device, name: failure.recordID.name)
        if ancestors.contains(number, of: key) { continue }
        let name = failure.recordID.name
        return "device \(device) was told that edit \(number) of \(name) was not sent:"
          + " \(failure.error)"
      }
    }
    return nil
  }
}
