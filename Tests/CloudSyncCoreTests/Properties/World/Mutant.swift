import CloudSyncCore
import CloudSyncTestSupport

/// What a mutant remembers.
struct MutantMemory: Sendable {
  /// The first version of each record that was sent.
  var held: [String: Record] = [:]
  var lastAnswer: StubCloud.Answer?
}

/// A mistake that is put into a session, its handler or its listeners on purpose, to show that the
/// checks find it.
enum Mutant: String, Sendable, CaseIterable {
  /// Every fifth modification is not queued.
  case dropsWork
  /// A request carries again what an earlier one has carried.
  case sendsOldVersion
  /// A lost request is not kept as it was.
  case forgetsFreezing
  /// Waits are a quarter of what was decided.
  case undercutsWait
  /// The server's waits are taken for the session's own.
  case mistakesWait
  /// Every fifth completion is not told.
  case swallowsCompletion
  case tellsTwice
  /// A completion does not tell what was parked.
  case hidesParked
  /// Saves carry the server's present tag, whatever the app has seen.
  case ignoresOthers
  /// What is to be parked counts as saved.
  case savesParked
  /// The session's own waits take a millisecond.
  case isImpatient
  /// `reset()` is not taken.
  case ignoresReset
  /// What is to be retried is dropped.
  case dropsForRetry
  /// Answers go to the next request.
  case crossesAnswers
  /// What the app says of a page is not heard.
  case missesAcknowledgements
  /// The journal is written late: its last frames are lost in a crash, their effects are not.
  case losesFrames
  /// A record of the log is missing.
  case forgetsEvent
  /// Every run waits a little longer than the one before.
  case driftsApart

  /// How many scripts may pass before one finds it.
  var patience: Int {
    switch self {
    case .losesFrames: 100
    default: 30
    }
  }

  /// Where its middleware is put, if it has one.
  private var neighbour: String? {
    switch self {
    case .dropsWork, .ignoresReset, .missesAcknowledgements, .dropsForRetry:
      "SplittingMiddleware"
    case .forgetsFreezing, .mistakesWait, .savesParked:
      "ErrorMiddleware"
    case .undercutsWait, .isImpatient, .driftsApart: "RetryMiddleware"
    default: nil
    }
  }

  func attach(to session: CloudSyncSession) {
    guard let neighbour else { return }
    session.insertMiddleware(MutantMiddleware(mutant: self), after: neighbour)
  }

  /// Whether a completion is kept from the app.
  func hides(_ id: OperationID) -> Bool { self == .swallowsCompletion && id.number % 5 == 4 }

  /// What the app is told instead.
  func retell(_ response: ModifyOperation.Response) -> ModifyOperation.Response {
    guard self == .hidesParked else { return response }
    var response = response
    response.failures = []
    return response
  }

  /// What the handler gets instead.
  func alter(
    _ call: SyncWork,
    _ memory: inout MutantMemory,
    _ zone: StubZone
  ) -> SyncWork {
    guard case .modify(let operation) = call else { return call }
    var records = operation.records
    for index in records.indices {
      let name = records[index].recordID.name
      switch self {
      case .sendsOldVersion:
        if let held = memory.held[name],
          held.fields.first?.name == records[index].fields.first?.name
        {
          records[index] = held.withChangeTag(records[index].changeTag)
        }
        memory.held[name] = memory.held[name] ?? records[index]
      case .ignoresOthers:
        records[index].changeTag = zone[name]?.changeTag
      default: break
      }
    }
    return .modify(
      ModifyOperation(records: records, recordIDsToDelete: operation.recordIDsToDelete)
    )
  }

  /// What the session gets instead of a response.
  func alter(_ answer: StubCloud.Answer, _ memory: inout MutantMemory) -> StubCloud.Answer {
    guard self == .crossesAnswers, case .success(.modify) = answer else { return answer }
    defer { memory.lastAnswer = answer }
    return memory.lastAnswer ?? answer
  }
}

/// The part of a mutant that changes events.
private struct MutantMiddleware: Middleware {
  let mutant: Mutant
  private let count = Locked(0)
  /// Over all runs, as nothing in a session may be.
  private static let drift = Locked<Int64>(0)

  init(mutant: Mutant) { self.mutant = mutant }

  func run(
    event: SyncEvent,
    context: MiddlewareContext,
    next: (SyncEvent) -> SyncEvent
  ) -> SyncEvent {
    next(changed(event))
  }

  /// Every so many times.
  private func isDue(_ every: Int) -> Bool {
    count.withLock { count in
      count += 1
      return count % every == 0
    }
  }

  private func changed(_ event: SyncEvent) -> SyncEvent {
    switch (mutant, event) {
    case (.dropsWork, .doWork(.modify)): isDue(5) ? .noop : event
    case (.ignoresReset, .reset): .noop
    case (.missesAcknowledgements, .acknowledge): .noop
    case (.dropsForRetry, .retryParked(let recordIDs)): .dropParked(recordIDs)
    case (_, .retry(let attempt, var retry)):
      {
        change(&retry); return .retry(attempt, retry)
      }()
    case (_, .settleItems(let attempt, var settlement)):
      {
        change(&settlement); return .settleItems(attempt, settlement)
      }()
    case (_, .resolveConflict(let attempt, var settlement)):
      {
        change(&settlement); return .resolveConflict(attempt, settlement)
      }()
    default: event
    }
  }

  private func change(_ retry: inout Retry) {
    if mutant == .forgetsFreezing { retry.isLost = false }
    change(&retry.wait)
  }

  private func change(_ wait: inout Wait) {
    switch mutant {
    case .undercutsWait: wait.nanoseconds = wait.nanoseconds.map { $0 / 4 }
    case .isImpatient: if wait.serverNanoseconds == nil { wait.nanoseconds = 1_000_000 }
    case .mistakesWait: wait.serverNanoseconds = nil
    case .driftsApart:
      let drift = Self.drift.withLock { drift in
        drift += 1
        return drift
      }
      wait.nanoseconds = wait.nanoseconds.map { $0 + drift }
    default: break
    }
  }

  private func change(_ settlement: inout Settlement) {
    if var wait = settlement.wait {
      change(&wait)
      settlement.wait = wait
    }
    settlement.verdicts = settlement.verdicts.map { verdict in
      switch (mutant, verdict) {
      case (.savesParked, .park(let error)):
        error.clientRecord.map(ItemVerdict.saved) ?? .deleted
      default: verdict
      }
    }
  }
}
