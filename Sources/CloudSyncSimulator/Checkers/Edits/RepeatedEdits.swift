import CloudSyncCore

/// The edits that a device sends once more because no response to them has arrived.
///
/// The cloud may have them. If they travel under another write token than before, which happens when a
/// request is never answered, they are saved a second time.
struct RepeatedEdits {
  private var unheard: Set<Int64> = []
  private var repeated: Set<Int64> = []
  /// Those that were given up and may be in the cloud, or go there with another edit.
  private var inDoubt: Set<Int64> = []
  /// The attempts whose answers are heard, by device.
  private var inFlight: [Int: Attempt] = [:]

  mutating func note(_ event: SimulationEvent, on device: Int) {
    switch event {
    case .called(.modify(let operation), let context):
      inFlight[device] = context.attempt
      for number in operation.editNumbers where !unheard.insert(number).inserted {
        repeated.insert(number)
      }
    case .cancelled(let attempt):
      if inFlight[device] == attempt { inFlight[device] = nil }
    case .answered(.modify(let operation), let context, .success(.modify(let response)))
    where inFlight[device] == context.attempt:
      let saved = Set(response.savedRecords.map(\.recordID))
      for record in operation.records where saved.contains(record.recordID) {
        unheard.subtract(record.editValues.map(\.number))
        repeated.subtract(record.editValues.map(\.number))
      }
    case .killed(_, let state?, _):
      // A response that was heard and not stored is forgotten.
      guard case .modify(let operation)? = state.currentWork else { break }
      unheard.formUnion(operation.editNumbers)
    case .failed(.modify(let operation), let error) where error.code == .cancelled:
      inDoubt.formUnion(operation.numbersInDoubt(by: error.itemErrors))
    case .completed(let operation, let response):
      inDoubt.formUnion(operation.numbersInDoubt(by: response.failures))
    default: break
    }
  }

  func contains(_ number: Int64) -> Bool { repeated.contains(number) || inDoubt.contains(number) }
}

extension SyncError.Code {
  /// Whether what was sent may have been carried out although this was the response.
  var mayHideResponse: Bool { self == .serverResponseLost || self == .timedOut }
}

extension ModifyOperation {
  /// The edits of which a failure says that they may be in the cloud.
  func numbersInDoubt(by failures: [ItemFailure]) -> [Int64] {
    let codes: [SyncError.Code] = [.outcomeUnknown, .timedOut]
    return editNumbers(of: failures.filter { codes.contains($0.error.code) })
  }

  /// The edits of records that failed.
  func editNumbers(of failures: [ItemFailure]) -> [Int64] {
    let names = Set(failures.map(\.recordID))
    if names.isEmpty { return [] }
    return records.filter { names.contains($0.recordID) }.flatMap { $0.editValues.map(\.number) }
  }

  fileprivate var editNumbers: [Int64] { records.flatMap { $0.editValues.map(\.number) } }
}
