import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("Nothing hangs, and nothing goes on for ever")
struct LivenessTests {
  /// How a cloud says that the zone is missing.
  enum Shape: CaseIterable {
    case whole, items, partialFailure

    func reply(
      to operation: ModifyOperation,
      _ code: SyncError.Code
    ) -> ScriptedHandler.Reply<ModifyOperation.Response> {
      let ids = operation.records.map(\.recordID) + operation.recordIDsToDelete
      let failures = ids.map { ItemFailure($0, SyncError(code)) }
      return switch self {
      case .whole: .failure(code)
      case .items: .success(.init(failures: failures))
      case .partialFailure: .failure(SyncError(.partialFailure, itemErrors: failures))
      }
    }
  }

  /// A bench whose zone is missing until it has been created so many times.
  static func zonelessBench(_ shape: Shape, creations: Int) -> SessionHarness {
    let created = Locked(0)
    var script = ScriptedHandler.Script()
    script.createZone = { _ in
      created.withLock { $0 += 1 }
      return .success(true)
    }
    script.modify = { operation, _ in
      created.withLock { $0 } >= creations
        ? .success(ScriptedHandler.allSaved(operation)) : shape.reply(to: operation, .zoneNotFound)
    }
    return SessionHarness(script: script)
  }

  // MARK: Zones

  @Test(
    "A missing zone is created whatever the length of the queue and the shape of the error",
    arguments: [1, 2, 5],
    Shape.allCases
  )
  func missingZone(count: Int, shape: Shape) throws {
    let bench = Self.zonelessBench(shape, creations: 2)
    bench.start()
    for index in 0..<count { try bench.modify([.note("r\(index)", 1)]) }
    #expect(bench.world.runToEnd())

    let modes = bench.handler.calls.map(\.mode)
    #expect(modes.count { $0 == .createZone } == 2)
    #expect(modes.count { $0 == .createSubscription } == 2)
    #expect(bench.handler.modifyCalls.count <= 3)
    #expect(bench.completions.entries.count == count)
    #expect(bench.state.isHalted == false && bench.state.hasCreatedZone == true)
  }

  @Test("A zone that is created again and again ends with a halt", arguments: Shape.allCases)
  func zoneThatNeverAppears(shape: Shape) throws {
    let bench = Self.zonelessBench(shape, creations: .max)
    bench.start()
    let id = try bench.modify([.note("r", 1)])
    #expect(bench.world.runToEnd())

    #expect(bench.state.haltReason?.error.code == .zoneBudgetSpent)
    #expect(bench.handler.modifyCalls.count <= 6)
    #expect(bench.handler.calls.count { $0.mode == .createZone } <= 6)
    #expect(bench.handler.calls.count { $0.mode == .createSubscription } >= 2)
    #expect(bench.state.modifyQueue.map(\.id) == [id])
  }

  @Test(
    "A zone creation answered with zoneNotFound does not pile up creations",
    arguments: [SyncError.Code.zoneNotFound, .userDeletedZone]
  )
  func creationOfMissingZone(code: SyncError.Code) throws {
    var script = ScriptedHandler.Script()
    script.createZone = { _ in .failure(code) }
    let bench = SessionHarness(script: script)
    bench.start()
    try bench.modify([.note("r", 1)])
    bench.world.runToEnd()

    #expect(bench.handler.calls.count <= 6)
    #expect(bench.state.createZoneQueue.count <= 1)
    if code == .userDeletedZone {
      #expect(bench.state.zoneState == .lost(.purged))
      #expect(bench.session.explain().reasons.contains(.zone))
    } else {
      #expect(bench.state.haltReason?.error.code == .zoneBudgetSpent)
    }
    #expect(bench.state.modifyQueue.count == 1)
  }

  @Test("A creation that is refused halts with its reason, and a start asks again")
  func refusedCreation() throws {
    var script = ScriptedHandler.Script()
    script.createZone = { number in .success(number > 0) }
    let bench = SessionHarness(script: script)
    bench.start()
    try bench.modify([.note("r", 1)])
    bench.world.runToEnd()
    #expect(bench.state.haltReason?.mode == .createZone)
    #expect(bench.halts.entries.compactMap { $0?.code } == [.serverRejectedRequest])

    bench.start()
    #expect(bench.completions.entries.count == 1)
    #expect(bench.handler.calls.count { $0.mode == .createZone } == 2)
  }

  // MARK: Items

  @Test("A single record that is too large is parked after one request")
  func tooLargeRecord() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, _ in
      operation.records.contains { $0.recordID.name == "big" }
        ? .failure(.limitExceeded) : .success(ScriptedHandler.allSaved(operation))
    }
    let bench = SessionHarness(script: script)
    bench.start()
    try bench.modify([.note("big", 1)])
    #expect(bench.world.runToEnd())

    #expect(bench.handler.modifyCalls.count == 1)
    #expect(bench.completions.entries.map(\.response.unsaved) == [[SessionHarness.id("big")]])
    #expect(bench.state.parkedRecords.map(\.error.code) == [.limitExceeded])

    try bench.modify((0..<20).map { .note("r\($0)", 1) })
    #expect(bench.world.runToEnd())
    #expect(bench.completions.entries.last?.response.savedRecords.count == 20)
  }

  @Test("A cloud that takes one record at a time is served with requests that are never empty")
  func smallRequests() throws {
    var options = StubCloud.Options()
    options.itemLimit = 1
    let bench = CloudHarness(options: options)
    bench.start()
    try bench.modify((0..<400).map { .note("r\($0)", 1) })
    #expect(bench.world.runToEnd())

    #expect(bench.completions.entries.map(\.response.savedRecords.count) == [400])
    // Upstream needed 799 requests, 399 of them refused.
    #expect(bench.cloud.modifications.count < 500)
    #expect(bench.wrongs == [])
  }

  @Test("A record that always conflicts is parked when its budget is spent")
  func endlessConflict() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      var response = ScriptedHandler.allSaved(operation)
      guard operation.records.contains(where: { $0.recordID.name == "hot" }) else {
        return .success(response)
      }
      let server = SessionHarness.record("hot", ["y": .int64(Int64(number))], tag: "s\(number)")
      response.savedRecords.removeAll { $0.recordID.name == "hot" }
      response.failures = [
        ItemFailure(SessionHarness.id("hot"), SyncError(.serverRecordChanged, serverRecord: server))
      ]
      return .success(response)
    }
    let bench = SessionHarness(script: script)
    bench.start()
    let id = try bench.modify([.note("hot", 1), .note("cold", 1)])
    #expect(bench.world.runToEnd())

    #expect(bench.handler.modifyCalls.count == 6)
    #expect(bench.completions.entries.map(\.id) == [id])
    #expect(bench.completions.entries[0].response.unsaved == [SessionHarness.id("hot")])
    #expect(bench.state.parkedRecords.map(\.error.code) == [.conflictBudgetSpent])
    #expect(bench.state.isHalted == false)
  }

  @Test("A record that the cloud refuses for good is parked, and the app can drop it")
  func poisonPill() throws {
    let script = Self.poisoned()
    let bench = SessionHarness(script: script)
    bench.start()
    try bench.modify([.note("poison", 1)])
    for index in 0..<50 { try bench.modify([.note("r\(index)", 1)]) }
    #expect(bench.world.runToEnd())

    #expect(bench.state.isHalted == false)
    #expect(bench.completions.entries.map(\.id.number) == Array(1...51))
    #expect(bench.completions.entries.flatMap(\.response.unsaved) == [SessionHarness.id("poison")])
    #expect(bench.completions.entries.flatMap(\.response.savedRecords).count == 50)
    #expect(bench.handler.modifyCalls.count < 20)

    bench.session.dropParked([SessionHarness.id("poison")])
    bench.world.run()
    #expect(bench.state.parkedRecords.isEmpty)
    #expect(bench.parked.entries.map(\.recordID) == [SessionHarness.id("poison")])
  }

  /// Refuses every whole request that holds the poison.
  static func poisoned() -> ScriptedHandler.Script {
    var script = ScriptedHandler.Script()
    script.modify = { operation, _ in
      operation.records.contains { $0.recordID.name == "poison" }
        ? .failure(.invalidArguments) : .success(ScriptedHandler.allSaved(operation))
    }
    return script
  }

  // MARK: Handlers

  @Test("A handler that never answers is given up at the deadline, and asked again")
  func silentHandler() throws {
    var script = ScriptedHandler.Script()
    script.createZone = { number in number == 0 ? .never : .success(true) }
    script.modify = { operation, number in
      number == 0 ? .never : .success(ScriptedHandler.allSaved(operation))
    }
    script.fetch = { _, number in
      number == 0 ? .never : .success(.init(changeToken: ChangeToken(text: "t")))
    }
    let bench = SessionHarness(script: script)
    bench.start()
    bench.session.fetch()
    try bench.modify([.note("r", 1)])
    #expect(bench.world.runToEnd())

    #expect(bench.handler.cancelled.count == 3)
    #expect(bench.completions.entries.count == 1)
    #expect(bench.pages.entries.count == 1)
    #expect(bench.state.hasWorkQueued == false)
  }
}
