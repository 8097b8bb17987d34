#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

import CloudSyncCore
import CloudSyncTestSupport

/// One script against a cloud that fails, from the first call to the end of the quiet phase.
///
/// Everything happens on the test's own thread, in a virtual world. A process that has ended is
/// marked as down: what still happens in it changes nothing any more.
final class ScriptRun: Sendable {
  let plan: ScriptPlan
  let world = VirtualEnvironment()
  let memory: Locked<ScriptMemory>
  private let holder = Locked<CloudSyncSession?>(nil)

  init(_ plan: ScriptPlan, isTracing: Bool = false) {
    self.plan = plan
    memory = Locked(ScriptMemory(plan, isTracing: isTracing))
  }

  var session: CloudSyncSession? { holder.withLock { $0 } }
  var violation: String? { memory.withLock { $0.violation } }
  var elapsed: Int64 { world.elapsed.clampedNanoseconds }

  func fail(_ text: String) { memory.withLock { $0.fail(text) } }

  // MARK: Processes

  /// Makes the first session, or one from stored bytes.
  func launch(restoring archive: SyncArchive? = nil) {
    let process = memory.withLock { $0.process }
    let handler = PropertyHandler(self, process: process)
    var configuration = plan.configuration
    configuration.limits = plan.limits
    let session: CloudSyncSession
    if let archive {
      session = CloudSyncSession(
        restoring: archive,
        operationHandler: handler,
        resolver: resolver,
        resolveExpiredChangeToken: expiredToken,
        environment: world.environment
      )
    } else {
      session = CloudSyncSession(
        operationHandler: handler,
        zoneID: SessionHarness.zoneID,
        configuration: configuration,
        resolver: resolver,
        resolveExpiredChangeToken: expiredToken,
        environment: world.environment
      )
    }
    holder.withLock { $0 = session }
    let state = archive?.state ?? session.state
    memory.withLock { $0.initialState = state }
    plan.mutant?.attach(to: session)
    if plan.hasProvider { session.appendMiddleware(AccountStatusMiddleware(provider)) }
    if plan.dropsCalls { session.appendMiddleware(CallDropper()) }
    listen(to: session, process)
    session.journal { [weak self] bytes in self?.write(bytes, process) }
  }

  private func write(_ bytes: Data, _ process: Int) {
    memory.withLock { memory in
      guard memory.process == process, !memory.isDown else { return }
      if memory.frameEnds.isEmpty { memory.archive = Data() }
      memory.frames += 1
      if process == 1, let limit = plan.crashAtFrame, memory.frames > limit {
        if plan.tearsFrame { memory.archive.append(bytes.prefix(bytes.count / 2)) }
        memory.isDown = true
        memory.note("  the process ends at frame \(limit)")
        return
      }
      memory.archive.append(bytes)
      memory.frameEnds.append(memory.archive.count)
      if process == 1, memory.frames == plan.crashAtFrame, !plan.tearsFrame {
        memory.isDown = true
        memory.note("  the process ends after frame \(memory.frames)")
      }
    }
  }

  /// Whether what a process reports is real.
  func isAlive(_ process: Int) -> Bool {
    memory.withLock { $0.process == process && !$0.isDown }
  }

  /// Does something with the memory, if the process is alive.
  func note(_ process: Int, _ body: @Sendable (inout ScriptMemory) -> Void) {
    memory.withLock { memory in
      if memory.process == process, !memory.isDown { body(&memory) }
    }
  }

  // MARK: What the session announces

  private func listen(to session: CloudSyncSession, _ process: Int) {
    session.eventsPublisher.sink { [weak self, weak session] record in
      guard let self, let state = session?.state else { return }
      let elapsed = elapsed
      note(process) { $0.saw(record, state, elapsed: elapsed) }
    }
    session.modifyWorkCompletedSubject.sink { [weak self] operation, response in
      guard let self, plan.mutant?.hides(operation.id) != true else { return }
      let response = plan.mutant?.retell(response) ?? response
      note(process) { memory in
        memory.completed(operation, response)
        if memory.plan.mutant == .tellsTwice { memory.completed(operation, response) }
      }
      react(process, operation.id.number)
    }
    session.workFailedSubject.sink { [weak self] work, error in
      self?.note(process) { $0.failed(work, error) }
    }
    session.fetchWorkCompletedSubject.sink { [weak self] operation, page in
      self?.store(operation, page, process)
    }
    session.parkedSubject.sink { [weak self] change in
      self?.note(process) { $0.parkedChanged(change) }
    }
  }

  private func store(_ operation: FetchOperation, _ page: FetchOperation.Response, _ process: Int) {
    let answer = memory.withLock { memory -> PageAnswer? in
      guard memory.process == process, !memory.isDown else { return nil }
      return memory.fetched(operation, page)
    }
    guard let answer else { return }
    let delay: Int64 = page.page.number % 3 == 0 ? 0 : 300_000_000
    world.schedule(afterNanoseconds: delay) { [weak self] in
      guard let self, isAlive(process) else { return }
      if answer == .stored {
        let isPending = memory.withLock { memory in
          guard let pending = memory.app.pending[page.page] else {
            return page.page.number <= memory.app.lastPage
          }
          memory.store(pending)
          return true
        }
        guard isPending else { return }
      }
      session?.acknowledge(page.page, answer)
    }
  }

  /// Calls the session from inside a callback, now and then.
  private func react(_ process: Int, _ number: UInt64) {
    let isQuiet = memory.withLock { $0.isQuiet }
    var random = SplitMix64(seed: plan.seed &+ number &* 0x51)
    guard isAlive(process), !isQuiet, random.chance(plan.reactionRate, in: 100) else { return }
    if random.chance(1, in: 4) {
      fetch(FetchOperation())
    } else {
      submit(.draw(&random))
    }
  }

  // MARK: The app's closures

  private var resolver: ConflictResolver {
    ConflictResolver { [weak self] conflict in
      guard let self else { return .park }
      let resolution = resolution(of: conflict)
      memory.withLock { memory in
        if !memory.isDown { memory.noteDecision(conflict, resolution) }
      }
      return resolution
    }
  }

  private func resolution(of conflict: Conflict) -> ConflictResolution {
    let (kind, calls) = memory.withLock { ($0.isQuiet ? .client : plan.resolver, $0.calls) }
    switch kind {
    case .client: return ConflictResolver.client.resolve(conflict)
    case .fieldwise: return ConflictResolver.fieldwise().resolve(conflict)
    case .server: return ConflictResolver.server.resolve(conflict)
    case .park: return calls % 2 == 0 ? .park : ConflictResolver.client.resolve(conflict)
    case .later: return calls % 3 == 0 ? ConflictResolver.client.resolve(conflict) : .later
    case .sometimesHalt: return calls % 3 == 0 ? .halt : ConflictResolver.client.resolve(conflict)
    }
  }

  private var expiredToken: @Sendable () -> ChangeToken? {
    { [weak self] in
      self?.memory.withLock { $0.calls % 2 == 0 ? nil : $0.app.token } ?? nil
    }
  }

  private func provider(_ completion: @escaping AccountStatusProvider.Completion) {
    let (status, account, delay) = memory.withLock { memory in
      memory.calls += 1
      let status = memory.cloud.account == nil ? AccountStatus.noAccount : .available
      let number = memory.isQuiet ? 0 : memory.calls % 8
      let delay: Int64? = number == 7 ? nil : number == 6 ? 4_000_000_000 : 0
      return (memory.trouble ?? status, memory.cloud.account, delay)
    }
    guard let delay else { return }
    let identity = status == .available ? account.map(AccountIdentity.init) : nil
    if delay == 0 { return completion(status, identity) }
    world.schedule(afterNanoseconds: delay) { completion(status, identity) }
  }

  // MARK: Work

  func submit(_ edits: EditPlan) {
    guard let session else { return }
    let (ticket, operation, process) = memory.withLock { memory in
      let (ticket, operation) = memory.makeOperation(edits)
      return (ticket, operation, memory.process)
    }
    do throws(RecordRuleViolation) {
      let id = try session.modify(operation) { [weak self] result in
        let isSuccess = if case .success = result { true } else { false }
        self?.note(process) { $0.closureCalled(ticket, isSuccess: isSuccess) }
      }
      memory.withLock { memory in
        memory.ledger.name(ticket, id)
        if plan.dropsCalls, CallDropper.drops(id) {
          memory.ledger.entries[ticket].mayFail.insert(.cancelled)
        }
        memory.note("  submitted \(id) \(SyncWork.modify(operation).summary)")
      }
    } catch {
      fail("an operation was refused: \(error)")
    }
  }

  func fetch(_ operation: FetchOperation) {
    guard let session else { return }
    let (ticket, process) = memory.withLock { memory in
      let ticket = memory.ledger.add(
        isFetch: true,
        records: [],
        hasCheckpoint: false,
        process: memory.process
      )
      return (ticket, memory.process)
    }
    let id = session.fetch(operation) { [weak self] result in
      let isSuccess = if case .success = result { true } else { false }
      self?.note(process) { $0.closureCalled(ticket, isSuccess: isSuccess) }
    }
    memory.withLock { memory in
      memory.ledger.name(ticket, id)
      if plan.dropsCalls, CallDropper.drops(id) {
        memory.ledger.entries[ticket].mayFail.insert(.cancelled)
      }
      memory.note("  submitted fetch \(id)")
    }
  }

  /// Releases the session, outside every lock.
  func releaseSession() {
    let old = holder.withLock { holder in
      defer { holder = nil }
      return holder
    }
    _ = consume old
  }
}
