import CloudSyncCore

extension FaultPoint {
  /// What an item is answered that is refused in passing.
  static let passingCodes: [SyncError.Code] = [
    .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited, .zoneBusy,
  ]
}

extension FaultPlan {
  /// What the cloud refuses single records with, always the same of a record; nil if it refuses none.
  func refusal(seed: SeededRandom) -> (@Sendable (RecordID) -> SyncError?)? {
    let ratio = self[.recordRefused]
    guard ratio.hits > 0 else { return nil }
    return { recordID in
      guard var random = ratio.hit(recordID, seed: seed) else { return nil }
      return SyncError(random.pick(FaultPoint.passingCodes))
    }
  }
}

extension SyncWork {
  /// Whether any record of a modification or a look-up is one that is hit.
  ///
  /// - Parameters:
  ///   - ratio: How many records are.
  ///   - seed: What says which; it is not changed.
  /// - Returns: Whether there is one; false for other work.
  func hasRecord(hitBy ratio: FaultPlan.Ratio, seed: SeededRandom) -> Bool {
    let recordIDs: [RecordID] =
      switch self {
      case .modify(let operation): operation.records.map(\.recordID) + operation.recordIDsToDelete
      case .fetch(let operation) where operation.isLookup: operation.recordIDs
      default: []
      }
    return recordIDs.contains { ratio.hit($0, seed: seed) != nil }
  }
}

extension FaultPlan.Ratio {
  /// What the details of a record's fault are drawn from, always the same; nil if it has none.
  fileprivate func hit(_ recordID: RecordID, seed: SeededRandom) -> SeededRandom? {
    var random = seed.fork(recordID.hash)
    return random.chance(hits, in: cases) ? random : nil
  }
}

extension RecordID {
  /// A number made of the name, the same everywhere and for ever.
  fileprivate var hash: UInt64 {
    name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
  }
}

extension Result where Success == SyncWork.Result, Failure == SyncError {
  /// The fault that a response without another shows: single records that are refused in passing.
  var pointOfItems: FaultPoint? {
    let failures: [ItemFailure]
    switch self {
    case .success(.modify(let response)): failures = response.failures
    case .failure(let error) where error.code == .partialFailure: failures = error.itemErrors
    default: return nil
    }
    let isPassing = failures.contains { FaultPoint.passingCodes.contains($0.error.code) }
    return isPassing ? .recordRefused : nil
  }
}
