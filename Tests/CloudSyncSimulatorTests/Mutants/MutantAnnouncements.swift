import CloudSyncCore
import CloudSyncSimulator

/// The part of a mutant that changes what a session tells.
extension Mutant {
  func told(_ event: SimulationEvent, device: Int) -> [SimulationEvent] {
    switch (self, event) {
    case (.countsWholeLife, .event(let record, let input, var state)):
      // Whatever was done before the present run counts on.
      state.progress.done += 20
      state.progress.submitted += 20
      return [.event(record, input: input, state)]
    case (.acceptsLate, .accepted):
      Self.held.withLock { $0[device] = event }
      return []
    case (.acceptsLate, .completed), (.acceptsLate, .page):
      let held = Self.held.withLock { $0.removeValue(forKey: device) }
      return [event] + (held.map { [$0] } ?? [])
    case (.deniesDoubt, .failed(let work, var error)) where error.code == .cancelled:
      error.itemErrors = error.itemErrors.map { failure in
        failure.error.code == .outcomeUnknown
          ? ItemFailure(failure.recordID, SyncError(.cancelled)) : failure
      }
      return [.failed(work, error)]
    default: return [event]
    }
  }

  /// What was not told yet, by device.
  private static let held = Locked<[Int: SimulationEvent]>([:])
}
