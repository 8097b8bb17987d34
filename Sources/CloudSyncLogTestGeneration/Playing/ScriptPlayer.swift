import CloudSyncCore
import CloudSyncVirtualTime

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The handler, the provider and the closures of a session that a script is played to.
final class ScriptPlayer: OperationHandler {
  private struct Rest: Sendable {
    /// By kind of work, the next one last.
    var answers: [[SessionScript.Answer]]
    /// The next one last.
    var accountAnswers: [SessionScript.AccountAnswer]
    var lastAccount = SessionScript.AccountAnswer(status: .available)
    /// Decisions that have not been asked for.
    var decisions: [Decision]
    /// Counts saved records, for their change tags.
    var saves = 0
  }

  let limits: RequestLimits
  private let world: VirtualEnvironment
  private let rest: Locked<Rest>

  init(_ script: SessionScript, limits: RequestLimits, in world: VirtualEnvironment) {
    self.limits = limits
    self.world = world
    let answers = OperationMode.allCases.map { mode in
      Array(script.answers.filter { $0.mode == mode }.reversed())
    }
    rest = Locked(
      Rest(
        answers: answers,
        accountAnswers: script.accountAnswers.reversed(),
        decisions: script.decisions
      )
    )
  }

  // MARK: Answers

  /// Gives the next response of a kind, when its time has come.
  private func answer(
    _ mode: OperationMode,
    done: @escaping @Sendable () -> SyncWork.Result,
    give: @escaping @Sendable (Result<SyncWork.Result, SyncError>) -> Void
  ) {
    let answer = rest.withLock { $0.answers[mode.rawValue].popLast() } ?? .done(mode)
    switch answer.content {
    case .lost: break
    case .done: world.schedule(after: answer.delay) { give(.success(done())) }
    case .result(let result): world.schedule(after: answer.delay) { give(result) }
    }
  }

  func handle(
    createZoneOperation: CreateZoneOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    answer(.createZone, done: { .createZone(true) }) { result in
      completion(result.map { if case .createZone(let exists) = $0 { exists } else { false } })
    }
  }

  func handle(
    createSubscriptionOperation: CreateSubscriptionOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    answer(.createSubscription, done: { .createSubscription(true) }) { result in
      completion(
        result.map { if case .createSubscription(let exists) = $0 { exists } else { false } }
      )
    }
  }

  func handle(
    modifyOperation: ModifyOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
  ) {
    answer(.modify, done: { .modify(self.allDone(in: modifyOperation)) }) { result in
      completion(result.map { if case .modify(let response) = $0 { response } else { .init() } })
    }
  }

  func handle(
    fetchOperation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  ) {
    answer(.fetch, done: { .fetch(Self.lastPage(of: fetchOperation)) }) { result in
      completion(
        result.map {
          if case .fetch(let response) = $0 { response } else { .init(changeToken: nil) }
        }
      )
    }
  }

  private func allDone(in operation: ModifyOperation) -> ModifyOperation.Response {
    let first = rest.withLock { rest in
      defer { rest.saves += operation.records.count }
      return rest.saves + 1
    }
    let saved = operation.records.enumerated().map { $1.withChangeTag("saved-\(first + $0)") }
    return .init(savedRecords: saved, deletedRecordIDs: operation.recordIDsToDelete)
  }

  private static func lastPage(of operation: FetchOperation) -> FetchOperation.Response {
    if operation.isLookup {
      let failures = operation.recordIDs.map { ItemFailure($0, SyncError(.unknownItem)) }
      return .init(failures: failures, changeToken: nil)
    }
    return .init(changeToken: operation.changeToken ?? ChangeToken(Data("end".utf8)))
  }

  // MARK: Account

  /// Answers a question about the account.
  func answerAccount(completion: @escaping AccountStatusProvider.Completion) {
    let answer = rest.withLock { rest -> SessionScript.AccountAnswer in
      guard let next = rest.accountAnswers.popLast() else { return rest.lastAccount }
      if next.status != nil { rest.lastAccount = next }
      return next
    }
    guard let status = answer.status else { return }
    world.schedule(after: answer.delay) { completion(status, answer.identity) }
  }

  // MARK: Decisions

  var resolver: ConflictResolver {
    ConflictResolver { (conflict: Conflict) -> ConflictResolution in
      self.recordedResolution(of: conflict.client.recordID)
        ?? ConflictResolver.fieldwise(default: .client).resolve(conflict)
    }
  }

  private func recordedResolution(of recordID: RecordID) -> ConflictResolution? {
    rest.withLock { rest in
      for (place, decision) in rest.decisions.enumerated() {
        guard case .conflict(recordID, let resolution) = decision else { continue }
        rest.decisions.remove(at: place)
        return resolution
      }
      return nil
    }
  }

  /// The token to fetch from when one has expired.
  func tokenAfterExpiry() -> ChangeToken? {
    rest.withLock { rest in
      for (place, decision) in rest.decisions.enumerated() {
        guard case .expiredToken(let token) = decision else { continue }
        rest.decisions.remove(at: place)
        return token
      }
      return nil
    }
  }
}
