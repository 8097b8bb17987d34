import CloudSyncCore

/// Compares what a re-run comes to with what the log has, step by step.
///
/// It is `@unchecked Sendable` because a re-run calls it on its own thread only.
final class StepComparison: SessionObserver, @unchecked Sendable {
  /// Where a re-run leaves the log.
  struct Difference {
    var kind: Replay.Divergence.Kind
    /// The place of the step in the group.
    var place: Int
    /// What the re-run came to; nil if it ended.
    var rerun: ObservedStep?
  }

  /// Whether values are hidden, so that only what is left can be compared.
  let isRedacted: Bool
  /// How many steps the re-run has made.
  private(set) var count = 0
  private var expected: [LogStep] = []
  private var found: Difference?

  init(isRedacted: Bool) { self.isRedacted = isRedacted }

  /// Begins with the steps that an input led to.
  func expect(_ group: [LogStep]) {
    expected = group
    count = 0
    found = nil
  }

  /// The first difference, when the input has been run.
  var difference: Difference? {
    if let found { return found }
    return count < expected.count ? Difference(kind: .missing, place: count) : nil
  }

  func observe(_ step: ObservedStep) {
    defer { count += 1 }
    guard found == nil else { return }
    let kind = count < expected.count ? kind(recorded: expected[count], rerun: step) : .extra
    if let kind { found = Difference(kind: kind, place: count, rerun: step) }
  }

  private func kind(recorded: LogStep, rerun: ObservedStep) -> Replay.Divergence.Kind? {
    let (old, new) = (recorded.record, rerun.record)
    if old.sequence != new.sequence || old.origin != new.origin || old.cause != new.cause
      || !isSame(old.event, as: new.event)
    {
      return .event
    }
    if old.decisions.count != new.decisions.count { return .decisions }
    if !isSame(recorded.effects, as: rerun.effects.records(in: rerun.state)) { return .effects }
    if let digest = recorded.digest, LogDigest.of(rerun.state) != digest.digest { return .state }
    return nil
  }

  private func isSame(_ recorded: SyncEvent, as rerun: SyncEvent) -> Bool {
    isRedacted
      ? SkeletonDigest.of(recorded) == SkeletonDigest.of(rerun)
      : recorded == rerun
  }

  private func isSame(_ recorded: [EffectRecord], as rerun: [EffectRecord]) -> Bool {
    recorded.count == rerun.count && zip(recorded, rerun).allSatisfy { $0 == $1 }
  }

  func begin(_ state: SyncState, middleware: [String], at time: Timestamp) {}
  func chainDidChange(_ middleware: [String], after sequence: UInt64, at time: Timestamp) {}
  func end(_ state: SyncState) {}
}
