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
  ) -> [FaultyCloud.Fault] {
    [FaultyCloud.Shape.whole, .alone, .amongRefused]
      .flatMap { shape in
        [nil, .seconds(30)]
          .map { wait in
            FaultyCloud.Fault(
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
    "One wrong answer costs nothing but what the table says",
    arguments: SyncError.Code.everyCode,
    kinds
  )
  func wrongOnce(code: SyncError.Code, kind: OperationMode) throws {
    for fault in Self.faults(code, kind, isForEver: false) {
      let trial = ErrorScenario(fault)
      try trial.submit()

      trial.run()

      trial.checkAlways()
      switch trial.outcome {
      case .halt: checkHalt(trial)
      case .askAboutZone: #expect(trial.cloud.wrong.count == 1, trial.label)
      case .giveUpSubscription: checkGivenUp(trial)
      default:
        #expect(trial.bench.completions.entries.count == 3, trial.label)
        #expect(trial.state.hasCreatedZone == true, trial.label)
        #expect(trial.state.hasCreatedSubscription == true, trial.label)
        // Zone, then subscription, then work, however often one of them is repeated.
        let modes = trial.calls.map(\.mode)
        #expect(modes.suffix(2) == [.createSubscription, .modify], trial.label)
      }
      mend(trial)
    }
  }

  @Test(
    "The same wrong answer for ever loses nothing, does not spin, and can be mended",
    arguments: SyncError.Code.everyCode,
    kinds
  )
  func wrongForEver(code: SyncError.Code, kind: OperationMode) throws {
    for fault in Self.faults(code, kind, isForEver: true) {
      let trial = ErrorScenario(fault)
      try trial.submit()

      trial.run()

      trial.checkAlways()
      checkForEver(trial)
      mend(trial)
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

  private func checkForEver(_ trial: ErrorScenario) {
    let state = trial.state
    let label = trial.label
    if case .giveUpSubscription = trial.outcome { return checkGivenUp(trial) }
    #expect(trial.bench.handler.modifyCalls.isEmpty, label)
    #expect(state.modifyQueue.count == 3, label)
    switch trial.outcome {
    case .halt: checkHalt(trial)
    case .askAboutZone:
      guard case .lost(.purged) = state.zoneState else {
        Issue.record("the zone is not lost: \(trial.fault)")
        return
      }
      #expect(trial.cloud.wrong.count == 1, label)
    case .createZone:
      #expect(state.haltReason?.error.code == .zoneBudgetSpent, label)
      #expect(trial.cloud.wrong.count == 6, label)
    case .waitForAccount:
      #expect(trial.isAccountWaiting, label)
    default:
      #expect(!state.isHalted && state.isStarting, label)
      #expect((5...60).contains(trial.cloud.wrong.count), label)
    }
  }

  private func checkHalt(_ trial: ErrorScenario) {
    let reason = trial.state.haltReason
    #expect(reason?.error.code == trial.toldCode && reason?.mode == trial.fault.kind, trial.label)
    #expect(trial.cloud.wrong.count == 1, trial.label)
    #expect(trial.bench.handler.modifyCalls.isEmpty, trial.label)
    if trial.fault.kind == .createZone {
      guard case .refused(let error) = trial.state.zoneState else {
        Issue.record("the zone is not refused: \(trial.fault)")
        return
      }
      #expect(error.code == trial.toldCode, trial.label)
    }
  }

  /// The session works without its subscription, and says why.
  private func checkGivenUp(_ trial: ErrorScenario) {
    guard case .givenUp(let error) = trial.state.subscriptionState else {
      Issue.record("the subscription is not given up: \(trial.fault)")
      return
    }
    #expect(error.code == trial.toldCode, trial.label)
    #expect(!trial.state.isHalted && trial.cloud.wrong.count == 1, trial.label)
    #expect(trial.bench.completions.entries.count == 3, trial.label)
  }

  private func mend(_ trial: ErrorScenario) {
    trial.mend()
    trial.checkMended()
    #expect(trial.state.hasCreatedZone == true, trial.label)
    #expect(trial.state.hasCreatedSubscription == true, trial.label)
  }
}
