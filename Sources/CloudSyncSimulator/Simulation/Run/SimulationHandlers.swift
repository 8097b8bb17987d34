import CloudSyncCore
import CloudSyncLocalCloud

/// What a session of a simulation sends its requests to: it tells the checkers, and nothing comes of
/// a process that has ended.
struct DeviceHandler: WorkHandler {
  let run: SimulationRun
  let seat: SimulationSeat
  let process: SimulatedProcess
  let base: FaultyOperationHandler

  var limits: RequestLimits { base.limits }

  func handle(
    _ work: SyncWork,
    context: RequestContext,
    completion: @escaping Completion
  ) {
    guard process.isAlive else { return }
    run.tell(.called(work, context), seat.number)
    // Without the handler, which may keep the answer for a request that never comes.
    let deliver: Completion = { [run, seat, process] result in
      guard process.isAlive else { return }
      run.tell(.answered(work, context, result), seat.number)
      completion(result)
    }
    guard !seat.state.withLock({ $0.isOffline }) else {
      run.countOffline(work, seat)
      run.world.schedule(after: .milliseconds(20)) {
        deliver(.failure(SyncError(.networkUnavailable)))
      }
      return
    }
    base.handle(work, context: context, completion: deliver)
  }

  func cancel(_ attempt: Attempt) {
    guard process.isAlive else { return }
    run.tell(.cancelled(attempt), seat.number)
    base.cancel(attempt)
  }
}

/// The cloud's end of the line: requests of an account that is away are refused, and what the cloud
/// does is told to the checkers, whatever becomes of the answer.
struct CloudEnd: WorkHandler {
  let run: SimulationRun
  let seat: SimulationSeat

  var limits: RequestLimits { seat.connection.limits }

  func handle(
    _ work: SyncWork,
    context: RequestContext,
    completion: @escaping Completion
  ) {
    if let error = seat.refusal { return completion(.failure(error)) }
    seat.connection.perform(work, context: context) { result in
      run.tell(.carriedOut(work, context, result), seat.number)
      if case .modify = work { run.push(from: seat.number) }
      completion(result)
    }
  }
}

/// What the event log hears of a session, told to the checkers.
final class SeatObserver: SessionObserver {
  private let run: SimulationRun
  private let seat: SimulationSeat
  private let process: SimulatedProcess
  private weak let session: CloudSyncSession?

  init(
    _ run: SimulationRun,
    _ seat: SimulationSeat,
    _ process: SimulatedProcess,
    _ session: CloudSyncSession
  ) {
    self.run = run
    self.seat = seat
    self.process = process
    self.session = session
  }

  /// Whether the app still has the session: what it does not hear any more, it does not store.
  private var isHeard: Bool { session.map { $0 === seat.device.session } ?? false }

  func begin(_ state: SyncState, middleware: [String], at time: Timestamp) {
    if isHeard { seat.state.withLock { $0.lastState = state } }
  }

  func observe(_ step: ObservedStep) {
    if process.isAlive, isHeard { run.observed(step, seat, process) }
  }

  func chainDidChange(_ middleware: [String], after sequence: UInt64, at time: Timestamp) {}
  func end(_ state: SyncState) {}
}
