import CloudSyncCore
import Testing

@Suite("Coverage of the random scripts")
struct ScriptCoverageTests {
  /// What there is to come across, but for what fewer than four of 700 scripts do: they hand
  /// records back by `conflictBudgetSpent` or `serverRejectedRequest`, get stuck with a token, lose
  /// the zone for good or during a look-up, or end work of another account.
  ///
  /// None can come across a `workFailure`, in whose place the middleware puts what it means, a
  /// `gateClosed`, for they have no second session, or a `retry` that waits for the account, for
  /// storage or for the app: these waits begin without one.
  private static let expected: Set<String> = [
    // The events.
    "start", "halt", "reset", "restored", "doWork", "cancel", "retryNow", "connectivityChanged",
    "retryParked", "dropParked", "acknowledge", "accountDidChange", "resolveAccountSwitch",
    "decideZone", "accountProviderAttached", "accountCheckStarted", "accountStatusChanged",
    "delivered", "woke", "startWork", "retryWork", "workSuccess", "settleItems", "resolveConflict",
    "retry", "split", "startOver", "failFetch", "noop", "workDropped",
    // What is found of a request, and of its items.
    "settlement halts", "settlement is too large", "settlement loses account",
    "settlement loses zone", "verdict again", "verdict again counted", "verdict alreadyThere",
    "verdict deleted", "verdict lookUp", "verdict park", "verdict parkForQuota", "verdict recreate",
    "verdict resolved", "verdict saved", "verdict stay",
    // What is waited for.
    "waits as the server asks", "waits for lostResponse", "waits for network", "waits for service",
    "waits for transient",
    // Why a session halts, how operations end, and what is handed back.
    "ends as cancelled", "ends as changeTokenExpired", "ends as invalidArguments", "ends as reset",
    "halted badContainer", "halted badDatabase", "halted changeTokenExpired",
    "halted conflictUnresolved", "halted incompatibleVersion", "halted internalError",
    "halted managedAccountRestricted", "halted missingEntitlement", "halted serverRejectedRequest",
    "halted stopped", "halted tooManyParked", "halted unknown(77)", "handed back as awaitsAppEdit",
    "handed back as invalidArguments", "handed back as limitExceeded",
    "handed back as outcomeUnknown", "handed back as parkedByResolver",
    "handed back as permissionFailure", "handed back as quotaExceeded",
    "handed back as unknownItem",
    // States that are passed through.
    "follow-up", "last try", "merged", "mixed", "own tags", "probe", "run cut short",
    "told again after a restart",
  ]

  /// Scripts that come across all of it; others stand in where a change of the session has them go
  /// elsewhere.
  private static let first: [UInt64] = [
    256, 539, 21, 247, 330, 20, 221, 329, 14, 50, 51, 83, 119, 227,
  ]

  @Test("The scripts come across everything that can happen to a session")
  func reachesEverything() {
    let count = Scripts.count(of: 150)
    var missing = Self.expected
    for (number, seed) in (Self.first + Array(0..<UInt64(max(count, 700)))).enumerated()
    where number < count || !missing.isEmpty {
      let run = ScriptRun(ScriptPlan(seed: 400_000_000 + seed, stepCount: 40))
      if run.run() != nil { Issue.record("\(Scripts.check(run.plan) ?? "-")") }
      let covered = run.memory.withLock { $0.covered }
      missing.subtract(covered)
      if Scripts.isVerbose {
        print("script \(seed) covers: \(covered.sorted().joined(separator: "; "))")
      }
    }
    #expect(missing.isEmpty, "\(missing.sorted()) were not reached")
  }
}
