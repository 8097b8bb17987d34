import CloudSyncCore
import CloudSyncLocalCloud

/// Another session of the same app, for a zone of its own, which shares a gate with the device's: nothing is stored of it.
struct SiblingHandler: WorkHandler {
  let run: SimulationRun
  let host: SimulatedHost
  let process: SimulatedProcess

  var limits: RequestLimits { host.connection.limits }
  var timestampUnit: Duration { host.connection.timestampUnit }

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    guard process.isAlive else { return }
    run.report(event: .siblingCalled(work), device: host.number)
    let isThrottled = run.plan[.throttle].hits > 0
    let (delay, wait) = host.state.withLock { state in
      (
        state.siblings.below(200),
        state.siblings.chance(1, in: 6) ? state.siblings.within(1...90) : 0
      )
    }
    run.world.schedule(after: .milliseconds(delay)) { [process] in
      guard process.isAlive else { return }
      guard isThrottled, wait > 0 else { return completion(.success(Self.answer(to: work))) }
      var error = SyncError(.requestRateLimited)
      error.retryAfter = .seconds(wait)
      completion(.failure(error))
    }
  }

  func cancel(_ attempt: Attempt) {}

  private static func answer(to work: SyncWork) -> SyncWork.Result {
    switch work {
    case .createZone: .createZone(true)
    case .createSubscription: .createSubscription(true)
    case .modify(let operation): .modify(.init(savedRecords: operation.records))
    case .fetch: .fetch(.init(changeToken: nil))
    }
  }
}

/// Tells the checkers when a sibling takes in that it has to wait.
final class SiblingObserver: SessionObserver {
  private let run: SimulationRun
  private let number: Int
  private let process: SimulatedProcess

  init(run: SimulationRun, device number: Int, process: SimulatedProcess) {
    self.run = run
    self.number = number
    self.process = process
  }

  func observe(_ step: ObservedStep) {
    guard process.isAlive, case .workFailure(_, let error) = step.input, let wait = error.retryAfter
    else { return }
    run.report(event: .siblingAsked(toWait: wait), device: number)
  }

  func begin(_ state: SyncState, middleware: [String], at time: Timestamp) {}
  func chainDidChange(_ middleware: [String], after sequence: UInt64, at time: Timestamp) {}
  func end(_ state: SyncState) {}
}

/// What an app does besides the device's session: it makes sessions for another zone, one after the other, which share a
/// gate with that.
struct SiblingApp: Sendable {
  let run: SimulationRun
  let host: SimulatedHost
  let process: SimulatedProcess
  let gate: SyncGate

  private static var zoneID: ZoneID { ZoneID(name: "Sibling") }

  private var isOver: Bool { !process.isAlive || run.isQuiet || run.isOver }

  /// Makes a session after a while.
  func begin() {
    let seconds = host.state.withLock { $0.siblings.within(1...120) }
    run.world.schedule(after: .seconds(seconds)) { [self] in
      guard !isOver else { return }
      let session = CloudSyncSession(
        operationHandler: SiblingHandler(run: run, host: host, process: process),
        zoneID: Self.zoneID,
        gate: gate,
        environment: process.environment
      )
      session.attach(SiblingObserver(run: run, device: host.number, process: process))
      let former = host.state.withLock { state in
        defer { state.sibling = session }
        return state.sibling
      }
      _ = consume former  // Released outside the lock.
      session.start()
      edit(with: session)
    }
  }

  /// Has a session save something now and then, as long as things go wrong, until another takes its place.
  private func edit(with session: CloudSyncSession) {
    guard !isOver else { return }
    let (seconds, isLast) = host.state.withLock { state in
      (state.siblings.within(2...40), state.siblings.chance(1, in: 3))
    }
    let record = Record(
      recordType: "Note",
      recordID: RecordID(name: "sibling", zoneID: Self.zoneID),
      fields: ["a": .int64(Int64(seconds))]
    )
    do throws(RecordRuleViolation) {
      try session.modify(ModifyOperation(records: [record]))
    } catch {
      return run.fail(rule: "a sibling's record is taken", text: "\(error)")
    }
    run.world.schedule(after: .seconds(seconds)) { [self, weak session] in
      guard let session, process.isAlive else { return }
      guard isLast else { return edit(with: session) }
      session.stop()
      begin()
    }
  }
}
