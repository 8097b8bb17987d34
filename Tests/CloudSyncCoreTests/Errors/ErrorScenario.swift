import CloudSyncCore
import CloudSyncTestSupport
import Testing

/// One cell of the error table put to the test: a session, its cloud, and what must always hold.
struct ErrorScenario {
  let cloud: FaultScript
  let bench: SessionHarness

  var fault: FaultScript.Fault { cloud.fault }
  var label: Comment { "\(fault.description)" }
  var state: SyncState { bench.state }
  var calls: [ScriptedHandler.Call] { bench.handler.calls }

  init(_ fault: FaultScript.Fault) {
    cloud = FaultScript(fault)
    bench = SessionHarness(script: cloud.script)
  }

  /// What the table says about the fault.
  var disposition: ErrorDisposition {
    let isItem = fault.kind == .modify && fault.shape != .whole
    return ErrorTable.disposition(of: fault.code, for: fault.kind, in: isItem ? .item : .request)
  }

  /// Submits three operations that travel as one request, or one with the culprit alone.
  func submit() throws {
    let culprit = SessionHarness.record("b", ["x": 1], tag: "t")
    if fault.shape == .alone, fault.kind == .modify {
      if fault.isSave { try bench.modify([culprit]) } else { try bench.modify(delete: ["c"]) }
      return
    }
    try bench.modify([SessionHarness.record("a"), culprit])
    try bench.modify(delete: ["c"])
    try bench.modify([SessionHarness.record("d")])
  }

  /// Starts the session and lets an hour pass.
  func run() {
    bench.start()
    bench.world.advance(by: .seconds(3_600))
  }

  /// Repairs the cloud, takes the decisions that an app must take, and lets a day pass.
  func repair() {
    cloud.repair()
    if case .lost = state.zoneState { bench.session.decideZone(.recreate) }
    bench.session.start()
    bench.session.retryParked()
    bench.world.advance(by: .seconds(86_400))
  }

  /// Whether the session waits because of the account, or for what the server asked meanwhile.
  var isAccountWaiting: Bool {
    if case .away = state.accountState { return true }
    return fault.retryAfter != nil && bench.session.explain().reasons.contains(.gate)
  }

  // MARK: Checks

  /// What must hold at any time, whatever the cell.
  func checkAlways(callsPerHour: Int = 60, atOnce: Int = 12) {
    #expect(bench.brokenInvariant == nil, label)
    #expect(calls.count <= callsPerHour, label)
    var crowd = 0
    var last: Timestamp?
    for call in calls {
      crowd = call.time == last ? crowd + 1 : 1
      last = call.time
      if crowd > atOnce { Issue.record("too many calls at one time: \(fault)") }
      if crowd > atOnce { break }
    }
    checkRetryAfter()
    checkModifications()
  }

  /// After a wrong response with a wait nothing is sent before it is over.
  private func checkRetryAfter() {
    guard let asked = fault.retryAfter?.clampedNanoseconds else { return }
    var numbers: [OperationMode: Int] = [:]
    let wrong = Set(cloud.wrong)
    for (call, next) in zip(calls, calls.dropFirst()) {
      let number = numbers[call.mode, default: 0]
      numbers[call.mode] = number + 1
      guard wrong.contains(.init(mode: call.mode, number: number)) else { continue }
      #expect(call.time.distance(to: next.time) >= asked, label)
    }
  }

  /// Every modification ended once, in order, with an account of each record, or is still shown.
  private func checkModifications() {
    let ended = bench.completions.entries
    let numbers = ended.map(\.id.number)
    #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count, label)
    let queued = state.modifyQueue.map(\.id.number)
    #expect(queued.allSatisfy { $0 > numbers.last ?? 0 }, label)
    #expect(!bench.failures.entries.contains { $0.work.mode == .modify }, label)
    let parked = Set(state.parkedRecords.map(\.recordID))
    let later = Set(bench.parked.entries.map(\.recordID))
    for end in ended {
      let operation = end.operation
      let submitted = operation.records.map(\.recordID) + operation.recordIDsToDelete
      let response = end.response
      let told =
        response.savedRecords.map(\.recordID) + response.deletedRecordIDs + response.unsaved
      #expect(told.count == submitted.count && Set(told) == Set(submitted), label)
      for recordID in response.unsaved {
        #expect(parked.contains(recordID) || later.contains(recordID), label)
      }
    }
  }

  /// After the cloud was repaired everything has gone through, and nothing is left.
  func checkRepaired() {
    #expect(bench.brokenInvariant == nil, label)
    #expect(!state.isHalted && !state.hasWorkQueued, label)
    #expect(state.parkedRecords.isEmpty, label)
    #expect(state.modifyQueue.isEmpty && state.fetchQueue.isEmpty, label)
    checkModifications()
    guard fault.kind == .modify else { return }
    if fault.shape == .alone {
      #expect(fault.isSave ? cloud.saved == ["b"] : isCulpritDeleted, label)
    } else {
      #expect(cloud.saved == ["a", "b", "d"], label)
      #expect(isCulpritDeleted, label)
    }
    #expect(bench.completions.entries.count == (fault.shape == .alone ? 1 : 3), label)
  }

  /// Whether the deletion was done, by the cloud or because there was nothing to delete.
  private var isCulpritDeleted: Bool {
    cloud.deleted == ["c"] || fault.code == .unknownItem
  }

  /// The names and codes of what is parked.
  var parked: [String: SyncError.Code] {
    Dictionary(
      state.parkedRecords.map { ($0.recordID.name, $0.error.code) },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// The names of all records that were submitted.
  var names: [String] {
    guard fault.shape == .alone, fault.kind == .modify else { return ["a", "b", "c", "d"] }
    return [fault.culprit]
  }
}
