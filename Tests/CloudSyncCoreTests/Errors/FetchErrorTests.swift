import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("ErrorTable, fetches")
struct FetchErrorTests {
  private static func faults(
    _ code: SyncError.Code,
    _ shape: FaultScript.Shape,
    isForEver: Bool
  ) -> [FaultScript.Fault] {
    [nil, .seconds(30)]
      .map { wait in
        FaultScript.Fault(
          kind: .fetch,
          shape: shape,
          code: code,
          retryAfter: wait,
          isForEver: isForEver
        )
      }
  }

  /// A scenario with one fetch asked for, and modifications behind it.
  private func scenario(_ fault: FaultScript.Fault) throws -> ErrorScenario {
    let scenario = ErrorScenario(fault)
    scenario.bench.session.fetch(FetchOperation(changeToken: ChangeToken(text: "old")))
    try scenario.submit()
    return scenario
  }

  @Test(
    "One wrong response costs nothing but what the table says",
    arguments: SuiteSize.pairs(15, SyncError.Code.everyCode, FaultScript.Shape.allCases)
  )
  func wrongOnce(code: SyncError.Code, shape: FaultScript.Shape) throws {
    for fault in Self.faults(code, shape, isForEver: false) {
      let scenario = try scenario(fault)

      scenario.run()

      scenario.checkAlways()
      checkOnce(scenario)
      try mend(scenario)
    }
  }

  @Test(
    "The same wrong response for ever loses nothing, does not spin, and can be mended",
    arguments: SuiteSize.pairs(15, SyncError.Code.everyCode, FaultScript.Shape.allCases)
  )
  func wrongForEver(code: SyncError.Code, shape: FaultScript.Shape) throws {
    for fault in SuiteSize.some(1, of: Self.faults(code, shape, isForEver: true)) {
      let scenario = try scenario(fault)

      scenario.run()

      scenario.checkAlways()
      checkForEver(scenario)
      try mend(scenario)
    }
  }

  // MARK: Outcomes

  private func checkOnce(_ scenario: ErrorScenario) {
    let bench = scenario.bench
    let label = scenario.label
    let fault = scenario.fault
    if fault.shape == .amongDone { return checkPage(scenario) }
    switch scenario.outcome {
    case .halt:
      checkHalt(scenario)
    case .askAboutZone:
      guard case .lost(.purged) = bench.state.zoneState else {
        Issue.record("the zone is not lost: \(fault)")
        return
      }
      #expect(bench.state.fetchQueue.count == 1, label)
    case .failFetch: checkFailure(scenario, code: scenario.toldCode)
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
    if case .waitForAccount = scenario.outcome { #expect(bench.state.hasGoodAccountStatus == true) }
  }

  private let old = ChangeToken(text: "old")

  private func checkForEver(_ scenario: ErrorScenario) {
    let bench = scenario.bench
    let label = scenario.label
    if scenario.fault.shape == .amongDone { return checkPage(scenario) }
    switch scenario.outcome {
    case .halt: checkHalt(scenario)
    case .askAboutZone: #expect(scenario.cloud.wrong.count == 1, label)
    case .failFetch: checkFailure(scenario, code: scenario.toldCode)
    case .startOver:
      #expect(bench.state.haltReason?.error.code == scenario.fault.code, label)
      #expect(bench.failures.entries.map(\.error.code) == [scenario.fault.code], label)
      #expect(bench.state.fetchQueue.isEmpty, label)
    case .createZone:
      #expect(bench.state.haltReason?.error.code == .zoneBudgetSpent, label)
      #expect(bench.state.fetchQueue.count == 1, label)
    case .waitForAccount:
      #expect(scenario.isAccountWaiting, label)
      #expect(bench.state.fetchQueue.count == 1, label)
    case .retryTransient:
      checkFailure(scenario, code: scenario.toldCode, after: SyncConfiguration().failureBudget + 1)
    default:
      #expect(!bench.state.isHalted && bench.state.fetchQueue.count == 1, label)
      #expect((5...60).contains(bench.handler.fetchCalls.count), label)
      // Edits go on all the same, in the pauses of the fetch.
      #expect(bench.state.modifyQueue.isEmpty, label)
    }
  }

  /// A page of which some records could not be read counts all the same.
  private func checkPage(_ scenario: ErrorScenario) {
    let bench = scenario.bench
    #expect(bench.pages.entries.count == 1, scenario.label)
    #expect(bench.pages.entries.first?.failures.map(\.error.code) == [scenario.fault.code])
    #expect(bench.pages.entries.first?.changedRecords.count == 1, scenario.label)
    #expect(!bench.state.isHalted && bench.state.fetchQueue.isEmpty, scenario.label)
    #expect(bench.completions.entries.count == 3, scenario.label)
  }

  private func checkHalt(_ scenario: ErrorScenario) {
    let reason = scenario.state.haltReason
    #expect(reason?.error.code == scenario.toldCode && reason?.mode == .fetch, scenario.label)
    #expect(scenario.state.fetchQueue.count == 1, scenario.label)
    #expect(scenario.bench.failures.entries.isEmpty, scenario.label)
    #expect(scenario.cloud.wrong.count == 1, scenario.label)
  }

  private func checkFailure(
    _ scenario: ErrorScenario,
    code: SyncError.Code,
    after count: Int = 1
  ) {
    let bench = scenario.bench
    #expect(bench.failures.entries.map(\.error.code) == [code], scenario.label)
    #expect(!bench.state.isHalted && bench.state.fetchQueue.isEmpty, scenario.label)
    #expect(bench.completions.entries.count == 3, scenario.label)
    #expect(scenario.cloud.wrong.count == count, scenario.label)
  }

  /// After the cloud was mended the fetch that waited, or a new one, goes through.
  private func mend(_ scenario: ErrorScenario) throws {
    let bench = scenario.bench
    let ended = bench.pages.entries.count + bench.failures.entries.count
    #expect(ended + bench.state.fetchQueue.count == 1, scenario.label)
    scenario.repair()
    if bench.pages.entries.isEmpty { bench.session.fetch() }
    bench.world.advance(by: .seconds(3_600))
    #expect(bench.pages.entries.map(\.isLast) == [true], scenario.label)
    #expect(bench.failures.entries.count <= 1, scenario.label)
    scenario.checkRepaired()
  }
}

extension ErrorScenario {
  /// What the table says about a response with one error in it, whatever its wrapping.
  var outcome: ErrorDisposition {
    ErrorTable.disposition(of: toldCode, for: fault.kind, in: .request)
  }

  /// The code that the session tells of: a partial failure without a culprit is an invalid request.
  var toldCode: SyncError.Code {
    fault.code == .partialFailure ? .invalidArguments : fault.code
  }
}
