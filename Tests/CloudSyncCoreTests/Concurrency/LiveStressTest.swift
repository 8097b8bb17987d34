import CloudSyncCore
import CloudSyncTestSupport
import Dispatch

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Every public call of a session, and what else happens to it in the world.
enum StressCall: CaseIterable, Sendable {
  case modifyOwn, modifyShared, deleteShared, modifyRefused, modifyNothing, breakRule
  case fetch, fetchAnew, performModify, performFetch, performAndCancel, cancel
  case start, stop, reset, retryNow, connectivityChanged
  case retryParked, dropParked, acknowledge
  case accountDidChange, switchAccount, resolveAccountSwitch, decideZone
  case addMiddleware, journal, snapshot, awaitSnapshot, explain, state, idle, fetchNow
  case sink, sinkAndCancel, values, status
  case otherDevice, loseZone, expireTokens, releaseAnswers
}

/// A session of the real world that many threads call at once, and what came of it.
final class LiveStressTest: Sendable {
  /// What the threads may do.
  enum Kind: Sendable, CaseIterable {
    /// Nothing that gives work of one's own up: every last value must be stored.
    case gentle
    /// Resets, too: every value must be stored that a completion told to be.
    case resetting
    /// Everything, also another account and a zone that is lost.
    case wild

    var calls: [StressCall] {
      let left: [StressCall] =
        switch self {
        case .gentle: [.reset, .switchAccount, .loseZone]
        case .resetting: [.switchAccount, .loseZone]
        case .wild: []
        }
      // Most of what happens is work, and what is stopped is started soon.
      let often: [StressCall] = [.modifyOwn, .modifyOwn, .modifyOwn, .modifyOwn, .modifyShared]
      let life: [StressCall] = [
        .start, .start, .start, .releaseAnswers, .releaseAnswers, .retryNow,
      ]
      return StressCall.allCases.filter { !left.contains($0) } + often + often + life
    }
  }

  struct Plan: Sendable, CustomStringConvertible {
    var kind: Kind
    var manner: MisbehavingHandler.Manner
    var seed: UInt64
    var acknowledges = false
    var hasCallbackQueue = false
    var description: String {
      "\(kind), \(manner), \(seed)" + (acknowledges ? ", acknowledging" : "")
        + (hasCallbackQueue ? ", callbacks elsewhere" : "")
    }
  }

  /// What became of one submission.
  struct Ticket: Sendable {
    /// The record that only its thread edits, and the value it was given.
    var edit: (name: String, value: Int)?
    /// Nil for a failure; otherwise whether the record was saved.
    var endings: [Bool?] = []
  }

  static let refusedName = "bad"
  static let sharedNames = ["s0", "s1", "s2", "s3"]

  let plan: Plan
  let cloud: MisbehavingHandler
  let session: CloudSyncSession
  let tickets = Locked<[Ticket]>([])
  let accepted = Collector<OperationID>()
  let sequences = Collector<UInt64>()
  let tasks = Collector<Task<Void, Never>>()
  /// Tasks that end only with the session.
  let followers = Collector<Task<Void, Never>>()
  let made = Locked<Set<StressCall>>([])
  let journalBytes = Locked(Data())
  let wrongs = Collector<String>()
  private let announced = Locked<[OperationID: Int]>([:])
  private let running = Locked(0)
  private let pages = Locked<(last: PageID?, areStored: Bool)>((nil, false))
  private let isFair: Locked<Bool>
  private let identity: Locked<String>
  private let callbackQueue: DispatchQueue?

  init(_ plan: Plan) {
    self.plan = plan
    let isFair = Locked(false)
    let identity = Locked("A")
    var options = StubCloud.Options()
    options.limits = RequestLimits(items: 5)
    options.pageSize = 7
    options.isAtomic = plan.seed % 2 == 0
    options.failsAsError = plan.seed % 4 < 2
    options.refuse = { id, _ in
      let isRefused = id.name == Self.refusedName && !isFair.withLock { $0 }
      return isRefused ? SyncError(.invalidArguments) : nil
    }
    let stub = StubCloud(options: options) { number, operation in
      isFair.withLock { $0 } ? nil : Self.fault(plan.seed, number, operation)
    }
    let queue = plan.hasCallbackQueue ? DispatchQueue(label: "Callbacks") : nil
    var configuration = SyncConfiguration()
    configuration.firstWait = .milliseconds(1)
    configuration.longestWait = .milliseconds(1)
    configuration.timeout = .milliseconds(40)
    configuration.acknowledgesPages = plan.acknowledges
    self.isFair = isFair
    self.identity = identity
    callbackQueue = queue
    cloud = MisbehavingHandler(stub, plan.manner, seed: plan.seed)
    session = CloudSyncSession(
      operationHandler: cloud,
      zoneID: SessionHarness.zoneID,
      configuration: configuration,
      resolver: .client,
      resolveExpiredChangeToken: { nil },
      callbackExecutor: queue.map { .queue($0) }
    )
    listen()
    writeJournal()
    session.appendMiddleware(AccountStatusMiddleware { Self.answer($0, identity) })
  }

  /// What goes wrong with a call of the cloud.
  private static func fault(
    _ seed: UInt64,
    _ number: Int,
    _ operation: SyncWork
  ) -> StubCloud.Fault? {
    var random = SplitMix64(seed: seed &* 1_000_003 &+ UInt64(number))
    guard random.chance(1, in: 4) else { return nil }
    let faults: [StubCloud.Fault] = [
      .failure(.networkFailure), .failure(.networkFailure), .failure(.zoneBusy),
      .failure(.requestRateLimited, retryAfter: .microseconds(300)), .failure(.limitExceeded),
      .lostBefore, .lostAfter, .lostBefore, .lostAfter, .neverAfter, .failure(.internalError),
    ]
    let fault = faults[random.below(faults.count)]
    if operation.isFetch, case .failure = fault { return .failure(.networkFailure) }
    return fault
  }

  /// Tells about the account: from another thread, and twice.
  private static func answer(
    _ completion: @escaping AccountStatusProvider.Completion,
    _ identity: Locked<String>
  ) {
    let name = identity.withLock { $0 }
    DispatchQueue.global().async { completion(.available, AccountIdentity(name)) }
    DispatchQueue.global().async { completion(.available, AccountIdentity(name)) }
  }

  // MARK: Listening

  /// Notes callbacks, and whether two of them ran at once.
  private func alone(_ body: () -> Void) {
    let others = running.withLock { running in
      defer { running += 1 }
      return running
    }
    if others > 0 { wrongs.add("two callbacks ran at once") }
    body()
    running.withLock { $0 -= 1 }
  }

  private func announce(_ id: OperationID) { announced.withLock { $0[id, default: 0] += 1 } }

  private func listen() {
    session.eventsPublisher.sink { [weak self] record in
      self?.alone { self?.sequences.add(record.sequence) }
    }
    session.modifyWorkCompletedSubject.sink { [weak self] operation, _ in
      self?.alone { self?.announce(operation.id) }
    }
    session.workFailedSubject.sink { [weak self] work, _ in
      self?
        .alone {
          switch work {
          case .modify(let operation): self?.announce(operation.id)
          case .fetch(let operation): self?.announce(operation.id)
          case .createZone, .createSubscription: self?.wrongs.add("\(work.mode) was announced")
          }
        }
    }
    session.statePublisher.sink { [weak self, isFair] state in
      // Once all goes well, the app answers what only it can answer.
      guard isFair.withLock({ $0 }) else { return }
      if case .lost = state.zoneState { self?.session.decideZone(.recreate) }
      if case .switched = state.accountState { self?.session.resolveAccountSwitch(.adopt) }
    }
    session.fetchWorkCompletedSubject.sink { [weak self] operation, page in
      self?.alone { self?.store(page, of: operation) }
    }
  }

  private func store(_ page: FetchOperation.Response, of operation: FetchOperation) {
    // A page that is asked for again with its acknowledgement is announced more than once.
    if page.isLast, !plan.acknowledges { announce(operation.id) }
    let areStored = pages.withLock { pages in
      pages.last = page.page
      return pages.areStored
    }
    if areStored { session.acknowledge(page.page, .stored) }
  }

  /// Begins one more part of the one journal.
  func writeJournal() {
    session.journal { [journalBytes] part in journalBytes.withLock { $0.append(part) } }
  }

  // MARK: Submitting

  func issue(_ edit: (name: String, value: Int)? = nil) -> Int {
    tickets.withLock { tickets in
      tickets.append(Ticket(edit: edit))
      return tickets.count - 1
    }
  }

  func end(_ ticket: Int, _ result: Result<ModifyOperation.Response, SyncError>) {
    let wasSaved: Bool? =
      if case .success(let response) = result { response.failures.isEmpty } else { nil }
    tickets.withLock { $0[ticket].endings.append(wasSaved) }
  }

  func modify(
    _ records: [Record],
    delete: [String] = [],
    edit: (name: String, value: Int)? = nil
  ) {
    let ticket = issue(edit)
    let operation = ModifyOperation(
      records: records,
      recordIDsToDelete: delete.map(SessionHarness.id)
    )
    do {
      accepted.add(try session.modify(operation) { [weak self] in self?.end(ticket, $0) })
    } catch {
      wrongs.add("\(error)")
    }
  }

  func fetch(_ operation: FetchOperation) {
    let ticket = issue()
    let id = session.fetch(operation) { [weak self] result in
      self?.tickets.withLock { $0[ticket].endings.append((try? result.get()).map { _ in true }) }
    }
    accepted.add(id)
  }

  // MARK: The world

  func switchAccount(to name: String) { identity.withLock { $0 = name } }
  var lastPage: PageID? { pages.withLock { $0.last } }

  /// Has everything go well, answers every question, and waits until nothing is left to do.
  func settle() async -> Bool {
    isFair.withLock { $0 = true }
    cloud.straighten()
    cloud.releaseAnswers()
    await cloud.arrivals()
    pages.withLock { $0.areStored = true }
    for _ in 0..<20 {
      session.start()
      session.resolveAccountSwitch(.adopt)
      session.decideZone(.recreate)
      session.retryParked()
      session.retryNow()
      _ = await session.snapshot()
      if let awaited = session.state.fetch.awaited {
        session.acknowledge(awaited.response.page, .stored)
      }
      let isIdle = await session.idle(upTo: .seconds(1_000_000))
      if !isIdle, !session.state.isHalted { wrongs.add("nothing woke: \(session.explain())") }
      let state = session.state
      if isIdle, state.parkedRecords.isEmpty, state.isRunning { return true }
    }
    return false
  }

  /// The journal's and the session's bytes, taken at one moment.
  func bytes() async -> (journal: Data, snapshot: Data) {
    await withCheckedContinuation { continuation in
      session.snapshot { [journalBytes] snapshot in
        continuation.resume(returning: (journalBytes.withLock { $0 }, snapshot))
      }
    }
  }

  /// Has the calling thread wait until the session has taken what was called so far.
  func catchUp() {
    let done = DispatchSemaphore(value: 0)
    session.snapshot { _ in done.signal() }
    done.wait()
  }

  /// Waits until the callbacks that were given so far have run.
  func callbacks() async {
    guard let callbackQueue else { return }
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      callbackQueue.async { continuation.resume() }
    }
  }

  /// Submissions that did not end exactly once, and announcements that were not made once.
  var miscounts: [String] {
    let tickets = tickets.withLock { $0 }.enumerated()
      .filter { $0.element.endings.count != 1 }
      .map { "submission \($0.offset) ended \($0.element.endings.count) times" }
    let announced = announced.withLock { $0 }
    let once = accepted.entries.filter { announced[$0, default: 0] != 1 }
      .map { "\($0) was announced \(announced[$0, default: 0]) times" }
    return tickets + (plan.acknowledges ? [] : once)
  }
}
