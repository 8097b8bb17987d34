public import CloudSyncCore

/// A log in numbers: counts, waits, and where the time went.
///
/// ```swift
/// let log = try EventLog(path: "session.jsonl")
/// print(try LogStatistics(of: log).render())
/// ```
public struct LogStatistics: Sendable, Hashable, Codable {
  /// How often something of a name happened.
  public struct Count: Sendable, Hashable, Codable {
    /// What happened.
    public let name: String
    /// How often.
    public let count: Int
  }

  /// How long a session did one thing.
  public struct Share: Sendable, Hashable, Codable {
    /// What it did.
    public let activity: Activity
    /// How long it did that, in nanoseconds.
    public let nanoseconds: Int64
  }

  /// What a session may be doing: of each moment exactly one.
  public enum Activity: String, Sendable, Hashable, Codable, CaseIterable {
    /// The creation of the zone is in flight.
    case createZone
    /// The creation of the subscription is in flight.
    case createSubscription
    /// A modification is in flight.
    case modify
    /// A fetch is in flight.
    case fetch
    /// Records are looked up after a conflict.
    case lookup
    /// The gate is closed: it waits before it sends again.
    case waiting
    /// It waits for the account.
    case account
    /// It waits for the app's decision about the zone.
    case zone
    /// It waits for the app to acknowledge a page.
    case acknowledgement
    /// There is nothing to send but what waits for storage.
    case quota
    /// There is nothing to do.
    case idle
    /// It is stopped.
    case halted
    /// It waits for its start.
    case notStarted
  }

  /// How long operations took from their submission to their end, in nanoseconds.
  public struct Durations: Sendable, Hashable, Codable {
    /// How many ended of which the log has the submission.
    public let count: Int
    /// Half of them took no longer; nil if there are none.
    public let median: Int64?
    /// Ninety-five of a hundred took no longer.
    public let percentile95: Int64?
    /// None took longer.
    public let maximum: Int64?
  }

  /// How many events there are.
  public internal(set) var eventCount = 0
  /// How many bytes the log has; 0 if that is not known.
  public internal(set) var byteCount = 0
  /// When the first event happened.
  public internal(set) var firstTime: Timestamp?
  /// When the last event happened.
  public internal(set) var lastTime: Timestamp?
  /// Events by kind, in the order in which the format lists them.
  public internal(set) var kinds: [Count] = []
  /// Events by origin.
  public internal(set) var origins: [Count] = []
  /// Requests by mode; look-ups after conflicts are those of `lookup`.
  public internal(set) var requests: [Count] = []
  /// Requests that were made again as a whole after a pause, by the error's code.
  public internal(set) var retries: [Count] = []
  /// Answers that were errors as a whole, and answers that never came, by the error's code.
  public internal(set) var errors: [Count] = []
  /// Errors of single records within answers, by their code.
  public internal(set) var itemErrors: [Count] = []
  /// What became of the records of requests that were not done as a whole.
  public internal(set) var verdicts: [Count] = []
  /// Why the session stopped, by the error's code; `stopped` is the app's own call.
  public internal(set) var halts: [Count] = []
  /// Requests after which less was sent, because they were too large or one item spoilt them.
  public internal(set) var splits = 0
  /// Records that the cloud said had been changed by somebody else.
  public internal(set) var conflicts = 0
  /// Requests whose response was lost.
  public internal(set) var lostResponses = 0
  /// Answers that came too late or twice, and were ignored.
  public internal(set) var ignoredAnswers = 0
  /// Records that were saved, once for each time.
  public internal(set) var savedRecords = 0
  /// Records that were deleted.
  public internal(set) var deletedRecords = 0
  /// Records that were set aside, once for each time.
  public internal(set) var parkedRecords = 0
  /// Changed and deleted records that came with pages.
  public internal(set) var fetchedRecords = 0
  /// Pages that came.
  public internal(set) var fetchedPages = 0
  /// Where the time went, activities without any left out.
  ///
  /// A time between two events counts for what the state before it was doing; a clock that was set
  /// back counts as no time.
  public internal(set) var times: [Share] = []
  /// How long modifications took.
  public internal(set) var modifications = Durations([])
  /// How long fetches took.
  public internal(set) var fetches = Durations([])
  /// Operations that failed or were given up, by the error's code.
  public internal(set) var failedOperations: [Count] = []
  /// Operations that had not ended when the log did.
  public internal(set) var openOperations = 0

  init() {}

  /// Counts what is in a log.
  ///
  /// - Parameters:
  ///   - log: The log.
  ///   - progress: Is told now and then how many events have been counted.
  /// - Throws: An error if the log cannot be read.
  /// - Complexity: O(*n*) in the length of the log; memory for the operations and their durations.
  public init(of log: EventLog, progress: ((Int) -> Void)? = nil) throws(LogError) {
    var tally = StatisticsTally(LogFold(log, wantsEntries: false))
    try log.forEachStep { step in
      tally.process(step: step)
      if tally.eventCount % 8_192 == 0 { progress?(tally.eventCount) }
      return true
    }
    self = tally.finish()
    byteCount = log.byteCount
  }

  /// Counts what a reader has not read yet, without opening the log as a whole.
  ///
  /// - Throws: An error that names the line and what is wrong there.
  public init(of reader: inout LogReader) throws(LogError) {
    var tally = StatisticsTally(LogFold(reader, wantsEntries: false))
    while let step = try reader.next() { tally.process(step: step) }
    self = tally.finish()
    byteCount = reader.endOffset
  }
}

extension LogStatistics.Durations {
  /// Sorts lengths and picks by rank: the smallest that so many of a hundred do not exceed.
  init(_ durations: [Int64]) {
    let sorted = durations.sorted()
    func rank(percent: Int) -> Int64? {
      sorted.isEmpty ? nil : sorted[max(0, (sorted.count * percent + 99) / 100 - 1)]
    }
    count = sorted.count
    median = rank(percent: 50)
    percentile95 = rank(percent: 95)
    maximum = sorted.last
  }
}
