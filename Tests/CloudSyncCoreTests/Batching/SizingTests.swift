import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("Sizes that the cloud teaches")
struct SizingTests {
  /// How a cloud says that a request is too large.
  enum Telling: CaseIterable {
    case whole
    /// As an item's error, the others refused for it.
    case item
    /// As every item's error: what CloudKit makes of a refused request.
    case everyItem
  }

  /// A cloud that takes at most so many items.
  private func script(
    atMost most: @escaping @Sendable () -> Int,
    _ telling: Telling
  ) -> ScriptedHandler.Script {
    var script = ScriptedHandler.Script()
    script.modify = { operation, _ in
      guard operation.itemCount > most() else {
        return .success(ScriptedHandler.allSaved(operation))
      }
      let ids = operation.records.map(\.recordID) + operation.recordIDsToDelete
      switch telling {
      case .whole: return .failure(.limitExceeded)
      case .item:
        return .failure(
          SyncError(
            .partialFailure,
            itemErrors: ids.enumerated()
              .map { ItemFailure($1, SyncError($0 == 0 ? .limitExceeded : .batchRequestFailed)) }
          )
        )
      case .everyItem:
        return .failure(
          SyncError(
            .partialFailure,
            itemErrors: ids.map { ItemFailure($0, SyncError(.limitExceeded)) }
          )
        )
      }
    }
    return script
  }

  @Test(
    "The size is halved until it fits, then kept, and nothing is parked",
    arguments: Telling.allCases
  )
  func learns(telling: Telling) throws {
    let bench = SessionHarness(script: script(atMost: { 60 }, telling))
    try bench.modify((0..<500).map { SessionHarness.record("r\($0)") })

    bench.start()

    let sizes = bench.handler.modifyCalls.map(\.names.count)
    #expect(sizes.prefix(5) == [400, 200, 100, 50, 50])
    #expect(sizes.dropFirst(3).allSatisfy { $0 == 50 })
    #expect(bench.state.parkedRecords.isEmpty)
    #expect(bench.completions.entries.map(\.response.savedRecords.count) == [500])
    #expect(bench.state.requestLimits.items == 50)
    #expect(bench.brokenInvariant == nil)
  }

  @Test("After some requests of the learnt size a larger one is tried, up to the limit again")
  func growsAgain() throws {
    let most = Locked(5)
    let bench = SessionHarness(
      limits: RequestLimits(items: 40),
      script: script(atMost: { most.withLock { $0 } }, .whole)
    )
    bench.start()
    try bench.modify((0..<40).map { SessionHarness.record("r\($0)") })
    bench.world.run()
    #expect(bench.state.requestLimits.items == 5)

    most.withLock { $0 = 40 }
    let known = bench.handler.modifyCalls.count
    try bench.modify((0..<1_000).map { SessionHarness.record("s\($0)") })
    bench.world.run()

    let sizes = bench.handler.modifyCalls.dropFirst(known).dropLast().map(\.names.count)
    #expect(sizes == sizes.sorted() && Set(sizes) == [5, 10, 20, 40])
    #expect(bench.state.requestLimits.items == 40)
    #expect(bench.state.parkedRecords.isEmpty)
  }

  @Test("A larger size that is refused again is learnt again, and costs one request each time")
  func staysLearnt() throws {
    let bench = SessionHarness(
      limits: RequestLimits(items: 8),
      script: script(atMost: { 4 }, .whole)
    )
    try bench.modify((0..<400).map { SessionHarness.record("r\($0)") })

    bench.start()

    let sizes = bench.handler.modifyCalls.map(\.names.count)
    // One in seventeen: sixteen that go well, then one that asks for more.
    #expect(sizes.count { $0 == 8 } <= 1 + 100 / 16)
    #expect(sizes.count { $0 == 4 } == 100)
    #expect(bench.completions.entries.count == 1)
  }

  @Test(
    "An item that is too large by itself is parked; the others go on",
    arguments: [false, true]
  )
  func tooLargeAlone(asItem: Bool) throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, _ in
      let isTooLarge = operation.records.contains { $0.recordID.name == "large" }
      guard isTooLarge else { return .success(ScriptedHandler.allSaved(operation)) }
      if asItem {
        let ids = operation.records.map(\.recordID)
        return .failure(
          SyncError(
            .partialFailure,
            itemErrors: ids.map { recordID in
              let isCulprit = recordID.name == "large"
              return ItemFailure(
                recordID,
                SyncError(isCulprit ? .limitExceeded : .batchRequestFailed)
              )
            }
          )
        )
      }
      return .failure(.limitExceeded)
    }
    let bench = SessionHarness(script: script)
    try bench.modify((0..<50).map { SessionHarness.record("a\($0)") })
    try bench.modify([SessionHarness.record("large")])
    try bench.modify((0..<50).map { SessionHarness.record("b\($0)") })

    bench.start()

    #expect(bench.state.parkedRecords.map(\.recordID.name) == ["large"])
    #expect(bench.state.parkedRecords.map(\.error.code) == [.limitExceeded])
    #expect(
      bench.completions.entries.map(\.response.unsaved) == [[], [SessionHarness.id("large")], []]
    )
    // The search halves: it does not send every record by itself.
    #expect(bench.handler.modifyCalls.count <= 40)
    #expect(bench.brokenInvariant == nil)
  }

  @Test("An item too large beside others that are done learns without losing what is done")
  func tooLargeAmongDone() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, _ in
      var response = ScriptedHandler.allSaved(operation)
      guard operation.itemCount > 1 else { return .success(response) }
      response.savedRecords.removeAll { $0.recordID.name == "large" }
      if response.savedRecords.count < operation.itemCount {
        response.failures = [ItemFailure(SessionHarness.id("large"), SyncError(.limitExceeded))]
      }
      return .success(response)
    }
    let bench = SessionHarness(script: script)
    try bench.modify(
      (0..<9).map { SessionHarness.record("a\($0)") } + [SessionHarness.record("large")]
    )

    bench.start()

    #expect(bench.handler.modifyCalls.map(\.names.count) == [10, 1])
    #expect(bench.state.parkedRecords.isEmpty)
    #expect(bench.completions.entries.count == 1)
  }

  // MARK: An unknown culprit

  /// A cloud that refuses every request with one of the culprits as a whole.
  private func refusing(_ culprits: Set<String>, _ code: SyncError.Code) -> ScriptedHandler.Script {
    var script = ScriptedHandler.Script()
    script.modify = { operation, _ in
      operation.records.contains { culprits.contains($0.recordID.name) }
        ? .failure(code) : .success(ScriptedHandler.allSaved(operation))
    }
    return script
  }

  @Test(
    "A request refused as a whole for one of its items is halved until the culprit is alone",
    arguments: [0, 1, 127, 128, 200, 399]
  )
  func isolation(place: Int) throws {
    let bench = SessionHarness(script: refusing(["r\(place)"], .invalidArguments))
    try bench.modify((0..<400).map { SessionHarness.record("r\($0)") })
    try bench.modify((0..<800).map { SessionHarness.record("s\($0)") })

    bench.start()

    #expect(bench.state.parkedRecords.map(\.recordID.name) == ["r\(place)"])
    #expect(bench.state.parkedRecords.map(\.error.code) == [.invalidArguments])
    #expect(bench.completions.entries.map(\.response.unsaved.count) == [1, 0])
    #expect(bench.handler.modifyCalls.count <= 24)
    // The size is not learnt: it was not the size that was wrong.
    #expect(bench.state.requestLimits.items == 400)
    #expect(bench.handler.modifyCalls.suffix(2).map(\.names.count).contains(400))
    #expect(bench.brokenInvariant == nil)
  }

  @Test("Several culprits are found one after the other, and nobody else is parked")
  func severalCulprits() throws {
    let culprits: Set<String> = ["r3", "r4", "r77", "r150", "r399"]
    let bench = SessionHarness(script: refusing(culprits, .permissionFailure))
    try bench.modify((0..<400).map { SessionHarness.record("r\($0)") })

    bench.start()

    #expect(Set(bench.state.parkedRecords.map(\.recordID.name)) == culprits)
    #expect(bench.completions.entries.map(\.response.savedRecords.count) == [395])
    #expect(bench.handler.modifyCalls.count <= 80)
  }

  @Test("Any number of conflicts may wait for the app's own edits: they are no bad records")
  func everythingForTheApp() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, _ in
      let failures = operation.records.map { record in
        let server = SessionHarness.record(record.recordID.name, ["n": 2], tag: "theirs")
        return ItemFailure(record.recordID, SyncError(.serverRecordChanged, serverRecord: server))
      }
      return .success(ModifyOperation.Response(failures: failures))
    }
    let bench = SessionHarness(resolver: ConflictResolver { _ in .later }, script: script)
    try bench.modify((0..<400).map { SessionHarness.record("r\($0)", ["n": 1]) })

    bench.start()

    #expect(bench.state.haltReason == nil)
    #expect(bench.state.parkedRecords.count == 400)
    #expect(bench.state.parkedRecords.allSatisfy { $0.error.code == .awaitsAppEdit })
  }

  @Test(
    "When everything is refused the session halts after 100 parked in a row, and keeps the rest"
  )
  func everythingRefused() throws {
    var script = ScriptedHandler.Script()
    script.modify = { _, _ in .failure(.invalidArguments) }
    let bench = SessionHarness(script: script)
    try bench.modify((0..<400).map { SessionHarness.record("r\($0)") })

    bench.start()

    #expect(bench.state.haltReason?.error.code == .tooManyParked)
    #expect(bench.state.parkedRecords.count == 100)
    #expect(bench.handler.modifyCalls.count <= 120)
    bench.handler.change { script in
      script.modify = { operation, _ in .success(ScriptedHandler.allSaved(operation)) }
    }
    bench.session.retryParked()
    bench.session.start()
    bench.world.run()
    #expect(bench.state.parkedRecords.isEmpty && !bench.state.hasWorkQueued)
    #expect(bench.completions.entries.count == 1)
  }
}
