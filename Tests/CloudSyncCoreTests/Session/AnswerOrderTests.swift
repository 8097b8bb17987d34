import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("The order of responses")
struct AnswerOrderTests {
  @Test("A fetch takes its turn between two attempts of a request whose response was lost")
  func fetchBetweenAttempts() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      number == 0 ? .never : .success(ScriptedHandler.allSaved(operation))
    }
    let bench = SessionHarness(script: script)
    bench.start()
    try bench.modify([SessionHarness.record("a")])
    bench.world.run()
    bench.session.fetch()
    bench.world.run()

    bench.world.advance(by: .seconds(400))

    let modes = bench.handler.calls.map(\.mode).filter { $0 == .modify || $0 == .fetch }
    #expect(modes == [.modify, .fetch, .modify])
    #expect(bench.brokenInvariant == nil)
  }

  @Test("Fetches that one run answers are told of one run from the beginning, not of several")
  func joinedFetches() {
    var script = ScriptedHandler.Script()
    script.fetch = { _, _ in
      .success(
        .init(changedRecords: [SessionHarness.record("a")], changeToken: ChangeToken(text: "t"))
      )
    }
    let bench = SessionHarness(script: script)
    bench.session.fetch()
    bench.session.fetch()
    bench.start()

    #expect(bench.handler.fetchCalls.count == 1)
    #expect(bench.pages.entries.map(\.startedOver) == [true, false])
    #expect(bench.pages.entries.map(\.changedRecords.count) == [1, 0])
    #expect(bench.pages.entries.map(\.isLast) == [true, true])
  }
}
