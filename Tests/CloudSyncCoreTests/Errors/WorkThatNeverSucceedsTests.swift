import CloudSyncCore
import CloudSyncTestSupport
import Testing

/// Requests that fail for ever while everything else is answered: every loop has a budget, and nothing starves.
@Suite("Work that never succeeds while the rest is answered")
struct WorkThatNeverSucceedsTests {
  private static let day = Duration.seconds(86_400)

  /// A harness that gets one edit and one fetch an hour, for some days.
  private static func run(_ harness: SessionHarness, days: Int = 10, bad: String? = "bad") throws {
    harness.start()
    if let bad {
      try harness.modify([.note(bad, 1)])
      harness.world.advance(by: .seconds(60))
    }
    for number in 1...days {
      try harness.modify([.note("good\(number)", number)])
      harness.session.fetch()
      harness.world.advance(by: day)
    }
    #expect(harness.brokenInvariant == nil)
  }

  private static func conflict(_ operation: ModifyOperation) -> ModifyOperation.Response {
    var response = ScriptedHandler.allSaved(operation)
    response.savedRecords.removeAll { $0.recordID.name == "bad" }
    if operation.records.contains(where: { $0.recordID.name == "bad" }) {
      response.failures = [ItemFailure(SessionHarness.id("bad"), SyncError(.serverRecordChanged))]
    }
    return response
  }

  @Test(
    "A record that cannot be looked up after its conflict is parked, and the others are saved",
    arguments: [nil, 3, 4, 17, 20, 23] as [Int?]
  )
  func lookup(code: Int?) throws {
    let script = ScriptedHandler.Script(
      modify: { operation, _ in .success(Self.conflict(operation)) },
      fetch: { operation, _ in
        guard operation.isLookup else {
          return .success(.init(changeToken: ChangeToken(text: "end")))
        }
        return code.map { .failure(SyncError.Code(rawValue: $0)) } ?? .never
      }
    )
    let harness = SessionHarness(script: script)
    try Self.run(harness)

    #expect(harness.completions.entries.count == 11)
    #expect(harness.state.parkedRecords.map(\.recordID.name) == ["bad"])
    #expect(harness.pages.entries.count == 10)
  }

  @Test("It goes on where it can be looked up again")
  func lookedUpLater() throws {
    let isAway = Locked(true)
    let script = ScriptedHandler.Script(
      modify: { operation, _ in
        isAway.withLock { $0 }
          ? .success(Self.conflict(operation)) : .success(ScriptedHandler.allSaved(operation))
      },
      fetch: { operation, _ in
        operation.isLookup
          ? .failure(.networkFailure) : .success(.init(changeToken: ChangeToken(text: "end")))
      }
    )
    let harness = SessionHarness(script: script)
    try Self.run(harness, days: 1)
    isAway.withLock { $0 = false }
    harness.session.retryParked()
    harness.world.advance(by: Self.day)

    #expect(harness.completions.entries.count == 2)
    #expect(harness.state.parkedRecords.isEmpty)
  }

  @Test(
    "A record for which whole requests fail in passing is found and parked",
    arguments: [17, 20, 12, 15],
    [nil, Duration.zero, .seconds(1)]
  )
  func wholeRequest(code: Int, retryAfter: Duration?) throws {
    let error = SyncError(SyncError.Code(rawValue: code), retryAfter: retryAfter)
    let script = ScriptedHandler.Script(modify: { operation, _ in
      operation.records.contains { $0.recordID.name == "bad" }
        ? .failure(error) : .success(ScriptedHandler.allSaved(operation))
    })
    let alone = SessionHarness(script: script)
    try Self.run(alone)
    #expect(alone.completions.entries.count == 11)
    #expect(alone.state.parkedRecords.map(\.recordID.name) == ["bad"])

    let harness = SessionHarness(script: script)
    harness.start()
    try harness.modify((0..<20).map { .note($0 == 7 ? "bad" : "r\($0)", $0) })
    try Self.run(harness, days: 2, bad: nil)
    #expect(harness.completions.entries.count == 3)
    #expect(harness.state.parkedRecords.map(\.recordID.name) == ["bad"])
    #expect(harness.brokenInvariant == nil)
  }

  @Test(
    "Items that are all refused because of others are charged, whatever the server asks to wait",
    arguments: [nil, Duration.zero, .seconds(1)]
  )
  func allRefusedForOthers(retryAfter: Duration?) throws {
    let script = ScriptedHandler.Script(modify: { operation, _ in
      guard operation.records.contains(where: { $0.recordID.name == "bad" }) else {
        return .success(ScriptedHandler.allSaved(operation))
      }
      let error = SyncError(.batchRequestFailed, retryAfter: retryAfter)
      let failures = operation.records.map { ItemFailure($0.recordID, error) }
      return .success(ModifyOperation.Response(failures: failures))
    })
    let harness = SessionHarness(script: script)
    harness.start()
    try harness.modify((0..<20).map { .note($0 == 7 ? "bad" : "r\($0)", $0) })
    try Self.run(harness, days: 2, bad: nil)

    #expect(harness.completions.entries.count == 3)
    #expect(harness.state.parkedRecords.map(\.recordID.name) == ["bad"])
  }

  @Test("A fetch that always fails in passing ends as failed", arguments: [17, 20])
  func fetch(code: Int) throws {
    let script = ScriptedHandler.Script(fetch: { _, _ in
      .failure(SyncError.Code(rawValue: code))
    })
    let harness = SessionHarness(script: script)
    try Self.run(harness, days: 3)

    #expect(harness.completions.entries.count == 4)
    #expect(harness.failures.entries.map(\.error.code.rawValue) == [code, code, code])
    #expect(harness.handler.fetchCalls.count <= 3 * 7)
    #expect(harness.state.hasWorkQueued == false)
  }

  @Test("A zone that cannot be created halts the session", arguments: [17, 20])
  func zone(code: Int) throws {
    let script = ScriptedHandler.Script(createZone: { _ in
      .failure(SyncError.Code(rawValue: code))
    })
    let harness = SessionHarness(script: script)
    harness.session.start()
    harness.world.advance(by: Self.day)

    #expect(harness.halts.entries.last??.code.rawValue == code)
    #expect(harness.handler.calls.count <= 7)
  }

  @Test(
    "A subscription that cannot be created takes its turn, and is given up in the end",
    arguments: [nil, 4, 6, 17, 20, 23] as [Int?]
  )
  func subscription(code: Int?) throws {
    let script = ScriptedHandler.Script(createSubscription: { _ in
      code.map { .failure(SyncError.Code(rawValue: $0)) } ?? .never
    })
    let harness = SessionHarness(script: script)
    try Self.run(harness)

    #expect(harness.completions.entries.count == 11)
    #expect(harness.pages.entries.count == 10)
    guard case .givenUp(let error) = harness.state.subscriptionState else {
      Issue.record("the session still waits for \(harness.state.subscriptionState)")
      return
    }
    #expect(code == nil || error.code.rawValue == code)
    #expect(harness.state.hasWorkQueued == false)
  }

  @Test("A network that is away ends no subscription")
  func networkAway() throws {
    let isAway = Locked(true)
    let script = ScriptedHandler.Script(createSubscription: { _ in
      isAway.withLock { $0 } ? .failure(.networkFailure) : .success(true)
    })
    let harness = SessionHarness(script: script)
    harness.session.start()
    harness.world.advance(by: Self.day)
    guard case .creating = harness.state.subscriptionState else {
      Issue.record("it was given up while nothing was answered")
      return
    }
    isAway.withLock { $0 = false }
    harness.world.advance(by: .seconds(700))
    guard case .ready = harness.state.subscriptionState else {
      Issue.record("it is not there")
      return
    }
  }

  @Test(
    "One item that says that the zone is gone, while others are saved, is that item's own trouble",
    arguments: [26, 28]
  )
  func itemWithoutZone(code: Int) throws {
    let script = ScriptedHandler.Script(modify: { operation, _ in
      var response = ScriptedHandler.allSaved(operation)
      response.savedRecords.removeAll { $0.recordID.name == "bad" }
      if operation.records.contains(where: { $0.recordID.name == "bad" }) {
        let error = SyncError(SyncError.Code(rawValue: code))
        response.failures = [ItemFailure(SessionHarness.id("bad"), error)]
      }
      return .success(response)
    })
    let harness = SessionHarness(script: script)
    harness.start()
    try harness.modify([.note("good", 1), .note("bad", 1), .note("better", 1)])
    harness.world.advance(by: Self.day)

    #expect(harness.handler.calls.count { $0.mode == .createZone } <= 1 + 5)
    #expect(harness.completions.entries.count == 1 || harness.state.isHalted)
    let saved = harness.handler.modifyCalls.first.map { Set($0.saves.map(\.recordID.name)) }
    #expect(saved == ["good", "bad", "better"])
    if case .lost = harness.state.zoneState {
      // Alone it says that the zone is gone, which only the user can have done.
      #expect(code == 28)
    }
  }

  @Test("A pause of nothing that a server asks for is none", arguments: [0, -5])
  func noPause(seconds: Int) throws {
    let isAway = Locked(true)
    let script = ScriptedHandler.Script(modify: { operation, _ in
      isAway.withLock { $0 }
        ? .failure(.networkFailure, retryAfter: .seconds(seconds))
        : .success(ScriptedHandler.allSaved(operation))
    })
    let harness = SessionHarness(script: script)
    harness.start()
    try harness.modify([.note("a", 1)])
    harness.world.advance(by: .seconds(3_600))
    isAway.withLock { $0 = false }
    harness.session.connectivityChanged()
    harness.world.advance(by: .seconds(1))

    #expect(harness.completions.entries.count == 1)
  }
}
