import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator

/// What the cloud has said of a save is heard: a record that was saved as a change of one version, or met another version,
/// is not sent as a change of that version again.
final class AnswerChecker: SimulationChecker {
  let rule = "a record is not sent again as it was before the cloud has answered"

  /// A record as it was to be changed.
  private struct Change: Hashable {
    var device: Int
    var name: String
    var tag: String?
  }

  private struct Operation: Hashable {
    var device: Int
    var id: OperationID
  }

  /// What was submitted, and not announced as completed.
  private var open: Set<Operation> = []
  /// What of it was submitted before a page came, which may have told that there is no such record: an operation of
  /// which a part is repeated ends later.
  private var overtaken: Set<Operation> = []
  /// What the engines were told of, if no page has told more since.
  private var heard: Set<Change> = []
  /// When each device last got a page, in nanoseconds.
  private var pages: [Int: Int64] = [:]

  /// How long a page may wait for others before an engine stores it: what is submitted meanwhile does not know of it.
  private static let storingTime: Int64 = 100_000_000

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    switch event {
    case .event(let record, _, _):
      guard case .doWork(.modify(let operation)) = record.event else { break }
      let submitted = Operation(device: device, id: operation.id)
      open.insert(submitted)
      if let page = pages[device], time - page < Self.storingTime { overtaken.insert(submitted) }
    case .called(.modify(let operation), _):
      let sent = changes(by: operation, device: device)
      guard let change = sent.first(where: heard.contains) else { break }
      return "device \(device) has sent \(change.name) over \(change.tag ?? "nothing") again"
    case .completed(let operation, let response):
      let ended = Operation(device: device, id: operation.id)
      open.remove(ended)
      if overtaken.remove(ended) != nil { break }
      let names = response.settledNames
      heard.formUnion(changes(by: operation, device: device).filter { names.contains($0.name) })
    case .page:
      pages[device] = time
      overtaken.formUnion(open.filter { $0.device == device })
      heard = heard.filter { $0.device != device }
    // A session that is stopped before its engine has stored a response takes the response along.
    case .launched, .copied:
      open = open.filter { $0.device != device }
      overtaken = overtaken.filter { $0.device != device }
      heard = heard.filter { $0.device != device }
    case .carriedOut(.modify, _, .success(.modify(let response))):
      let names = Set(response.deletedRecordIDs.map(\.name))
      if !names.isEmpty { heard = heard.filter { !names.contains($0.name) } }
    case .recordRemoved(let recordID): heard = heard.filter { $0.name != recordID.name }
    case .zoneLost, .storeRestored:
      overtaken = open
      heard = []
    default: break
    }
    return nil
  }

  private func changes(by operation: ModifyOperation, device: Int) -> [Change] {
    operation.records.map {
      Change(device: device, name: $0.recordID.name, tag: $0.changeTag)
    }
  }
}

extension ModifyOperation.Response {
  /// The names of the records that were saved, or met another version.
  fileprivate var settledNames: Set<String> {
    Set(savedRecords.map(\.recordID.name)).union(failures.conflictNames)
  }
}

extension Array where Element == ItemFailure {
  fileprivate var conflictNames: Set<String> {
    let conflicts = filter {
      [.serverRecordChanged, .awaitsAppEdit].contains($0.error.code) && $0.error.serverRecord != nil
    }
    return Set(conflicts.map(\.recordID.name))
  }
}
