import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("ErrorTable, modifications")
struct ModifyErrorTests {
  /// All cells of one code and shape: a save or a deletion as culprit, with and without a wait.
  private static func faults(
    _ code: SyncError.Code,
    _ shape: FaultyCloud.Shape,
    isForEver: Bool
  ) -> [FaultyCloud.Fault] {
    let culprits = shape == .whole ? ["b"] : ["b", "c"]
    return culprits.flatMap { culprit in
      [nil, .seconds(30)]
        .map { wait in
          FaultyCloud.Fault(
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
    "One wrong answer costs nothing but what the table says, and all work ends",
    arguments: SyncError.Code.everyCode,
    FaultyCloud.Shape.allCases
  )
  func wrongOnce(code: SyncError.Code, shape: FaultyCloud.Shape) throws {
    for fault in Self.faults(code, shape, isForEver: false) {
      let trial = ErrorScenario(fault)
      try trial.submit()

      trial.run()

      trial.checkAlways()
      checkOnce(trial)
      trial.mend()
      trial.checkMended()
    }
  }

  @Test(
    "The same wrong answer for ever loses nothing, does not spin, and can be mended",
    arguments: SyncError.Code.everyCode,
    FaultyCloud.Shape.allCases
  )
  func wrongForEver(code: SyncError.Code, shape: FaultyCloud.Shape) throws {
    for fault in Self.faults(code, shape, isForEver: true) {
      let trial = ErrorScenario(fault)
      try trial.submit()

      trial.run()

      // Conflicts are tried again at once, within their budget.
      trial.checkAlways(atOnce: code == .serverRecordChanged && shape == .whole ? 32 : 12)
      checkForEver(trial)
      trial.mend()
      trial.checkMended()
    }
  }

  // MARK: Outcomes

  /// What one wrong answer leads to.
  private func checkOnce(_ trial: ErrorScenario) {
    let label = trial.label
    let state = trial.state
    switch trial.disposition {
    case .halt:
      #expect(state.haltReason?.error.code == trial.fault.code, label)
      #expect(state.haltReason?.mode == .modify, label)
      #expect(trial.bench.completions.entries.isEmpty, label)
      #expect(state.modifyQueue.count == 3, label)
      return
    case .askAboutZone:
      guard case .lost(.purged) = state.zoneState else {
        Issue.record("the zone is not lost: \(trial.fault)")
        return
      }
      #expect(trial.bench.handler.calls.count { $0.mode == .createZone } == 1, label)
      return
    case .park:
      #expect(trial.parked == [trial.fault.culprit: trial.fault.code], label)
      #expect(trial.cloud.wrong.count == 1, label)
    case .split where trial.fault.shape == .alone:
      #expect(trial.parked == [trial.fault.culprit: .limitExceeded], label)
    default: #expect(trial.parked.isEmpty, label)
    }
    #expect(!state.isHalted && !state.hasWorkQueued, label)
    #expect(trial.bench.completions.entries.count == trial.operationCount, label)
    if case .createZone = trial.disposition { checkRecreation(trial) }
    if case .resendUnchanged = trial.disposition { checkUnchanged(trial) }
  }

  /// What the same wrong answer leads to when it does not end.
  private func checkForEver(_ trial: ErrorScenario) {
    let fault = trial.fault
    let label = trial.label
    let state = trial.state
    switch trial.disposition {
    case .retryNetwork where fault.shape == .amongRefused && fault.retryAfter == nil:
      // A network that is away for one record alone must not hold back its neighbours.
      #expect(trial.parked == [fault.culprit: fault.code], label)
      #expect(trial.bench.completions.entries.count == trial.operationCount, label)
    case .retryNetwork, .retryService: checkWaiting(trial)
    case .stay where fault.retryAfter != nil: checkWaiting(trial)
    case .retryTransient where fault.shape == .whole: checkWaiting(trial)
    case .resendUnchanged:
      checkWaiting(trial)
      checkUnchanged(trial)
    case .isolate where fault.retryAfter != nil: checkWaiting(trial)
    case .retryTransient, .park:
      #expect(trial.parked == [fault.culprit: fault.code], label)
      #expect(trial.bench.completions.entries.count == trial.operationCount, label)
    case .split, .isolate, .stay, .unwrap:
      // Only a whole request has no culprit: among items that are all refused it is searched for.
      let isCulpritKnown = fault.shape != .whole
      let code: SyncError.Code =
        fault.code == .serverRecordChanged ? .conflictBudgetSpent : fault.code
      let parked = isCulpritKnown ? [fault.culprit] : trial.names
      var expected = Dictionary(uniqueKeysWithValues: parked.map { ($0, code) })
      // A deletion that conflicts has no record to merge; one of a missing record is done.
      if fault.shape == .whole, fault.code == .serverRecordChanged { expected["c"] = fault.code }
      if fault.shape == .whole, fault.code == .unknownItem { expected["c"] = nil }
      #expect(trial.parked == expected, label)
    case .resolveConflict:
      let code: SyncError.Code = fault.isSave ? .conflictBudgetSpent : fault.code
      #expect(trial.parked == [fault.culprit: code], label)
    case .recordMissing:
      #expect(trial.parked == (fault.isSave ? ["b": .unknownItem] : [:]), label)
    case .waitForQuota: checkQuota(trial)
    case .waitForAccount:
      #expect(trial.isAccountWaiting, label)
      #expect(trial.parked.isEmpty && !state.isHalted, label)
    case .createZone:
      #expect(state.haltReason?.error.code == .zoneBudgetSpent, label)
      #expect(trial.calls.count { $0.mode == .createZone } == 6, label)
    case .askAboutZone: #expect(!state.isHalted && trial.cloud.wrong.count == 1, label)
    case .halt:
      #expect(state.haltReason?.error.code == fault.code, label)
      #expect(trial.cloud.wrong.count == 1, label)
    case .startOver, .failFetch, .giveUpSubscription:
      Issue.record("a modification has no such disposition: \(fault)")
    }
  }

  /// Nothing is given up; the request is tried again and again, ever more rarely.
  private func checkWaiting(_ trial: ErrorScenario) {
    let label = trial.label
    #expect(trial.parked.isEmpty && !trial.state.isHalted, label)
    // Operations before the culprit's may have ended.
    let queued = trial.state.modifyQueue.flatMap { op in
      op.records.map(\.recordID.name) + op.recordIDsToDelete.map(\.name)
    }
    #expect(queued.contains(trial.fault.culprit), label)
    #expect(trial.fault.shape == .amongDone || Set(queued) == Set(trial.names), label)
    let times = trial.bench.handler.modifyCalls.map(\.time)
    #expect((5...60).contains(times.count), label)
    let gaps = zip(times, times.dropFirst()).map { $0.distance(to: $1) }
    #expect(gaps.allSatisfy { $0 >= 500_000_000 }, label)
    #expect(gaps.last ?? 0 >= 300_000_000_000, label)
    #expect(gaps.allSatisfy { $0 <= 700_000_000_000 }, label)
  }

  /// The request is repeated as it was, with its token, before anything else.
  private func checkUnchanged(_ trial: ErrorScenario) {
    let calls = trial.bench.handler.modifyCalls
    let wrong = calls.prefix(trial.cloud.wrong.count + 1)
    #expect(Set(wrong.map(\.token)).count == 1, trial.label)
    #expect(Set(wrong.map(\.names)).count == 1, trial.label)
  }

  /// Zone, then subscription, then the work again.
  private func checkRecreation(_ trial: ErrorScenario) {
    let modes = trial.calls.map(\.mode)
    let expected: [OperationMode] = [
      .createZone, .createSubscription, .modify, .createZone, .createSubscription, .modify,
    ]
    #expect(modes == expected, trial.label)
  }

  /// Saves are set aside and probed; a deletion has its budget.
  private func checkQuota(_ trial: ErrorScenario) {
    let names = trial.fault.shape == .whole ? trial.names : [trial.fault.culprit]
    let isProbed = trial.fault.isSave
    // A probe may be on its way at this very moment.
    #expect(Set(trial.parked.keys).isSubset(of: names), trial.label)
    #expect(trial.parked.values.allSatisfy { $0 == .quotaExceeded }, trial.label)
    #expect(!trial.parked.isEmpty && !trial.state.isHalted, trial.label)
    if isProbed { #expect(trial.cloud.wrong.count >= 5, trial.label) }
  }
}

extension ErrorScenario {
  /// How many modifications were submitted.
  var operationCount: Int { fault.shape == .alone && fault.kind == .modify ? 1 : 3 }
}
