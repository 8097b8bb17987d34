import CloudSyncCore

extension FaultyOperationHandler {
  /// Answers a modification of which some records are refused in passing.
  ///
  /// Half of these records take all others of their request with them, as in an atomic zone.
  func refuseRecords(_ call: FaultyCall) {
    guard case .modify(let operation) = call.work, let first = call.journey.culprits.first else {
      return carryOut(call: call)
    }
    let culprits = call.journey.culprits
    let others = operation.without(culprits.map(\.recordID))
    if others.itemCount == 0 || first.recordID.hash(8) % 2 == 0 {
      return answer(
        call: call,
        result: .failure(operation.failing(culprits, othersWith: .batchRequestFailed))
      )
    }
    var rest = call
    rest.work = .modify(others)
    // Another token, because it is another request: the cloud must not answer it as the whole one.
    rest.context = RequestContext(
      attempt: call.context.attempt,
      writeToken: WriteToken(
        nonce: ~call.context.writeToken.nonce,
        number: call.context.writeToken.number
      ),
      deadline: call.context.deadline
    )
    carryOut(call: rest) { [self] result in
      answer(call: call, result: result.adding(culprits, to: operation))
    }
  }
}

extension FaultPoint {
  /// What an item is answered that is refused in passing.
  static let passingCodes: [SyncError.Code] = [
    .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited, .zoneBusy,
  ]
}

extension SyncWork {
  /// The records of a modification that a fault of single records is about.
  ///
  /// - Parameters:
  ///   - point: The fault.
  ///   - ratio: How many records it is about.
  ///   - seed: What says which; it is not changed.
  /// - Returns: The records in the order of the request, each with what it is answered.
  func culprits(
    _ point: FaultPoint,
    ratio: FaultPlan.Ratio,
    seed: SeededRandom
  ) -> [ItemFailure] {
    guard case .modify(let operation) = self else { return [] }
    return operation.itemIDs.compactMap { recordID in
      var random = seed.fork(recordID.hash(1))
      guard random.chance(ratio.hits, in: ratio.cases) else { return nil }
      return ItemFailure(recordID, SyncError(random.pick(FaultPoint.passingCodes)))
    }
  }
}

extension RecordID {
  /// A number made of the name, the same everywhere and for ever.
  fileprivate func hash(_ salt: UInt64) -> UInt64 {
    name.utf8.reduce(0xcbf2_9ce4_8422_2325 ^ salt) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
  }
}

extension ModifyOperation {
  /// What is saved and deleted, in the order of the request.
  fileprivate var itemIDs: [RecordID] { records.map(\.recordID) + recordIDsToDelete }

  fileprivate func without(_ culprits: [RecordID]) -> ModifyOperation {
    ModifyOperation(
      records: records.filter { !culprits.contains($0.recordID) },
      recordIDsToDelete: recordIDsToDelete.filter { !culprits.contains($0) }
    )
  }

  /// The error of a request of which some items fail, and all others because of them.
  fileprivate func failing(_ culprits: [ItemFailure], othersWith code: SyncError.Code) -> SyncError
  {
    let failures = itemIDs.map { recordID in
      culprits.first { $0.recordID == recordID } ?? ItemFailure(recordID, SyncError(code))
    }
    return SyncError(.partialFailure, itemErrors: failures)
  }
}

extension Result where Success == SyncWork.Result, Failure == SyncError {
  /// The answer with further items that failed, in the order of the request.
  fileprivate func adding(_ culprits: [ItemFailure], to operation: ModifyOperation) -> Self {
    func ordered(_ failures: [ItemFailure]) -> [ItemFailure] {
      operation.itemIDs.compactMap { recordID in
        (failures + culprits).first { $0.recordID == recordID }
      }
    }
    switch self {
    case .success(.modify(var response)):
      response.failures = ordered(response.failures)
      return .success(.modify(response))
    case .failure(let error) where error.code == .partialFailure:
      return .failure(SyncError(.partialFailure, itemErrors: ordered(error.itemErrors)))
    default: return self
    }
  }
}
