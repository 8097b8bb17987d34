import CloudSyncCore
import CloudSyncLocalCloud

/// What a session of a simulation sends its requests to: it tells the checkers, and nothing comes of
/// a process that has ended.
struct DeviceHandler: WorkHandler {
  let run: SimulationRun
  let host: SimulatedHost
  let process: SimulatedProcess
  let base: FaultyOperationHandler

  var limits: RequestLimits { base.limits }
  var timestampUnit: Duration { base.timestampUnit }

  func handle(
    _ work: SyncWork,
    context: RequestContext,
    completion: @escaping Completion
  ) {
    guard process.isAlive else { return }
    if host.isHeard(context.attempt) {
      run.report(event: .called(work, context), device: host.number)
    }
    // Without the handler, which may keep the response for a request that never comes.
    let deliver: Completion = { [run, host, process] result in
      guard process.isAlive else { return }
      if host.isHeard(context.attempt) {
        run.report(event: .answered(work, context, result), device: host.number)
      }
      completion(result)
    }
    guard !host.state.withLock({ $0.isOffline }) else {
      run.countOffline(work: work, host: host)
      run.world.schedule(after: .milliseconds(20)) {
        deliver(.failure(SyncError(.networkUnavailable)))
      }
      return
    }
    base.handle(work, context: context, completion: deliver)
  }

  func cancel(_ attempt: Attempt) {
    guard process.isAlive else { return }
    if host.isHeard(attempt) { run.report(event: .cancelled(attempt), device: host.number) }
    base.cancel(attempt)
  }
}

/// The cloud's end of the line: requests of an account that is away are refused, and what the cloud
/// does is told to the checkers, whatever becomes of the response.
struct CloudEnd: WorkHandler {
  let run: SimulationRun
  let host: SimulatedHost

  var limits: RequestLimits { host.connection.limits }
  var timestampUnit: Duration { host.connection.timestampUnit }

  func handle(
    _ work: SyncWork,
    context: RequestContext,
    completion: @escaping Completion
  ) {
    if let error = host.refusal { return completion(.failure(error)) }
    host.connection.perform(work, context: context) { result in
      run.report(event: .carriedOut(work, context, result), device: host.number)
      if case .modify = work { run.push(from: host.number) }
      completion(result)
      if case .success(.modify(let response)) = result, !response.savedRecords.isEmpty {
        run.restoreStore(afterSaveOf: host)
      }
    }
  }
}

/// What the event log hears of a session, told to the checkers.
final class HostObserver: SessionObserver {
  private let run: SimulationRun
  private let host: SimulatedHost
  private let process: SimulatedProcess
  private weak let session: CloudSyncSession?

  init(
    of session: CloudSyncSession,
    in process: SimulatedProcess,
    on host: SimulatedHost,
    run: SimulationRun
  ) {
    self.run = run
    self.host = host
    self.process = process
    self.session = session
  }

  /// Whether the app still has the session: what it does not hear any more, it does not store.
  private var isAttached: Bool { session.map { $0 === host.device.session } ?? false }

  func begin(_ state: SyncState, middleware: [String], at time: Timestamp) {
    if isAttached { host.state.withLock { $0.lastState = state } }
  }

  func observe(_ step: ObservedStep) {
    if process.isAlive, isAttached { run.observed(step: step, host: host, process: process) }
  }

  func chainDidChange(_ middleware: [String], after sequence: UInt64, at time: Timestamp) {}
  func end(_ state: SyncState) {}
}
