import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("ErrorTable, creation of zone and subscription")
struct ZoneWorkErrorTests {
  static let kinds: [OperationMode] = [.createZone, .createSubscription]

  private static func faults(
    _ code: SyncError.Code,
    _ kind: OperationMode,
    isForEver: Bool
  ) -> [FaultScript.Fault] {
    [FaultScript.Shape.whole, .alone, .amongRefused]
      .flatMap { shape in
        [nil, .seconds(30)]
          .map { wait in
            FaultScript.Fault(
              kind: kind,
              shape: shape,
              code: code,
              retryAfter: wait,
              isForEver: isForEver
            )
          }
      }
  }

  @Test(
    "One wrong response costs nothing but what the table says",
    arguments: SuiteSize.pairs(10, SyncError.Code.everyCode, kinds)
  )
  func wrongOnce(code: SyncError.Code, kind: OperationMode) throws {
    for fault in Self.faults(code, kind, isForEver: false) {
      let scenario = ErrorScenario(fault)
      try scenario.submit()

      scenario.run()

      scenario.checkAlways()
      switch scenario.outcome {
      case .halt: checkHalt(scenario)
      case .askAboutZone: #expect(scenario.cloud.wrong.count == 1, scenario.label)
      case .giveUpSubscription: checkGivenUp(scenario)
      default:
        #expect(scenario.bench.completions.entries.count == 3, scenario.label)
        #expect(scenario.state.hasCreatedZone == true, scenario.label)
        #expect(scenario.state.hasCreatedSubscription == true, scenario.label)
        // Zone, then subscription, then work, however often one of them is repeated.
        let modes = scenario.calls.map(\.mode)
        // A subscription that was refused in passing lets work go first.
        let isPutOff =
          kind == .createSubscription && modes.suffix(2) == [.modify, .createSubscription]
        #expect(isPutOff || modes.suffix(2) == [.createSubscription, .modify], scenario.label)
      }
      mend(scenario)
    }
  }

  @Test(
    "The same wrong response for ever loses nothing, does not spin, and can be mended",
    arguments: SuiteSize.pairs(10, SyncError.Code.everyCode, kinds)
  )
  func wrongForEver(code: SyncError.Code, kind: OperationMode) throws {
    for fault in Self.faults(code, kind, isForEver: true) {
      let scenario = ErrorScenario(fault)
      try scenario.submit()

      scenario.run()

      scenario.checkAlways()
      checkForEver(scenario)
      mend(scenario)
    }
  }

  @Test("A zone that the handler refuses without an error halts the session", arguments: kinds)
  func refusal(kind: OperationMode) throws {
    var script = ScriptedHandler.Script()
    if kind == .createZone {
      script.createZone = { $0 == 0 ? .success(false) : .success(true) }
    } else {
      script.createSubscription = { $0 == 0 ? .success(false) : .success(true) }
    }
    let bench = SessionHarness(script: script)
    try bench.modify([SessionHarness.record("a")])

    bench.start()

    #expect(bench.state.isHalted == (kind == .createZone))
    bench.session.start()
    bench.world.run()
    #expect(bench.state.hasCreatedZone == true && bench.state.hasCreatedSubscription == true)
    #expect(bench.completions.entries.count == 1)
    #expect(bench.brokenInvariant == nil)
  }

  // MARK: Outcomes

  private func checkForEver(_ scenario: ErrorScenario) {
    let state = scenario.state
    let label = scenario.label
    if case .giveUpSubscription = scenario.outcome { return checkGivenUp(scenario) }
    if scenario.fault.kind == .createSubscription, scenario.outcome.isRetry {
      return checkPutOff(scenario)
    }
    #expect(scenario.bench.handler.modifyCalls.isEmpty, label)
    #expect(state.modifyQueue.count == 3, label)
    switch scenario.outcome {
    case .halt: checkHalt(scenario)
    case .askAboutZone:
      guard case .lost(.purged) = state.zoneState else {
        Issue.record("the zone is not lost: \(scenario.fault)")
        return
      }
      #expect(scenario.cloud.wrong.count == 1, label)
    case .createZone:
      #expect(state.haltReason?.error.code == .zoneBudgetSpent, label)
      #expect(scenario.cloud.wrong.count == 6, label)
    case .waitForAccount:
      #expect(scenario.isAccountWaiting, label)
    case .retryTransient:
      // Every loop has a budget, but where the cloud is away.
      #expect(state.haltReason?.error.code == scenario.toldCode, label)
      #expect(scenario.cloud.wrong.count == 6, label)
    default:
      #expect(!state.isHalted && state.isStarting, label)
      #expect((5...60).contains(scenario.cloud.wrong.count), label)
    }
  }

  /// The work goes on without the subscription, which is tried again ever more rarely or given up.
  private func checkPutOff(_ scenario: ErrorScenario) {
    let label = scenario.label
    #expect(scenario.bench.completions.entries.count == 3 && !scenario.state.isHalted, label)
    if case .retryTransient = scenario.outcome {
      guard case .givenUp = scenario.state.subscriptionState else {
        Issue.record("the subscription is not given up: \(scenario.fault)")
        return
      }
    } else {
      #expect(scenario.state.isStarting, label)
    }
    #expect((5...60).contains(scenario.cloud.wrong.count), label)
  }

  private func checkHalt(_ scenario: ErrorScenario) {
    let reason = scenario.state.haltReason
    #expect(
      reason?.error.code == scenario.toldCode && reason?.mode == scenario.fault.kind,
      scenario.label
    )
    #expect(scenario.cloud.wrong.count == 1, scenario.label)
    #expect(scenario.bench.handler.modifyCalls.isEmpty, scenario.label)
    if scenario.fault.kind == .createZone {
      guard case .refused(let error) = scenario.state.zoneState else {
        Issue.record("the zone is not refused: \(scenario.fault)")
        return
      }
      #expect(error.code == scenario.toldCode, scenario.label)
    }
  }

  /// The session works without its subscription, and says why.
  private func checkGivenUp(_ scenario: ErrorScenario) {
    guard case .givenUp(let error) = scenario.state.subscriptionState else {
      Issue.record("the subscription is not given up: \(scenario.fault)")
      return
    }
    #expect(error.code == scenario.toldCode, scenario.label)
    #expect(!scenario.state.isHalted && scenario.cloud.wrong.count == 1, scenario.label)
    #expect(scenario.bench.completions.entries.count == 3, scenario.label)
  }

  private func mend(_ scenario: ErrorScenario) {
    scenario.repair()
    scenario.checkRepaired()
    #expect(scenario.state.hasCreatedZone == true, scenario.label)
    #expect(scenario.state.hasCreatedSubscription == true, scenario.label)
  }
}
