import CloudSyncCore

/// A record that was deleted comes into being again only by an edit that was not in the cloud before.
final class DeletionChecker: SimulationChecker {
  let rule = "nothing deleted comes back"

  /// Whether the cloud answers a repeated request as the first time: else a record that was deleted
  /// between the two is made again.
  private let knowsWriteTokens: Bool
  private var present: Set<String> = []
  private var deleted: Set<String> = []
  /// Edits that were saved by the device that made them, in this zone.
  private var committed: Set<Int64> = []
  private var makers: [Int64: Int] = [:]
  private var newSaves = NewSaves()
  private var repeats = RepeatedEdits()
  private var ancestors = AncestorEdits()

  init(knowsWriteTokens: Bool) { self.knowsWriteTokens = knowsWriteTokens }

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    repeats.note(event, on: device)
    ancestors.note(event, on: device)
    switch event {
    case .edited(let edits): for edit in edits { makers[edit.number] = device }
    case .zoneLost, .storeRestored:
      // What was in the zone was deleted with it.
      deleted.formUnion(present)
      present = []
      // An edit whose response was lost with it is sent again.
      committed = []
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
      let name = record.recordID.name
      let key = DeviceRecordKey(device: device, name: name)
      let values = record.editValues
      let isNew = present.insert(name).inserted
      if isNew, deleted.contains(name), knowsWriteTokens,
        !values.contains(where: {
          !committed.contains($0.number) || repeats.contains($0.number)
        })
      {
        return "\(name) is back in the cloud, saved by device \(device) without a new edit"
      }
      for field in values where makers[field.number] == device {
        // Made anew with the whole ancestor, the record has what may have been handed back unsent.
        if !isNew || !ancestors.contains(field.number, of: key) { committed.insert(field.number) }
      }
    }
    for recordID in response.deletedRecordIDs where present.remove(recordID.name) != nil {
      deleted.insert(recordID.name)
    }
    return nil
  }
}
