import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("Modifications that a middleware dispatches")
struct DispatchedWorkTests {
  /// Dispatches an operation at every call of `retryParked`.
  private static func dispatching(_ operation: ModifyOperation) -> SpyMiddleware {
    SpyMiddleware(
      react: { event, context in
        if case .retryParked = event { context.dispatch(.doWork(.modify(operation))) }
      }
    )
  }

  @Test("They are named, saved and announced like any other")
  func saved() throws {
    let bench = SessionHarness()
    bench.session.appendMiddleware(
      Self.dispatching(
        ModifyOperation(records: [SessionHarness.record("d")], userInfo: ["by": "middleware"])
      )
    )
    bench.start()
    bench.session.retryParked()
    bench.session.retryParked()
    bench.world.run()

    let completed = bench.completions.entries
    #expect(completed.map(\.response.savedRecords.count) == [1, 1])
    #expect(completed.map(\.operation.userInfo) == [["by": "middleware"], ["by": "middleware"]])
    #expect(Set(completed.map(\.id)).count == 2)
    #expect(completed.allSatisfy { $0.id.number > 0 })
    let events = bench.events.entries.filter {
      if case .doWork(.modify) = $0.event { true } else { false }
    }
    #expect(events.allSatisfy { $0.origin == .middleware && $0.cause != nil })
  }

  @Test("Calls that were made before are not put off or lost by them")
  func order() throws {
    let bench = SessionHarness()
    bench.session.appendMiddleware(
      Self.dispatching(ModifyOperation(records: [SessionHarness.record("d")]))
    )
    bench.start()
    bench.session.retryParked()
    for name in ["a", "b", "c"] { try bench.modify([SessionHarness.record(name)]) }
    bench.world.run()

    let names = bench.completions.entries.map { $0.operation.records.map(\.recordID.name) }
    #expect(names == [["a"], ["b"], ["c"], ["d"]])
    #expect(bench.completions.entries.map(\.id) == bench.completions.entries.map(\.id).sorted())
    #expect(bench.brokenInvariant == nil)
  }

  @Test("One that breaks a rule ends as failed, with the rule")
  func violation() throws {
    let bench = SessionHarness()
    let foreign = RecordID(name: "a", zoneID: ZoneID(name: "Elsewhere"))
    bench.session.appendMiddleware(
      Self.dispatching(ModifyOperation(records: [Record(recordType: "Note", recordID: foreign)]))
    )
    bench.start()
    bench.session.retryParked()
    bench.world.run()

    let failure = try #require(bench.failures.entries.first)
    #expect(failure.error.code == .invalidArguments)
    #expect(failure.error.message.contains("another zone"))
    #expect(failure.error.itemErrors.map(\.recordID) == [foreign])
    #expect(bench.handler.modifyCalls.isEmpty)
    #expect(bench.state.hasWorkQueued == false)
    #expect(bench.brokenInvariant == nil)
  }

  @Test("An operation that has ended may be submitted again: the same edit, under another name")
  func again() throws {
    let bench = SessionHarness()
    let before = SessionHarness.record("a", ["text": "old", "stars": 3], tag: "1")
    var after = before
    after["text"] = "new"
    bench.start()
    try bench.session.modify(ModifyOperation(records: [after], ancestors: [before]))
    bench.world.run()
    let first = try #require(bench.completions.entries.first?.operation)
    // Its records lack what did not differ from the ancestors, which is no removal.
    try bench.session.modify(first)
    bench.world.run()

    let sent = try #require(bench.handler.modifyCalls.last?.saves.first)
    #expect(sent["text"] == "new")
    #expect(sent.fields.map(\.name) == ["text"])
    #expect(bench.completions.entries.count == 2)
  }

  @Test("An operation without a name that reaches the reduction is told as failed")
  func unnamed() throws {
    let bench = SessionHarness()
    let replacing = SpyMiddleware(
      change: { event, _ in
        guard case .doWork(.modify) = event else { return event }
        return .doWork(.modify(ModifyOperation(records: [SessionHarness.record("x")])))
      }
    )
    bench.session.insertMiddleware(replacing, before: "SplittingMiddleware")
    bench.start()
    try bench.modify([SessionHarness.record("a")])
    bench.world.run()

    // And so is the operation in whose place it was put.
    #expect(bench.failures.entries.map(\.error.code) == [.invalidArguments, .cancelled])
    #expect(bench.failures.entries.first?.error.message.contains("submitted(as:in:)") == true)
  }

  @Test("A middleware may put another operation in the place of one, under its name")
  func replaced() throws {
    let bench = SessionHarness()
    let replacing = SpyMiddleware(
      change: { event, context in
        guard case .doWork(.modify(let operation)) = event else { return event }
        let other = ModifyOperation(
          records: operation.records.map { record in
            var record = record
            record["sealed"] = 1
            return record
          }
        )
        let submitted = try? other.submitted(as: operation.id, in: context.state.zoneID)
        return submitted.map { .doWork(.modify($0)) } ?? event
      }
    )
    bench.session.insertMiddleware(replacing, before: "SplittingMiddleware")
    bench.start()
    let id = try bench.modify([SessionHarness.record("a")])
    bench.world.run()

    #expect(bench.completions.entries.map(\.id) == [id])
    #expect(bench.handler.modifyCalls.first?.saves.first?["sealed"] == 1)
  }
}
