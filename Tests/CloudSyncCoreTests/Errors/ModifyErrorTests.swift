import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("ErrorTable, modifications")
struct ModifyErrorTests {
  /// All cells of one code and shape: a save or a deletion as culprit, with and without a wait.
  private static func faults(
    _ code: SyncError.Code,
    _ shape: FaultScript.Shape,
    isForEver: Bool
  ) -> [FaultScript.Fault] {
    let culprits = shape == .whole ? ["b"] : ["b", "c"]
    return culprits.flatMap { culprit in
      [nil, .seconds(30)]
        .map { wait in
          FaultScript.Fault(
            kind: .modify,
            shape: shape,
            code: code,
            culprit: culprit,
            retryAfter: wait,
            isForEver: isForEver
          )
        }
    }
  }

  @Test(
    "One wrong response costs nothing but what the table says, and all work ends",
    arguments: SuiteSize.pairs(15, SyncError.Code.everyCode, FaultScript.Shape.allCases)
  )
  func wrongOnce(code: SyncError.Code, shape: FaultScript.Shape) throws {
    for fault in Self.faults(code, shape, isForEver: false) {
      let scenario = ErrorScenario(fault)
      try scenario.submit()

      scenario.run()

      scenario.checkAlways()
      checkOnce(scenario)
      scenario.repair()
      scenario.checkRepaired()
    }
  }

  @Test(
    "The same wrong response for ever loses nothing, does not spin, and can be mended",
    arguments: SuiteSize.pairs(15, SyncError.Code.everyCode, FaultScript.Shape.allCases)
  )
  func wrongForEver(code: SyncError.Code, shape: FaultScript.Shape) throws {
    for fault in Self.faults(code, shape, isForEver: true) {
      let scenario = ErrorScenario(fault)
      try scenario.submit()

      scenario.run()

      // Conflicts are tried again at once, within their budget.
      scenario.checkAlways(atOnce: code == .serverRecordChanged && shape == .whole ? 32 : 12)
      checkForEver(scenario)
      scenario.repair()
      scenario.checkRepaired()
    }
  }

  // MARK: Outcomes

  /// What is done about the fault: a zone in which the cloud has saved something is not gone.
  private static func disposition(of scenario: ErrorScenario) -> ErrorDisposition {
    switch scenario.disposition {
    case .createZone where scenario.fault.shape == .amongDone,
      .askAboutZone where scenario.fault.shape == .amongDone:
      .retryTransient
    default: scenario.disposition
    }
  }

  /// What one wrong response leads to.
  private func checkOnce(_ scenario: ErrorScenario) {
    let label = scenario.label
    let state = scenario.state
    switch Self.disposition(of: scenario) {
    case .halt:
      #expect(state.haltReason?.error.code == scenario.fault.code, label)
      #expect(state.haltReason?.mode == .modify, label)
      #expect(scenario.bench.completions.entries.isEmpty, label)
      #expect(state.modifyQueue.count == 3, label)
      return
    case .askAboutZone:
      guard case .lost(.purged) = state.zoneState else {
        Issue.record("the zone is not lost: \(scenario.fault)")
        return
      }
      #expect(scenario.bench.handler.calls.count { $0.mode == .createZone } == 1, label)
      return
    case .park:
      #expect(scenario.parked == [scenario.fault.culprit: scenario.fault.code], label)
      #expect(scenario.cloud.wrong.count == 1, label)
    case .split where scenario.fault.shape == .alone:
      #expect(scenario.parked == [scenario.fault.culprit: .limitExceeded], label)
    default: #expect(scenario.parked.isEmpty, label)
    }
    #expect(!state.isHalted && !state.hasWorkQueued, label)
    #expect(scenario.bench.completions.entries.count == scenario.operationCount, label)
    if case .createZone = Self.disposition(of: scenario) { checkRecreation(scenario) }
    if case .resendUnchanged = scenario.disposition { checkUnchanged(scenario) }
  }

  /// What the same wrong response leads to when it does not end.
  private func checkForEver(_ scenario: ErrorScenario) {
    let fault = scenario.fault
    let label = scenario.label
    let state = scenario.state
    switch Self.disposition(of: scenario) {
    case .retryNetwork where fault.shape == .amongRefused,
      .retryService where fault.shape == .amongRefused,
      .retryService where fault.shape == .amongDone:
      // A cloud that is away for one record alone must not hold back its neighbours.
      #expect(scenario.parked == [fault.culprit: fault.code], label)
      #expect(scenario.bench.completions.entries.count == scenario.operationCount, label)
    case .retryNetwork, .retryService: checkWaiting(scenario)
    case .retryTransient where fault.shape == .whole:
      // A whole request that fails has no culprit.
      let all = Dictionary(uniqueKeysWithValues: scenario.names.map { ($0, fault.code) })
      #expect(scenario.parked == all, label)
    case .resendUnchanged:
      checkWaiting(scenario)
      checkUnchanged(scenario)
    case .isolate where fault.retryAfter != nil, .stay where fault.retryAfter != nil:
      // The culprit is searched for all the same, but the server's waits grow to a day.
      #expect(!state.isHalted, label)
      #expect(Set(scenario.parked.keys).isSubset(of: scenario.names), label)
    case .retryTransient, .park:
      #expect(scenario.parked == [fault.culprit: fault.code], label)
      #expect(scenario.bench.completions.entries.count == scenario.operationCount, label)
    case .split, .isolate, .stay, .unwrap:
      // Only a whole request has no culprit: among items that are all refused it is searched for.
      let isCulpritKnown = fault.shape != .whole
      let code: SyncError.Code =
        fault.code == .serverRecordChanged ? .conflictBudgetSpent : fault.code
      let parked = isCulpritKnown ? [fault.culprit] : scenario.names
      var expected = Dictionary(uniqueKeysWithValues: parked.map { ($0, code) })
      // A deletion that conflicts has no record to merge; one of a missing record is done.
      if fault.shape == .whole, fault.code == .serverRecordChanged { expected["c"] = fault.code }
      if fault.shape == .whole, fault.code == .unknownItem { expected["c"] = nil }
      #expect(scenario.parked == expected, label)
    case .resolveConflict:
      let code: SyncError.Code = fault.isSave ? .conflictBudgetSpent : fault.code
      #expect(scenario.parked == [fault.culprit: code], label)
    case .recordMissing:
      #expect(scenario.parked == (fault.isSave ? ["b": .unknownItem] : [:]), label)
    case .waitForQuota: checkQuota(scenario)
    case .waitForAccount:
      #expect(scenario.isAccountWaiting, label)
      #expect(scenario.parked.isEmpty && !state.isHalted, label)
    case .createZone:
      #expect(state.haltReason?.error.code == .zoneBudgetSpent, label)
      #expect(scenario.calls.count { $0.mode == .createZone } == 6, label)
    case .askAboutZone: #expect(!state.isHalted && scenario.cloud.wrong.count == 1, label)
    case .halt:
      #expect(state.haltReason?.error.code == fault.code, label)
      #expect(scenario.cloud.wrong.count == 1, label)
    case .startOver, .failFetch, .giveUpSubscription:
      Issue.record("a modification has no such disposition: \(fault)")
    }
  }

  /// Nothing is given up; the request is tried again and again, ever more rarely.
  private func checkWaiting(_ scenario: ErrorScenario) {
    let label = scenario.label
    #expect(scenario.parked.isEmpty && !scenario.state.isHalted, label)
    // Operations before the culprit's may have ended.
    let queued = scenario.state.modifyQueue.flatMap { op in
      op.records.map(\.recordID.name) + op.recordIDsToDelete.map(\.name)
    }
    #expect(queued.contains(scenario.fault.culprit), label)
    #expect(scenario.fault.shape == .amongDone || Set(queued) == Set(scenario.names), label)
    let times = scenario.bench.handler.modifyCalls.map(\.time)
    #expect((5...60).contains(times.count), label)
    let gaps = zip(times, times.dropFirst()).map { $0.distance(to: $1) }
    #expect(gaps.allSatisfy { $0 >= 500_000_000 }, label)
    #expect(gaps.last ?? 0 >= 300_000_000_000, label)
    #expect(gaps.allSatisfy { $0 <= 700_000_000_000 }, label)
  }

  /// The request is repeated as it was, with its token, before anything else.
  private func checkUnchanged(_ scenario: ErrorScenario) {
    let calls = scenario.bench.handler.modifyCalls
    let wrong = calls.prefix(scenario.cloud.wrong.count + 1)
    #expect(Set(wrong.map(\.token)).count == 1, scenario.label)
    #expect(Set(wrong.map(\.names)).count == 1, scenario.label)
  }

  /// Zone, then subscription, then the work again.
  private func checkRecreation(_ scenario: ErrorScenario) {
    let modes = scenario.calls.map(\.mode)
    let expected: [OperationMode] = [
      .createZone, .createSubscription, .modify, .createZone, .createSubscription, .modify,
    ]
    #expect(modes == expected, scenario.label)
  }

  /// Saves are set aside and probed; a deletion has its budget.
  private func checkQuota(_ scenario: ErrorScenario) {
    let names = scenario.fault.shape == .whole ? scenario.names : [scenario.fault.culprit]
    let isProbed = scenario.fault.isSave
    // A probe may be on its way at this very moment.
    #expect(Set(scenario.parked.keys).isSubset(of: names), scenario.label)
    #expect(scenario.parked.values.allSatisfy { $0 == .quotaExceeded }, scenario.label)
    #expect(!scenario.parked.isEmpty && !scenario.state.isHalted, scenario.label)
    if isProbed { #expect(scenario.cloud.wrong.count >= 5, scenario.label) }
  }
}

extension ErrorScenario {
  /// How many modifications were submitted.
  var operationCount: Int { fault.shape == .alone && fault.kind == .modify ? 1 : 3 }
}
