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
  /// The error with which the event stopped the session, if it did.
  ///
  /// Some answers do although they report success, such as a page whose token does not advance. What
  /// the event itself does not tell only the states do: an ``EventLog`` knows it, and a ``LogMatcher``.
  public var halt: SyncError?

  /// Creates a step.
  public init(
    record: EventRecord,
    input: LogInput? = nil,
    effects: [EffectRecord] = [],
    digest: LogDigest? = nil,
    chains: [LogInput] = [],
    line: Int = 0,
    halt: SyncError? = nil
  ) {
    self.record = record
    self.input = input
    self.effects = effects
    self.digest = digest
    self.chains = chains
    self.line = line
    self.halt = halt
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
