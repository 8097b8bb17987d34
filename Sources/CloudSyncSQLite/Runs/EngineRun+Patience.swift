import CloudSyncCore
import CloudSyncSQLiteSupport

/// What passes is waited for: another connection's lock ends no run, nor does a locked device or a
/// full disk.
///
/// What could not be done is kept, in order, and done when the database can be written again.
/// Everything that comes meanwhile queues up behind it. The waits grow from 0.1 seconds to a
/// minute.
extension EngineRun {
  /// Something to do for a run.
  ///
  /// A struct around the closure, because a function type with a typed error that is a generic
  /// argument, as in `[Step]`, needs the runtime of macOS 15 and iOS 18.
  struct Step: Sendable {
    let body: @Sendable (EngineRun) throws(SyncEngineError) -> Void
  }

  /// Does something on the engine's executor; an error that does not pass ends the run.
  func perform(_ body: @escaping @Sendable (EngineRun) throws(SyncEngineError) -> Void) {
    context.executor.run { [self] in take(body) }
  }

  /// Does something, behind what waits, if the run is under way; an error that does not pass ends it.
  func take(_ body: @escaping @Sendable (EngineRun) throws(SyncEngineError) -> Void) {
    guard isUnderWay else { return }
    let step = Step(body: body)
    let mustWait = state.withLock { state -> Bool in
      let mustWait = !state.backlog.isEmpty
      if mustWait { state.backlog.append(step) }
      return mustWait
    }
    if !mustWait, !hasDone(step) { state.withLock { $0.backlog.insert(step, at: 0) } }
    noteSyncIfDone()
    control.report()
  }

  /// Does something; false if it has to be done once more.
  func hasDone(_ step: Step) -> Bool {
    do throws(SyncEngineError) {
      try step.body(self)
      state.withLock { $0.retries = 0 }
      noteDatabase(error: nil)
    } catch { return !isPassing(error) }
    return true
  }

  /// Publishes an error, and stops over one that does not pass; returns whether it passes.
  private func isPassing(_ error: SyncEngineError) -> Bool {
    // Of a run that is over.
    if error.code == .superseded { return false }
    context.publishers.errors.send(error)
    noteDatabase(error: error)
    guard error.isPassing else {
      if isUnderWay { control.stop() }
      return false
    }
    let wait = state.withLock { state -> Int64 in
      state.retries += 1
      return min(100_000_000 << Int64(min(state.retries - 1, 10)), 60_000_000_000)
    }
    retryTimer?.schedule(after: wait)
    let attempt = context.environment.now().advanced(byNanoseconds: wait)
    state.withLock { $0.waits.retry = attempt }
    return true
  }

  /// Does what waits, as far as it can be done.
  func retry() {
    guard isUnderWay else { return }
    while isUnderWay {
      let step = state.withLock { state in state.backlog.first }
      guard let step else { break }
      guard hasDone(step) else {
        // When it is tried again is another time now.
        control.report()
        return
      }
      state.withLock { state in
        if !state.backlog.isEmpty { state.backlog.removeFirst() }
      }
    }
    if isUnderWay { sendChanges() }
    noteSyncIfDone()
    control.report()
  }
}

extension SyncEngineError {
  /// Whether the error passes by itself.
  var isPassing: Bool { [.busy, .interrupted, .unavailable, .full].contains(code) }
}
