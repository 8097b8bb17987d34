import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("ErrorTable, fetches")
struct FetchErrorTests {
  private static func faults(
    _ code: SyncError.Code,
    _ shape: FaultyCloud.Shape,
    isForEver: Bool
  ) -> [FaultyCloud.Fault] {
    [nil, .seconds(30)]
      .map { wait in
        FaultyCloud.Fault(
          kind: .fetch,
          shape: shape,
          code: code,
          retryAfter: wait,
          isForEver: isForEver
        )
      }
  }

  /// A trial with one fetch asked for, and modifications behind it.
  private func trial(_ fault: FaultyCloud.Fault) throws -> ErrorScenario {
    let trial = ErrorScenario(fault)
    trial.bench.session.fetch(FetchOperation(changeToken: ChangeToken(text: "old")))
    try trial.submit()
    return trial
  }

  @Test(
    "One wrong answer costs nothing but what the table says",
    arguments: SyncError.Code.everyCode,
    FaultyCloud.Shape.allCases
  )
  func wrongOnce(code: SyncError.Code, shape: FaultyCloud.Shape) throws {
    for fault in Self.faults(code, shape, isForEver: false) {
      let trial = try trial(fault)

      trial.run()

      trial.checkAlways()
      checkOnce(trial)
      try mend(trial)
    }
  }

  @Test(
    "The same wrong answer for ever loses nothing, does not spin, and can be mended",
    arguments: SyncError.Code.everyCode,
    FaultyCloud.Shape.allCases
  )
  func wrongForEver(code: SyncError.Code, shape: FaultyCloud.Shape) throws {
    for fault in Self.faults(code, shape, isForEver: true) {
      let trial = try trial(fault)

      trial.run()

      trial.checkAlways()
      checkForEver(trial)
      try mend(trial)
    }
  }

  // MARK: Outcomes

  private func checkOnce(_ trial: ErrorScenario) {
    let bench = trial.bench
    let label = trial.label
    let fault = trial.fault
    if fault.shape == .amongDone { return checkPage(trial) }
    switch trial.outcome {
    case .halt:
      checkHalt(trial)
    case .askAboutZone:
      guard case .lost(.purged) = bench.state.zoneState else {
        Issue.record("the zone is not lost: \(fault)")
        return
      }
      #expect(bench.state.fetchQueue.count == 1, label)
    case .failFetch: checkFailure(trial, code: trial.toldCode)
    case .startOver, .createZone:
      // The token is worth nothing any more: the page belongs to a run from the beginning.
      #expect(
        bench.handler.fetchCalls.map { $0.fetch?.changeToken == nil } == [false, true],
        label
      )
      #expect(bench.pages.entries.map(\.startedOver) == [true], label)
      let isRecreated = bench.handler.calls.count { $0.mode == .createZone } == 2
      #expect(isRecreated == (fault.code == .zoneNotFound), label)
    default:
      #expect(bench.handler.fetchCalls.map { $0.fetch?.changeToken } == [old, old], label)
      #expect(bench.pages.entries.map(\.startedOver) == [false], label)
    }
    if case .waitForAccount = trial.outcome { #expect(bench.state.hasGoodAccountStatus == true) }
  }

  private let old = ChangeToken(text: "old")

  private func checkForEver(_ trial: ErrorScenario) {
    let bench = trial.bench
    let label = trial.label
    if trial.fault.shape == .amongDone { return checkPage(trial) }
    switch trial.outcome {
    case .halt: checkHalt(trial)
    case .askAboutZone: #expect(trial.cloud.wrong.count == 1, label)
    case .failFetch: checkFailure(trial, code: trial.toldCode)
    case .startOver:
      #expect(bench.state.haltReason?.error.code == trial.fault.code, label)
      #expect(bench.failures.entries.map(\.error.code) == [trial.fault.code], label)
      #expect(bench.state.fetchQueue.isEmpty, label)
    case .createZone:
      #expect(bench.state.haltReason?.error.code == .zoneBudgetSpent, label)
      #expect(bench.state.fetchQueue.count == 1, label)
    case .waitForAccount:
      #expect(trial.isAccountWaiting, label)
      #expect(bench.state.fetchQueue.count == 1, label)
    default:
      #expect(!bench.state.isHalted && bench.state.fetchQueue.count == 1, label)
      #expect((5...60).contains(bench.handler.fetchCalls.count), label)
      // Edits go on all the same, in the pauses of the fetch.
      #expect(bench.state.modifyQueue.isEmpty, label)
    }
  }

  /// A page of which some records could not be read counts all the same.
  private func checkPage(_ trial: ErrorScenario) {
    let bench = trial.bench
    #expect(bench.pages.entries.count == 1, trial.label)
    #expect(bench.pages.entries.first?.failures.map(\.error.code) == [trial.fault.code])
    #expect(bench.pages.entries.first?.changedRecords.count == 1, trial.label)
    #expect(!bench.state.isHalted && bench.state.fetchQueue.isEmpty, trial.label)
    #expect(bench.completions.entries.count == 3, trial.label)
  }

  private func checkHalt(_ trial: ErrorScenario) {
    let reason = trial.state.haltReason
    #expect(reason?.error.code == trial.toldCode && reason?.mode == .fetch, trial.label)
    #expect(trial.state.fetchQueue.count == 1, trial.label)
    #expect(trial.bench.failures.entries.isEmpty, trial.label)
    #expect(trial.cloud.wrong.count == 1, trial.label)
  }

  private func checkFailure(_ trial: ErrorScenario, code: SyncError.Code) {
    let bench = trial.bench
    #expect(bench.failures.entries.map(\.error.code) == [code], trial.label)
    #expect(!bench.state.isHalted && bench.state.fetchQueue.isEmpty, trial.label)
    #expect(bench.completions.entries.count == 3, trial.label)
    #expect(trial.cloud.wrong.count == 1, trial.label)
  }

  /// After the cloud was mended the fetch that waited, or a new one, goes through.
  private func mend(_ trial: ErrorScenario) throws {
    let bench = trial.bench
    let ended = bench.pages.entries.count + bench.failures.entries.count
    #expect(ended + bench.state.fetchQueue.count == 1, trial.label)
    trial.mend()
    if bench.pages.entries.isEmpty { bench.session.fetch() }
    bench.world.advance(by: .seconds(3_600))
    #expect(bench.pages.entries.map(\.isLast) == [true], trial.label)
    #expect(bench.failures.entries.count <= 1, trial.label)
    trial.checkMended()
  }
}

extension ErrorScenario {
  /// What the table says about an answer with one error in it, whatever its wrapping.
  var outcome: ErrorDisposition {
    ErrorTable.disposition(of: toldCode, for: fault.kind, in: .request)
  }

  /// The code that the session tells of: a partial failure without a culprit is an invalid request.
  var toldCode: SyncError.Code {
    fault.code == .partialFailure ? .invalidArguments : fault.code
  }
}
