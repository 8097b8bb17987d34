import CloudSyncCore
import CloudSyncSimulator

/// Only the feed tells of absence: what the cloud says to lack is not sent again before a fetch has told more.
final class AbsenceChecker: SimulationChecker {
  let rule =
    "a record that the cloud lacks is not changed again before a fetch has told what became of it"

  /// A record as it was to be changed, by a session: one that is stopped before its engine has stored a response takes
  /// the response along.
  private struct Change: Hashable {
    var device: Int
    var epoch: UInt64
    var name: String
    var tag: String
  }

  /// What the cloud has answered to lack since the last fetch: an operation of which a part is repeated ends later.
  private var denied: Set<Change> = []
  /// How often engines were told of those: the first response may not count, where the zone has turned out to be another one
  /// since.
  private var missing: [Change: Int] = [:]

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    switch event {
    case .called(.modify(let operation), let context):
      let sent = changes(by: operation, epoch: context.attempt.epoch, device: device)
      guard let change = sent.first(where: { missing[$0] ?? 0 > 1 }) else { return nil }
      return "device \(device) has sent \(change.name) again, which the cloud lacks"
    case .answered(.modify(let operation), let context, let result):
      let lacking = result.missingNames
      for change in changes(by: operation, epoch: context.attempt.epoch, device: device)
      where lacking.contains(change.name) {
        denied.insert(change)
      }
    case .completed(let operation, let response):
      let lacking = response.failures.missingNames
      for change in changes(by: operation, epoch: operation.id.epoch, device: device)
      where lacking.contains(change.name) && denied.contains(change) {
        missing[change, default: 0] += 1
      }
    case .answered(.fetch, _, .success):
      denied = denied.filter { $0.device != device }
      missing = missing.filter { $0.key.device != device }
    default: break
    }
    return nil
  }

  /// The changes of records that were there.
  private func changes(by operation: ModifyOperation, epoch: UInt64, device: Int) -> [Change] {
    operation.records.compactMap { record in
      record.changeTag.map { tag in
        Change(device: device, epoch: epoch, name: record.recordID.name, tag: tag)
      }
    }
  }
}

extension Array where Element == ItemFailure {
  fileprivate var missingNames: Set<String> {
    Set(filter { $0.error.code == .unknownItem }.map(\.recordID.name))
  }
}

extension Result where Success == SyncWork.Result, Failure == SyncError {
  /// The names of the records that the cloud says to lack.
  fileprivate var missingNames: Set<String> {
    switch self {
    case .success(.modify(let response)): response.failures.missingNames
    case .failure(let error): error.itemErrors.missingNames
    case .success: []
    }
  }
}
