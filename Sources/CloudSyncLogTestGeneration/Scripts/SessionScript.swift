public import CloudSyncCore
public import CloudSyncEventLog

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Everything that came into a session from outside, as a value that can be run again in a test.
///
/// A script holds the calls of the app, the responses of the handler and the decisions of the app's
/// closures. ``run(middleware:)`` plays them to a real session in virtual time, on the calling thread:
/// the same script always runs the same way. It is made of a recorded log, or written by hand:
///
/// ```swift
/// var script = SessionScript(zoneID: ZoneID(name: "Notes"))
/// script.at(.zero, .start)
/// script.at(.seconds(3), .modify(ModifyOperation(records: [record])))
/// script.answer(.modify(.failure(SyncError(.badContainer))), after: .milliseconds(300))
/// let outcome = try script.run()
/// ```
///
/// Answers are given in order, those of each kind of work by themselves. When they are used up,
/// every request succeeds at once: records are saved, and a fetch ends with an empty page.
public struct SessionScript: Sendable, Hashable {
  /// With which session a script begins.
  public enum Beginning: Sendable, Hashable {
    /// A new one.
    case new(ZoneID, SyncConfiguration)
    /// One that is restored from the bytes that `SyncArchive` reads.
    case snapshot(Data)
  }

  /// A call of the app, and when it is made.
  public struct Entry: Sendable, Hashable {
    /// When, from the beginning; not before the call that precedes it.
    public var time: Duration
    /// Whether it is made after everything else that is due at that time, not before it.
    public var isSettled: Bool
    /// The call.
    public var call: Call

    /// Creates an entry.
    public init(time: Duration, isSettled: Bool = false, call: Call) {
      self.time = time
      self.isSettled = isSettled
      self.call = call
    }
  }

  /// With which session it begins.
  public var beginning: Beginning
  /// What the clock shows at the beginning.
  public var time: Timestamp
  /// The numbers that the epochs of the session begin with, in order; from there on they count up.
  public var nonces: [UInt64]
  /// The calls of the app, in order.
  public var calls: [Entry] = []
  /// The responses of the handler; those of each kind of work in order.
  public var answers: [Answer] = []
  /// The responses of the account provider, in order.
  ///
  /// When they are used up the account is as it was told last, or available.
  public var accountAnswers: [AccountAnswer] = []
  /// What the app's closures decide: conflicts in order for each record, tokens in order.
  ///
  /// When they are used up, the fields that the app has set win, and everything is fetched.
  public var decisions: [Decision] = []
  /// How long the run takes from the beginning; nil to go on until nothing is left to do.
  public var duration: Duration?
  /// After how many events a run is given up.
  public var eventLimit = 1_000_000
  /// The names of middleware of the app's own that a recorded session had: give them to the run.
  public var foreignMiddleware: [String] = []
  /// What the log that it was made of did to values.
  public var redaction = LogRedaction.none

  /// A run without a duration of its own ends after a day.
  static let longestDuration = Duration.seconds(86_400)

  /// Creates a script for a new session.
  public init(
    zoneID: ZoneID,
    configuration: SyncConfiguration = SyncConfiguration(),
    time: Timestamp = Timestamp(nanoseconds: 0),
    nonces: [UInt64] = [1]
  ) {
    beginning = .new(zoneID, configuration)
    self.time = time
    self.nonces = nonces
  }

  /// Creates a script for a session that is restored from the bytes of a snapshot.
  public init(
    snapshot: Data,
    time: Timestamp = Timestamp(nanoseconds: 0),
    nonces: [UInt64] = [1]
  ) {
    beginning = .snapshot(snapshot)
    self.time = time
    self.nonces = nonces
  }

  /// Adds a call, made before anything else that is due at its time.
  public mutating func at(_ time: Duration, _ call: Call) {
    calls.append(Entry(time: time, call: call))
  }

  /// Adds a call, made after everything else that is due at its time.
  public mutating func after(_ time: Duration, _ call: Call) {
    calls.append(Entry(time: time, isSettled: true, call: call))
  }

  /// Adds a response of the handler, given so long after the request.
  public mutating func answer(_ answer: Answer, after delay: Duration = .zero) {
    var answer = answer
    answer.delay = delay
    answers.append(answer)
  }

  /// Adds a response of the account provider, given so long after the question; nil for none.
  public mutating func answerAccount(
    _ status: AccountStatus?,
    _ identity: AccountIdentity? = nil,
    after delay: Duration = .zero
  ) {
    accountAnswers.append(AccountAnswer(status: status, identity: identity, delay: delay))
  }

  /// Adds a decision of the app's closures.
  public mutating func decide(_ decision: Decision) { decisions.append(decision) }
}

extension SessionScript {
  /// How many calls, answers and decisions there are.
  public var entryCount: Int {
    calls.count + answers.count + accountAnswers.count + decisions.count
  }
}

extension LogError.Code {
  /// A script cannot be run.
  public static let script = Self(rawValue: "script")
}
