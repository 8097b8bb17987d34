public import CloudSyncCore

/// An event of a log, with everything that the log has about it.
public struct LogStep: Sendable {
  /// The event as it was reduced.
  public var record: EventRecord
  /// What came in from outside; nil for an event that followed from another.
  public var input: LogInput?
  /// What was done because of it, in order.
  public var effects: [EffectRecord]
  /// The digest of the state after it, where the log has one.
  public var digest: LogDigest?
  /// Chains of middleware that came into force before it, and after the event before.
  public var chains: [LogInput]
  /// The number of the first line that belongs to it.
  public var line: Int

  /// Creates a step.
  public init(
    record: EventRecord,
    input: LogInput? = nil,
    effects: [EffectRecord] = [],
    digest: LogDigest? = nil,
    chains: [LogInput] = [],
    line: Int = 0
  ) {
    self.record = record
    self.input = input
    self.effects = effects
    self.digest = digest
    self.chains = chains
    self.line = line
  }

  /// The number of the event.
  public var sequence: UInt64 { record.sequence }

  /// The event as it came in from outside; nil for one that followed from another.
  public var inputEvent: SyncEvent? {
    switch input?.content {
    case .asReduced: record.event
    case .event(let event): event
    case .middleware, nil: nil
    }
  }
}
