import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What passes is waited for: another connection's lock ends no run, nor does a locked device or a
/// full disk.
///
/// What could not be done is kept, in order, and done when the database can be written again.
/// Everything that comes meanwhile queues up behind it. The waits grow from 0.1 seconds to a
/// minute.
extension SyncEngine {
  /// Something to do for a run.
  ///
  /// A struct around the closure, because a function type with a typed error that is a generic
  /// argument, as in `[Step]`, needs the runtime of macOS 15 and iOS 18.
  struct Step: Sendable {
    let body: @Sendable (SyncEngine) throws(SyncEngineError) -> Void
  }

  /// Whether a run is the present one.
  func isCurrent(_ generation: Int) -> Bool {
    state.withLock { $0.generation == generation && $0.session != nil }
  }

  /// Does something for a run, behind what waits; an error that does not pass ends the run.
  func take(
    _ generation: Int,
    _ body: @escaping @Sendable (SyncEngine) throws(SyncEngineError) -> Void
  ) {
    guard isCurrent(generation) else { return }
    let step = Step(body: body)
    let mustWait = state.withLock { state -> Bool in
      let mustWait = !state.backlog.isEmpty
      if mustWait { state.backlog.append(step) }
      return mustWait
    }
    if !mustWait, !run(step) {
      state.withLock { if $0.generation == generation { $0.backlog.insert(step, at: 0) } }
    }
    report()
  }

  /// Does something; false if it has to be done once more.
  private func run(_ step: Step) -> Bool {
    do throws(SyncEngineError) {
      try step.body(self)
      state.withLock { $0.retries = 0 }
    } catch { return !handle(error) }
    return true
  }

  /// Publishes an error, and stops over one that does not pass; returns whether it passes.
  @discardableResult
  func handle(_ error: SyncEngineError) -> Bool {
    // Of a run that is over.
    if error.code == .superseded { return false }
    errors.send(error)
    guard error.isPassing else {
      stop()
      return false
    }
    let wait = state.withLock { state -> Int64 in
      state.retries += 1
      return min(100_000_000 << Int64(min(state.retries - 1, 10)), 60_000_000_000)
    }
    retryTimer?.schedule(after: wait)
    return true
  }

  /// Does what waits, as far as it can be done.
  func retry() {
    guard let (_, generation) = running else { return }
    while isCurrent(generation) {
      let step = state.withLock { state in state.backlog.first }
      guard let step else { break }
      guard run(step) else { return }
      state.withLock { state in
        if state.generation == generation, !state.backlog.isEmpty { state.backlog.removeFirst() }
      }
    }
    sendChanges()
    report()
  }
}

extension SyncEngineError {
  /// Whether the error passes by itself.
  var isPassing: Bool { [.busy, .interrupted, .unavailable, .full].contains(code) }
}
