import CloudSyncCore
import CloudSyncSimulator

/// The part of a mutant that stands between a session and its handler.
struct MutantHandler: WorkHandler {
  private struct Memory: Sendable {
    /// The first version of each record that was sent.
    var first: [String: Record] = [:]
    var lastToken: WriteToken?
    var repeats: UInt64 = 0
    var held: Result<SyncWork.Result, SyncError>?
    var fetches = 0
    var oldToken: ChangeToken?
  }

  /// The newest tag of each record that any device was told.
  private static let tags = Locked<[String: String]>([:])

  let mutant: Mutant
  let base: any OperationHandler
  private let memory = Locked(Memory())

  init(mutant: Mutant, base: any OperationHandler) {
    self.mutant = mutant
    self.base = base
  }

  var limits: RequestLimits { base.limits }
  var timestampUnit: Duration { base.timestampUnit }

  func cancel(_ attempt: Attempt) { base.cancel(attempt) }

  func handle(
    _ work: SyncWork,
    context: RequestContext,
    completion: @escaping Completion
  ) {
    let (sent, named) = memory.withLock { change(work, context, &$0) }
    base.perform(sent, context: named) { result in
      completion(memory.withLock { change(result, of: work, &$0) })
    }
    if mutant == .sendsTwice, case .modify = work {
      base.perform(sent, context: named) { _ in }
    }
  }

  // MARK: Requests

  private func change(
    _ work: SyncWork,
    _ context: RequestContext,
    _ memory: inout Memory
  ) -> (SyncWork, RequestContext) {
    switch work {
    case .modify(let operation): change(operation, context, &memory)
    case .fetch(var operation):
      {
        if mutant == .fetchesFromOldToken, operation.recordIDs.isEmpty {
          memory.fetches += 1
          if memory.fetches % 3 == 0, let old = memory.oldToken { operation.changeToken = old }
          memory.oldToken = memory.oldToken ?? operation.changeToken
        }
        return (.fetch(operation), context)
      }()
    default: (work, context)
    }
  }

  private func change(
    _ operation: ModifyOperation,
    _ context: RequestContext,
    _ memory: inout Memory
  ) -> (SyncWork, RequestContext) {
    var context = context
    var records = operation.records
    var deletions = operation.recordIDsToDelete
    let isRepeat = context.writeToken == memory.lastToken
    memory.lastToken = context.writeToken
    switch mutant {
    case .sendsOldVersion:
      for index in records.indices {
        let name = records[index].recordID.name
        if let first = memory.first[name] {
          records[index] = first.withChangeTag(records[index].changeTag)
        } else {
          memory.first[name] = records[index]
        }
      }
    case .ignoresOthers:
      for index in records.indices where records[index].changeTag != nil {
        let name = records[index].recordID.name
        records[index].changeTag = Self.tags.withLock { $0[name] } ?? records[index].changeTag
      }
    case .renamesRepeats where isRepeat:
      memory.repeats += 1
      context = RequestContext(
        attempt: context.attempt,
        writeToken: WriteToken(nonce: memory.repeats, number: context.attempt.number),
        deadline: context.deadline
      )
    case .shortensRepeats where isRepeat && operation.itemCount > 1:
      if records.isEmpty { deletions.removeLast() } else { records.removeLast() }
    case .forgetsDeletions where !records.isEmpty: deletions = []
    default: break
    }
    return (
      .modify(ModifyOperation(records: records, recordIDsToDelete: deletions)), context
    )
  }

  // MARK: Answers

  private func change(
    _ result: Result<SyncWork.Result, SyncError>,
    of work: SyncWork,
    _ memory: inout Memory
  ) -> Result<SyncWork.Result, SyncError> {
    switch (work, result) {
    case (.modify(let operation), .failure(let error)):
      if mutant == .believesLostResponse, error.code == .serverResponseLost {
        return .success(
          .modify(
            .init(
              savedRecords: operation.records,
              deletedRecordIDs: operation.recordIDsToDelete
            )
          )
        )
      }
    case (.modify(let operation), .success(.modify(let response))):
      return change(response, of: operation, &memory)
    case (.fetch(let operation), .success(.fetch(var response))):
      guard operation.recordIDs.isEmpty else { break }
      note(response.changedRecords)
      if mutant == .losesRecordOfPage { _ = response.changedRecords.popLast() }
      if mutant == .losesDeletionsOfPage { response.deletedRecords = [] }
      return .success(.fetch(response))
    default: break
    }
    return result
  }

  private func change(
    _ response: ModifyOperation.Response,
    of operation: ModifyOperation,
    _ memory: inout Memory
  ) -> Result<SyncWork.Result, SyncError> {
    note(response.savedRecords)
    var response = response
    switch mutant {
    case .crossesAnswers:
      defer { memory.held = .success(.modify(response)) }
      return memory.held ?? .success(.modify(response))
    case .forgetsDeletions where !operation.records.isEmpty:
      response.deletedRecordIDs = operation.recordIDsToDelete
    case .hidesItemFailures where !response.failures.isEmpty:
      let failed = Set(response.failures.map(\.recordID))
      response.failures = []
      response.savedRecords += operation.records.filter { failed.contains($0.recordID) }
      response.deletedRecordIDs += operation.recordIDsToDelete.filter { failed.contains($0) }
    default: break
    }
    return .success(.modify(response))
  }

  private func note(_ records: [Record]) {
    guard mutant == .ignoresOthers else { return }
    Self.tags.withLock { tags in
      for record in records { tags[record.recordID.name] = record.changeTag }
    }
  }
}
