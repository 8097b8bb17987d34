#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

import CloudSyncCore
import CloudSyncTestSupport

extension ScriptRun {
  /// Runs the whole script.
  ///
  /// - Returns: What went wrong, nil if nothing.
  func run() -> String? {
    launch()
    settle(.zero)
    for (number, step) in plan.steps.enumerated() {
      memory.withLock { $0.note("step \(number): \(step.action)") }
      perform(step.action)
      if !step.isRushed { settle(.milliseconds(step.pause)) }
      if violation != nil { break }
    }
    if violation == nil { finish() }
    if violation == nil { checkFold() }
    releaseSession()
    return violation
  }

  /// Lets time pass, and checks that the session is at rest then.
  func settle(_ pause: Duration) {
    world.run()
    comeToRest()
    guard pause > .zero else { return }
    world.advance(by: pause)
    comeToRest()
  }

  /// Begins another process if this one has ended, and checks that the session is at rest.
  func comeToRest() {
    while violation == nil, memory.withLock({ $0.isDown }) {
      restore()
      world.run()
    }
    memory.withLock { $0.resetBefore = $0.nextResetBefore }
    checkRest()
  }

  private func checkRest() {
    guard let session, memory.withLock({ !$0.isDown }) else { return }
    let now = world.now
    let elapsed = elapsed
    let state = session.state
    memory.withLock { $0.checkRest(state, at: now, elapsed: elapsed) }
  }

  // MARK: Steps

  private func perform(_ action: ScriptAction) {
    guard let session else { return }
    memory.withLock { if action.endsPauses { $0.pause = 0 } }
    switch action {
    case .modify(let edits): submit(edits)
    case .fetch(let startingOver, let withToken):
      let token = withToken ? memory.withLock { $0.app.token } : nil
      fetch(FetchOperation(changeToken: token, startingOver: startingOver))
    case .lookUp(let index):
      fetch(FetchOperation(lookingUp: [Self.id(index)]))
      // Nobody needs it, but a filter of names may leave none.
      if index == 5 { fetch(FetchOperation(lookingUp: [])) }
    case .start: session.start()
    case .stop: session.stop()
    case .reset:
      memory.withLock { memory in
        memory.ledger.mayFail(.reset)
        memory.nextResetBefore = memory.ledger.entries.count
        memory.forgetAllVersions()
        memory.app.pending = [:]
      }
      session.reset()
    case .cancel(let back): cancel(back)
    case .retryNow:
      memory.withLock { $0.peace = 0 }
      session.retryNow()
    case .connectivityChanged: session.connectivityChanged()
    case .retryParked(let index): session.retryParked(index.map { [Self.id($0)] })
    case .dropParked(let index):
      memory.withLock { _ = $0.app.dropped.insert(ScriptPlan.names[index]) }
      session.dropParked([Self.id(index)])
    case .jumpClock(let seconds): jumpClock(by: seconds)
    case .crash(let fromSnapshot): crash(fromSnapshot: fromSnapshot)
    case .account, .resolveSwitch, .decideZone: performDecision(action, session)
    default: memory.withLock { $0.performInCloud(action) }
    }
  }

  private static func id(_ index: Int) -> RecordID { SessionHarness.id(ScriptPlan.names[index]) }

  private func cancel(_ back: Int) {
    let id = memory.withLock { memory -> OperationID? in
      let index = memory.ledger.entries.count - 1 - back
      guard memory.ledger.entries.indices.contains(index) else { return nil }
      memory.ledger.entries[index].mayFail.insert(.cancelled)
      return memory.ledger.entries[index].id
    }
    if let id { session?.cancel(id) }
  }

  func jumpClock(by seconds: Int) {
    world.jumpClock(by: .seconds(seconds))
    guard seconds > 0 else { return }
    let elapsed = elapsed
    memory.withLock { memory in
      memory.peace -= Int64(seconds) * 1_000_000_000
      memory.pause -= Int64(seconds) * 1_000_000_000
      memory.lateUntil = elapsed + 700_000_000_000
    }
  }

  private func performDecision(_ action: ScriptAction, _ session: CloudSyncSession) {
    switch action {
    case .account(let change):
      memory.withLock { $0.changeAccount(change) }
      session.accountDidChange()
    case .resolveSwitch(let decision):
      guard case .switched = session.state.accountState else { return }
      memory.withLock { memory in
        if decision == .discard { memory.ledger.mayFail(.accountSwitched) }
        if decision != .wait {
          memory.peace = 0
          memory.forgetAllVersions()
          memory.app.forgetAccount()
        }
      }
      session.resolveAccountSwitch(decision)
    case .decideZone(let decision):
      memory.withLock { memory in
        guard decision == .abandon else { return }
        memory.ledger.mayFail(.zoneAbandoned)
      }
      session.decideZone(decision)
    default: break
    }
  }

  // MARK: Restores

  /// Ends the process and begins another one from its bytes.
  private func crash(fromSnapshot: Bool) {
    guard let session else { return }
    let process = memory.withLock { $0.process }
    if fromSnapshot {
      session.snapshot { [weak self] bytes in
        self?
          .note(process) { memory in
            memory.archive = bytes
            memory.frameEnds = []
            memory.isDown = true
          }
      }
      world.run()
    } else {
      memory.withLock { $0.isDown = true }
    }
    comeToRest()
  }

  /// Begins another process from what the last one has stored.
  func restore() {
    let bytes = memory.withLock { $0.storedBytes }
    releaseSession()
    // What the old process still had to do happens to nobody.
    world.run()
    let archive: SyncArchive
    do throws(CodedError) {
      archive = try SyncArchive(bytes)
    } catch {
      return fail("the stored bytes cannot be read: \(error)")
    }
    memory.withLock { $0.beginProcess(from: archive.state) }
    launch(restoring: archive)
  }

  // MARK: The fold

  /// Checks that the events, reduced one by one from the first state, give the present one.
  func checkFold() {
    guard let session else { return }
    let process = memory.withLock { $0.process }
    let found = Locked<Data?>(nil)
    session.snapshot { bytes in found.withLock { $0 = bytes } }
    world.run()
    guard isAlive(process), let bytes = found.withLock({ $0 }) else { return }
    memory.withLock { $0.finalState = bytes }
    let (initial, records) = memory.withLock { ($0.initialState, $0.records) }
    guard var state = initial else { return }
    for record in records.dropLast(plan.mutant == .forgetsEvent ? 3 : 0) {
      state.reduce(record.event, at: record.time)
    }
    do throws(CodedError) {
      let archive = try SyncArchive(bytes)
      if archive.state != state { fail("the fold of the events is another state") }
    } catch {
      fail("the snapshot cannot be read: \(error)")
    }
  }
}

extension ScriptAction {
  /// Whether it lets the session go on at once.
  fileprivate var endsPauses: Bool {
    switch self {
    case .start, .connectivityChanged, .retryNow, .reset, .resolveSwitch: true
    default: false
    }
  }
}

extension ScriptMemory {
  /// What a crash leaves of what was written.
  fileprivate var storedBytes: Data {
    guard plan.mutant == .losesFrames, frameEnds.count > 4 else { return archive }
    return archive.prefix(frameEnds[frameEnds.count - 5])
  }

  /// Forgets what a new process does not know.
  fileprivate mutating func beginProcess(from state: SyncState) {
    note("  restored at event \(state.eventCount)")
    ledger.loseUnstored(from: state.nextOperation)
    nextResetBefore = min(nextResetBefore, resetBefore)
    process += 1
    isDown = false
    lastCompleted = 0
    records = []
    frameEnds = []
    isRunning = false
    if state.flight?.mode == .modify {
      if case .modify(let operation)? = current?.call, let current {
        lose(operation, token: current.token)
      }
    } else if state.modify.frozen == 0 {
      lost = nil
    }
    current = nil
    taken = []
    if state.gate.servers == nil { peace = 0 }
    if state.gate.own == nil { pause = 0 }
    lastTurn = state.lastTurn
    app.pending = [:]
  }
}
