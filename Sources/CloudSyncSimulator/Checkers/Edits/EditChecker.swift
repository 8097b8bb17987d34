import CloudSyncCore

/// Every edit that the user made is in the cloud at some time, unless a later one of the same device
/// replaced it before it was sent.
final class EditChecker: SimulationChecker {
  let rule = "every acknowledged edit is present or superseded by a later one"

  private struct Entry {
    var edit: DeviceEdit
    /// How many things had happened in the cloud when it was made.
    var madeAt: Int
    var isCommitted = false
  }

  /// By the edit's number.
  private var entries: [Int64: Entry] = [:]
  private var byRecord: [DeviceRecordKey: [Int64]] = [:]
  /// The keys in the order in which they came up.
  private var keys: [DeviceRecordKey] = []
  private var lastDeletion: [DeviceRecordKey: Int] = [:]
  /// Deletions that the device was told to be refused: an edit may take their place.
  private var refusedDeletions: Set<DeviceRecordKey> = []
  private var changes = 0

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    switch event {
    case .edited(let edits):
      for edit in edits {
        let key = DeviceRecordKey(device: device, name: edit.name)
        if byRecord[key] == nil { keys.append(key) }
        byRecord[key, default: []].append(edit.number)
        entries[edit.number] = Entry(edit: edit, madeAt: changes)
      }
    case .carriedOut(.modify(let operation), _, .success(.modify(let response))):
      changes += 1
      note(operation, response, device: device)
      noteMissing(failures: response.failures, device: device)
    case .carriedOut(.modify, _, .failure(let error)):
      changes += 1
      noteMissing(failures: error.itemErrors, device: device)
    case .completed(let operation, let response):
      noteRefused(response.failures, of: operation, device: device)
    case .failed(.modify(let operation), let error):
      noteRefused(error.itemErrors, of: operation, device: device)
    default: break
    }
    return nil
  }

  private func noteRefused(_ failures: [ItemFailure], of operation: ModifyOperation, device: Int) {
    for failure in failures where operation.recordIDsToDelete.contains(failure.recordID) {
      refusedDeletions.insert(DeviceRecordKey(device: device, name: failure.recordID.name))
    }
  }

  private func note(
    _ operation: ModifyOperation,
    _ response: ModifyOperation.Response,
    device: Int
  ) {
    var saved = Set(response.savedRecords.map(\.recordID.name))
    for record in operation.records where saved.remove(record.recordID.name) != nil {
      for field in record.editValues { entries[field.number]?.isCommitted = true }
    }
    for recordID in response.deletedRecordIDs {
      lastDeletion[DeviceRecordKey(device: device, name: recordID.name)] = changes
    }
  }

  /// What is missing need not be deleted.
  private func noteMissing(failures: [ItemFailure], device: Int) {
    for failure in failures where failure.error.code == .unknownItem {
      lastDeletion[DeviceRecordKey(device: device, name: failure.recordID.name)] = changes
    }
  }

  func finish(_ end: SimulationEnd) -> String? {
    for key in keys {
      var covered: Set<String> = []
      for number in (byRecord[key] ?? []).reversed() {
        guard let entry = entries[number] else { continue }
        switch entry.edit.change {
        case .delete:
          let isReplaced = !covered.isEmpty && refusedDeletions.contains(key)
          guard isReplaced || (lastDeletion[key] ?? 0) > entry.madeAt else {
            return "device \(key.device) deleted \(key.name) by edit \(number), the cloud never did"
          }
          // What was edited before may never have been sent.
          covered = ["*"]
        case .set(let field):
          guard entry.isCommitted || covered.contains("*") || covered.contains(field) else {
            return "edit \(number) of \(key.name) on device \(key.device) never came to the cloud"
          }
          covered.insert(field)
        }
      }
    }
    return nil
  }
}
