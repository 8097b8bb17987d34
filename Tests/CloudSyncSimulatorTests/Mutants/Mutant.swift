import CloudSyncCore
import CloudSyncSimulator

/// A known mistake that is put into the session, its handler or the app, to show that the checkers of
/// a simulation find it.
enum Mutant: String, Sendable, CaseIterable {
  // MARK: In the session, as a middleware

  /// Every fifth modification is not queued.
  case dropsWork
  /// No fetch is queued.
  case dropsFetches
  /// A lost request is not kept as it was: the retry sends something else.
  case forgetsFreezing
  /// The server's waits are cut to a quarter.
  case undercutsServerWait
  /// The server's waits are taken for the session's own.
  case mistakesServerWait
  /// What is to be parked counts as saved: a partial failure counts as a success.
  case savesParked
  /// What is to be sent again after it was parked is dropped.
  case dropsForRetry
  /// What the app says of a page is not heard.
  case missesAcknowledgements
  /// Whatever the provider says, the account is good.
  case trustsAnyAccount
  /// A switch of accounts is taken for the same account.
  case mixesAccounts
  /// An edit in conflict is dropped for the server's.
  case givesInToServer
  /// An edit in conflict is said to be there already.
  case mistakesConflictForOwn
  /// An edit of a missing record is dropped.
  case dropsEditOfMissing
  /// An item that is to be sent again is dropped.
  case dropsRetriedItem
  /// The timer wakes nobody: a wake-up is lost.
  case sleepsOn
  /// A lost zone is given up.
  case abandonsZone
  /// The network's return resets the session.
  case resetsOnReconnect
  /// A stop that nobody asked for, when a throttle comes.
  case haltsOnThrottle
  /// An expired token ends the fetch and is kept.
  case keepsExpiredToken
  /// A record that is refused in passing is tried for ever, and its operation waits for it.
  case neverParks
  /// A request that is never answered is sent again for ever.
  case neverParts

  // MARK: Between the session and its handler

  /// A request carries the values that its record was first sent with.
  case sendsOldVersion
  /// Saves carry the newest tag that any device was told.
  case ignoresOthers
  /// Answers go to the next request: a late response is taken for the present one.
  case crossesAnswers
  /// A lost response is taken for a success.
  case believesLostResponse
  /// Every request is sent twice at once.
  case sendsTwice
  /// A repeated request has a new write token.
  case renamesRepeats
  /// A repeated request lacks its last record.
  case shortensRepeats
  /// Deletions are answered and never sent.
  case forgetsDeletions
  /// The last record of every page is lost.
  case losesRecordOfPage
  /// Deletions of a page are lost.
  case losesDeletionsOfPage
  /// Every third fetch begins where an earlier one began.
  case fetchesFromOldToken
  /// Nobody hears of a failed item among good ones.
  case hidesItemFailures

  // MARK: In what a session takes from the world

  /// The timer waits until the wall clock shows the time: after the clock was set back it fires late.
  case waitsByWallClock
  /// The session joins a gate of its own: what another one of the app was told, it does not hear.
  case staysOutsideGate

  // MARK: In what a session tells

  /// Progress is of the session's whole life.
  case countsWholeLife
  /// What is accepted is told after what comes next.
  case acceptsLate
  /// Of a cancelled record that may be in the cloud it is said that it is not.
  case deniesDoubt

  // MARK: In the app

  /// Every seventh edit is forgotten after it was stored.
  case forgetsEdits
  /// Edits are submitted twice.
  case submitsTwice
  /// The app shows what it showed before.
  case showsOldContents
  /// Nothing of the disk survives the process.
  case losesDisk
  /// The journal misses its last event.
  case tearsWithoutTelling
  /// The journal's file has zeros behind its end: a torn write that nobody cut off.
  case leavesZerosBehind

  /// How many seeds may pass before one finds it.
  var patience: Int {
    switch self {
    case .believesLostResponse, .hidesItemFailures, .dropsRetriedItem, .keepsExpiredToken,
      .mixesAccounts, .abandonsZone, .shortensRepeats, .forgetsFreezing, .renamesRepeats,
      .neverParks, .neverParts, .waitsByWallClock, .staysOutsideGate:
      20
    case .deniesDoubt: 100
    default: 8
    }
  }

  /// What goes wrong: little else where a mistake shows only over a rare fault.
  var faults: FaultPlan {
    var plan = FaultPlan.none
    switch self {
    case .neverParks: plan[.recordRefused] = FaultPlan.Ratio(1, in: 20)
    case .neverParts: plan[.recordUnanswered] = FaultPlan.Ratio(1, in: 20)
    case .waitsByWallClock:
      plan = .default
      plan[.clockStep] = FaultPlan.Ratio(1, in: 10)
    default: plan = .default
    }
    return plan
  }

  /// What finds it; nil if any checker may.
  var rule: String? {
    switch self {
    case .waitsByWallClock: "a waiting call returns by its length, and tells what is so"
    case .staysOutsideGate: "nothing is sent before retryAfter"
    case .countsWholeLife: "progress goes from idle to idle, and never back"
    case .acceptsLate: "a modification is accepted once, in order with pages and completions"
    case .deniesDoubt: "what is cancelled says truly whether it may be in the cloud"
    default: nil
    }
  }

  /// Those that a test of every day tries.
  static let usual: [Mutant] = [
    .dropsWork, .givesInToServer, .ignoresOthers, .sendsTwice, .losesRecordOfPage, .forgetsEdits,
    .waitsByWallClock, .staysOutsideGate, .countsWholeLife, .acceptsLate,
  ]
}
