import CloudSyncCore

/// Edits of one record reach the cloud in the order in which a device made them, each once; what a device has not edited
/// goes over nothing.
final class OrderChecker: SimulationChecker {
  let rule = "edits of one record reach the cloud in the order in which they were made"

  private struct Trail {
    /// The last edit of each field that was committed.
    var lastOfField: [String: Int64] = [:]
    var lastSave: Int64 = 0
    /// The last deletion that the user made.
    var lastDeletion: Int64 = 0
    /// The zone, and how often the record had been deleted in it, when the last edit was committed.
    var life: Int64 = 0
    /// Whether the app has called off a deletion that may still be on its way to the cloud.
    var mayBeDeleted = false
  }

  /// Whether the cloud answers a repeated request as the first time: else an edit whose response was
  /// lost may be saved twice.
  private let knowsWriteTokens: Bool
  /// Who made each edit: a record that is made again may carry others' fields.
  private var makers: [Int64: Int] = [:]
  private var trails: [DeviceRecordKey: Trail] = [:]
  /// The edit that each field in the cloud has its value from, by the record's name.
  private var cloud: [String: [String: Int64]] = [:]
  /// Counts the lives of records: a deletion or the loss of the zone ends one.
  private var lives: [String: Int] = [:]
  private var zoneLosses = 0
  private var newSaves = NewSaves()
  private var repeats = RepeatedEdits()
  private var ancestors = AncestorEdits()

  init(knowsWriteTokens: Bool) { self.knowsWriteTokens = knowsWriteTokens }

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    repeats.note(event, on: device)
    ancestors.note(event, on: device)
    switch event {
    case .edited(let edits):
      for edit in edits { makers[edit.number] = device }
      for edit in edits where edit.change == .delete {
        let key = DeviceRecordKey(device: device, name: edit.name)
        trails[key, default: Trail()].lastDeletion = edit.number
      }
    case .zoneLost, .storeRestored:
      zoneLosses += 1
      cloud = [:]
    case .recordRemoved(let recordID): cloud[recordID.name] = nil
    case .failed(.modify(let operation), let error) where error.code == .cancelled:
      for failure in error.itemErrors where failure.error.code == .outcomeUnknown {
        guard operation.recordIDsToDelete.contains(failure.recordID) else { continue }
        let key = DeviceRecordKey(device: device, name: failure.recordID.name)
        trails[key, default: Trail()].mayBeDeleted = true
      }
    case .carriedOut(.modify(let operation), _, .success(.modify(let response))):
      return check(operation: operation, response: response, device: device)
    default: break
    }
    return nil
  }

  private func check(
    operation: ModifyOperation,
    response: ModifyOperation.Response,
    device: Int
  ) -> String? {
    for record in newSaves.note(operation, response) {
      if let wrong = checkSave(record: record, device: device) { return wrong }
      if let wrong = checkOthers(in: record, device: device) { return wrong }
    }
    for recordID in response.deletedRecordIDs {
      let key = DeviceRecordKey(device: device, name: recordID.name)
      if let trail = trails[key], trail.lastSave > trail.lastDeletion, knowsWriteTokens,
        !trail.mayBeDeleted
      {
        return "device \(device) deleted \(key.name) after its later edit \(trail.lastSave)"
      }
      lives[recordID.name, default: 0] += 1
      cloud[recordID.name] = nil
    }
    return nil
  }

  /// What another device has edited is saved with a record that is made anew, and over nothing.
  private func checkOthers(in record: Record, device: Int) -> String? {
    let name = record.recordID.name
    let present = cloud[name]
    for field in record.editValues {
      let isOwn = makers[field.number] == device
      if !isOwn, let other = present?[field.name], other != field.number {
        return "device \(device) saved edit \(field.number) of another device over edit \(other)"
          + " of \(name)"
      }
      cloud[name, default: [:]][field.name] = field.number
    }
    return nil
  }

  private func checkSave(record: Record, device: Int) -> String? {
    let key = DeviceRecordKey(device: device, name: record.recordID.name)
    var trail = trails[key] ?? Trail()
    let life = Int64(zoneLosses) << 32 + Int64(lives[key.name] ?? 0)
    let isNew = cloud[key.name] == nil
    for field in record.editValues where makers[field.number] == device {
      if isNew, ancestors.contains(field.number, of: key) { continue }
      let last = trail.lastOfField[field.name] ?? 0
      if field.number < last {
        return "device \(device) saved edit \(field.number) of \(key.name) after edit \(last)"
      }
      let isAllowed = !knowsWriteTokens || repeats.contains(field.number)
      if field.number == last, life == trail.life, !isAllowed {
        return "device \(device) saved edit \(field.number) of \(key.name) a second time"
      }
      trail.lastOfField[field.name] = field.number
      trail.lastSave = max(trail.lastSave, field.number)
    }
    trail.life = life
    trails[key] = trail
    return nil
  }
}
