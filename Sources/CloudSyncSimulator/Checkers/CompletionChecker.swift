import CloudSyncCore

/// A session announces the end of each operation once, in order, and only what is so.
final class CompletionChecker: SimulationChecker {
  let rule = "operations end once, in order, and say only what is so"

  private var lastNumber: [UInt64]
  private var versions: Set<RecordVersion> = []
  private var ended: [Set<OperationID>]

  init(devices: Int) {
    lastNumber = Array(repeating: 0, count: devices)
    ended = Array(repeating: [], count: devices)
  }

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    switch event {
    case .launched:
      lastNumber[device] = 0
      ended[device] = []
    case .carriedOut(_, _, .success(.modify(let response))):
      for record in response.savedRecords {
        versions.insert(
          RecordVersion(name: record.recordID.name, tag: record.changeTag ?? "")
        )
      }
    case .answered(_, _, .success(.modify(let response))):
      // A conflict may show that a record is there already.
      for failure in response.failures { note(failure.error.serverRecord) }
    case .answered(_, _, .failure(let error)):
      note(error.serverRecord)
      for failure in error.itemErrors { note(failure.error.serverRecord) }
    case .answered(_, _, .success(.fetch(let response))):
      for record in response.changedRecords { note(record) }
    case .completed(let operation, let response):
      return check(operation: operation, response: response, device: device)
    case .parked(.saved(let record)), .parked(.alreadyInCloud(let record)):
      return check(record: record, device: device)
    case .failed(let work, let error):
      // What the app has cancelled ends at once, before its turn.
      guard case .modify(let operation) = work else { break }
      if error.code == .cancelled, ended[device].insert(operation.id).inserted { break }
      return "device \(device) gave up operation \(operation.id): \(error)"
    default: break
    }
    return nil
  }

  private func note(_ record: Record?) {
    guard let record else { return }
    versions.insert(RecordVersion(name: record.recordID.name, tag: record.changeTag ?? ""))
  }

  private func check(record: Record, device: Int) -> String? {
    let version = RecordVersion(name: record.recordID.name, tag: record.changeTag ?? "")
    if versions.contains(version) { return nil }
    return "device \(device) was told that \(version.name) is saved as \(version.tag), it is not"
  }

  private func check(
    operation: ModifyOperation,
    response: ModifyOperation.Response,
    device: Int
  ) -> String? {
    if !ended[device].insert(operation.id).inserted {
      return "device \(device) was told twice that \(operation.id) has ended"
    }
    if operation.id.number <= lastNumber[device] {
      return "device \(device) was told of \(operation.id) after operation \(lastNumber[device])"
    }
    lastNumber[device] = operation.id.number
    let count = response.doneCount + response.failures.count
    if count != operation.itemCount {
      return "device \(device) was told of \(count) of \(operation.itemCount) records"
        + " of \(operation.id)"
    }
    for record in response.savedRecords + response.alreadyInCloud {
      if let wrong = check(record: record, device: device) { return wrong }
    }
    return nil
  }
}
