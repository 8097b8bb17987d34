import CloudSyncCore

/// A save carries a change tag that the device was told, and so overwrites nothing unseen.
final class TagChecker: SimulationChecker {
  let rule = "a save carries only change tags that its device was told"

  private struct Told: Hashable {
    var device: Int
    var version: RecordVersion
  }

  private var told: Set<Told> = []

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    switch event {
    case .called(.modify(let operation), _):
      for record in operation.records {
        guard let tag = record.changeTag else { continue }
        let version = RecordVersion(name: record.recordID.name, tag: tag)
        guard !told.contains(Told(device: device, version: version)) else { continue }
        return "device \(device) saves \(version.name) with the tag \(tag), which it was never told"
      }
    case .answered(_, _, .success(.modify(let response))):
      for record in response.savedRecords { note(record, on: device) }
      for failure in response.failures { note(failure.error.serverRecord, on: device) }
    case .answered(_, _, .success(.fetch(let response))):
      for record in response.changedRecords { note(record, on: device) }
    case .copied(let source):
      for one in told where one.device == source {
        told.insert(Told(device: device, version: one.version))
      }
    case .answered(_, _, .failure(let error)):
      note(error.serverRecord, on: device)
      for failure in error.itemErrors { note(failure.error.serverRecord, on: device) }
    default: break
    }
    return nil
  }

  private func note(_ record: Record?, on device: Int) {
    guard let record, let tag = record.changeTag else { return }
    let version = RecordVersion(name: record.recordID.name, tag: tag)
    told.insert(Told(device: device, version: version))
  }
}
