import CloudSyncCore
import CloudSyncTestSupport
import Testing

/// What the random scripts found, each at its least.
@Suite("Found by random scripts")
struct FoundBugsTests {
  /// A bench whose cloud refuses the records of some names, as long as it is told to.
  private static func bench(
    refusing names: Set<String>,
    resolver: ConflictResolver = .client
  ) -> SessionHarness {
    let bench = SessionHarness(limits: RequestLimits(items: 2), resolver: resolver)
    bench.handler.change { script in
      script.modify = { operation, _ in .success(Self.answer(operation, refusing: names)) }
    }
    bench.start()
    return bench
  }

  private static func answer(
    _ operation: ModifyOperation,
    refusing names: Set<String>
  ) -> ModifyOperation.Response {
    var response = ScriptedHandler.allSaved(operation)
    response.savedRecords.removeAll { names.contains($0.recordID.name) }
    response.deletedRecordIDs.removeAll { names.contains($0.name) }
    let all = operation.records.map(\.recordID) + operation.recordIDsToDelete
    response.failures = all.filter { names.contains($0.name) }
      .map { ItemFailure($0, SyncError(.invalidArguments)) }
    return response
  }

  private static func acceptAll(_ bench: SessionHarness) {
    bench.handler.change { script in
      script.modify = { operation, _ in .success(ScriptedHandler.allSaved(operation)) }
    }
  }

  @Test("An operation that was merged with a parked edit and is cancelled does not take it along")
  func cancelKeepsParked() throws {
    let bench = Self.bench(refusing: ["a"])
    try bench.modify([SessionHarness.record("a", ["x": 1])])
    bench.world.run()
    bench.handler.change { script in script.modify = { _, _ in .failure(.networkFailure) } }
    let later = try bench.modify([SessionHarness.record("a", ["y": 2])])
    bench.world.run()
    bench.session.cancel(later)
    bench.world.run()
    Self.acceptAll(bench)
    bench.session.retryNow()
    bench.world.run()

    #expect(bench.handler.modifyCalls.last?.saves.first?["x"] == 1)
    #expect(bench.completions.entries.count == 1)
    #expect(
      bench.failures.entries.map { $0.error.itemErrors.map(\.error.code) } == [[.outcomeUnknown]]
    )
    #expect(bench.parked.entries.count { if case .saved = $0 { true } else { false } } == 1)
    #expect(bench.state.parkedRecords.isEmpty && bench.brokenInvariant == nil)
  }

  @Test("A reset tells about parked records that are on their way, too")
  func resetTellsRetried() throws {
    let bench = Self.bench(refusing: ["a"])
    try bench.modify([SessionHarness.record("a")])
    bench.world.run()
    bench.handler.change { script in script.modify = { _, _ in .failure(.networkFailure) } }
    bench.session.retryParked()
    bench.world.run()
    bench.session.reset()
    bench.world.run()

    guard case .dropped(let recordID, let error)? = bench.parked.entries.last else {
      Issue.record("nothing was told of the parked record")
      return
    }
    #expect(recordID == SessionHarness.id("a"))
    #expect(error.code == .reset)
  }

  @Test("What becomes of a parked record is told after the operation that says it is parked")
  func fateAfterCompletion() throws {
    let bench = Self.bench(refusing: ["b"])
    bench.session.stop()
    try bench.modify([SessionHarness.record("a"), SessionHarness.record("b")])
    try bench.modify([SessionHarness.record("c")])
    let order = Collector<String>()
    bench.session.modifyWorkCompletedSubject.sink { operation, response in
      order.add("\(operation.id.number) unsaved \(response.unsaved.map(\.name))")
    }
    bench.session.parkedSubject.sink { change in order.add("dropped \(change.recordID.name)") }
    // The first item stays behind, so that the operation is open while its second is parked.
    bench.handler.change { script in
      script.modify = { operation, number in
        number == 0
          ? .success(
            .init(failures: [
              ItemFailure(SessionHarness.id("a"), SyncError(.networkFailure)),
              ItemFailure(SessionHarness.id("b"), SyncError(.invalidArguments)),
            ])
          ) : .success(ScriptedHandler.allSaved(operation))
      }
    }
    bench.session.start()
    bench.world.run()
    bench.session.dropParked()
    bench.world.advance(by: .seconds(10))

    #expect(order.entries == ["1 unsaved [\"b\"]", "dropped b", "2 unsaved []"])
  }

  @Test("A cancelled operation ends as cancelled before a reset ends the others")
  func resetOfCancelled() throws {
    let bench = SessionHarness(limits: RequestLimits(items: 3))
    bench.start()
    bench.handler.change { script in
      script.modify = { operation, number in
        guard number == 0 else { return .failure(.zoneBusy, retryAfter: .seconds(60)) }
        return .success(
          .init(
            deletedRecordIDs: [SessionHarness.id("c")],
            failures: ["a", "b"]
              .map { ItemFailure(SessionHarness.id($0), SyncError(.batchRequestFailed)) }
          )
        )
      }
    }
    bench.session.stop()
    try bench.modify([SessionHarness.record("a")])
    let second = try bench.modify([SessionHarness.record("b")], delete: ["c"])
    bench.session.start()
    bench.world.run()
    bench.session.cancel(second)
    bench.session.reset()
    bench.world.run()

    #expect(bench.completions.entries.isEmpty)
    #expect(bench.failures.entries.map(\.error.code) == [.cancelled, .reset])
    #expect(bench.failures.entries.first?.error.itemErrors.map(\.recordID.name) == ["b"])
  }

  @Test("Records that a cancelled operation had saved are counted as done")
  func progressOfCancelled() throws {
    let bench = Self.bench(refusing: [])
    bench.handler.change { script in
      script.modify = { operation, number in
        number == 0
          ? .success(ScriptedHandler.allSaved(operation)) : .failure(.networkFailure)
      }
    }
    let id = try bench.modify(["a", "b", "c"].map { SessionHarness.record($0) })
    bench.world.run()
    bench.session.cancel(id)
    bench.world.run()

    #expect(bench.failures.entries.map(\.error.code) == [.cancelled])
    #expect(bench.state.progress.done == 2)
    #expect(bench.state.progress.waiting == 0)
  }
}
