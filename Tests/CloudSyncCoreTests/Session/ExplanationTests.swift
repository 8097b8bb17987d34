import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("Explanations")
struct ExplanationTests {
  @Test("A session that retries says when, and what could not be saved, in plain English")
  func waiting() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      if number > 0 { return .failure(.requestRateLimited, retryAfter: .seconds(3)) }
      let failure = ItemFailure(operation.records[0].recordID, SyncError(.invalidArguments))
      return .success(.init(failures: [failure]))
    }
    let bench = SessionHarness(script: script)
    #expect(bench.session.explain().description == "Waiting for start().")
    bench.start()
    #expect(bench.session.explain().description == "Nothing to do.")
    try bench.modify([.note("a", 1)])
    bench.world.run()
    #expect(bench.session.explain().description == "Nothing to do. 1 record could not be saved.")
    try bench.modify([.note("b", 1)])
    bench.world.run()
    #expect(
      bench.session.explain().description
        == "Waiting to retry (service busy); next attempt in 3 s. 1 record could not be saved."
    )
    bench.session.stop()
    bench.world.run()
    #expect(
      bench.session.explain().description.hasPrefix("Stopped; call start() to continue.")
    )
  }
}
