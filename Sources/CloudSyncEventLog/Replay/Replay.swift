public import CloudSyncCore

/// Runs a recorded session again with today's code.
///
/// Only what came in from outside is taken from the log, and what the app's closures decided; whatever
/// followed is computed anew, with the log's times, and compared with the log: every event, every
/// effect and every digest. The handler and the app are not needed.
///
/// ```swift
/// let result = try Replay.rerun(try EventLog(path: "session.jsonl"))
/// if let divergence = result.divergences.first { print(divergence) }
/// ```
public enum Replay {
  /// How a log is run again.
  public struct Options: Sendable {
    /// Whether to go on after a divergence, from the state that the log has there.
    public var goesOn = false
    /// The number of the event to begin with; the state before it is folded.
    ///
    /// From the first by default.
    public var first: UInt64?
    /// Numbers of events that came in from outside and are left out, to see what would have been.
    ///
    /// From the first of them on nothing is compared: the result tells the state at the end.
    public var skipped: [UInt64] = []
    /// How many divergences are kept at most.
    public var divergenceLimit = 1_000

    /// Creates the default options.
    public init() {}
  }

  /// What a re-run came to.
  public struct Result: Sendable {
    /// How many events were run.
    public var eventCount = 0
    /// How many of them came in from outside.
    public var inputCount = 0
    /// Where today's code does something else; in order.
    public var divergences: [Divergence] = []
    /// Whether events were left out, so that not all could be compared.
    public var isWhatIf = false
    /// The state at the end.
    public var state: SyncState

    /// Whether today's code does what was recorded.
    public var isFaithful: Bool { divergences.isEmpty && !isWhatIf }
  }

  /// Runs a log again.
  ///
  /// - Parameters:
  ///   - log: The log.
  ///   - middleware: Middleware of the app's that the log names, and any that are to be used in place
  ///     of the default ones of the same name.
  ///   - options: Where to begin, and what to do about divergences.
  ///   - progress: Is told now and then how many events have been run.
  /// - Returns: What it came to.
  /// - Throws: An error if the log names a middleware that is not at hand, or cannot be read.
  public static func rerun(
    _ log: EventLog,
    middleware: [any Middleware] = [],
    options: Options = Options(),
    progress: ((Int) -> Void)? = nil
  ) throws(LogError) -> Result {
    var run = try Rerun(
      of: log,
      registry: MiddlewareRegistry(middleware, log: log),
      options: options
    )
    try log.forEachStep(in: run.first...UInt64.max) { (step) throws(LogError) in
      try run.process(step: step)
      if run.result.eventCount % 8_192 == 0 { progress?(run.result.eventCount) }
      return !run.isOver
    }
    try run.finish()
    return run.result
  }
}

extension Replay {
  /// Where a re-run does something else than the log.
  public struct Divergence: Sendable, CustomStringConvertible {
    /// What differs.
    public enum Kind: String, Sendable {
      /// The event, or where it came from.
      case event
      /// What is done because of it.
      case effects
      /// What the app's closures were asked.
      case decisions
      /// The state after it.
      case state
      /// The log has an event that the re-run does not come to.
      case missing
      /// The re-run comes to an event that the log does not have.
      case extra
    }

    /// What differs.
    public var kind: Kind
    /// The number of the event.
    public var sequence: UInt64
    /// The number of the log's line, 0 if it has none.
    public var line: Int
    /// What the log has, in one line.
    public var recorded: String
    /// What the re-run has, in one line.
    public var rerun: String
    /// The first path at which the states after the event differ, with both values; nil if they do not.
    public var state: StateDifference.Change?

    /// Everything about it, in a few lines.
    public var description: String {
      var text = "event \(sequence): the \(kind.rawValue) \(kind.verb)"
      text += "\n  recorded: \(recorded)\n  re-run:   \(rerun)"
      if let state { text += "\n  state:    \(state)" }
      return text
    }
  }
}

extension Replay.Divergence.Kind {
  fileprivate var verb: String {
    switch self {
    case .event, .state: "differs"
    case .effects, .decisions: "differ"
    case .missing: "is missing in the re-run"
    case .extra: "is not in the log"
    }
  }
}
