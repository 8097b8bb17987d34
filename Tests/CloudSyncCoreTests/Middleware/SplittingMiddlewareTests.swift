import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("SplittingMiddleware")
struct SplittingMiddlewareTests {
  @Test("It gives every request its limits, and nothing else passes changed")
  func limits() throws {
    let bench = SessionHarness(limits: RequestLimits(items: 7, bytes: 9_000))
    let spies = bench.spies(around: "SplittingMiddleware")
    try bench.modify([SessionHarness.record("a")])
    bench.session.fetch()

    bench.start()

    #expect(spies.before.names == spies.after.names)
    let before = spies.before.all("startWork").map(\.event)
    let after = spies.after.all("startWork").map(\.event)
    #expect(before.count == 4)
    for (old, new) in zip(before, after) {
      guard case .startWork(var request) = old else { continue }
      #expect(request.limits == nil)
      request.limits = RequestLimits(items: 7, bytes: 9_000)
      #expect(new == .startWork(request))
    }
    let others = zip(spies.before.sights.entries, spies.after.sights.entries)
      .filter { $0.0.event.name != "startWork" }
    #expect(others.allSatisfy { $0.0.event == $0.1.event })
  }

  @Test("The smaller size that the cloud has taught goes before the limits")
  func learntSize() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, _ in
      operation.itemCount > 3
        ? .failure(.limitExceeded) : .success(ScriptedHandler.allSaved(operation))
    }
    let bench = SessionHarness(limits: RequestLimits(items: 8), script: script)
    let spies = bench.spies(around: "SplittingMiddleware")
    try bench.modify((0..<10).map { SessionHarness.record("r\($0)") })

    bench.start()

    let sizes = spies.after.all("startWork")
      .compactMap { sight -> Int? in
        guard case .startWork(let request) = sight.event, request.mode == .modify else {
          return nil
        }
        return request.limits?.items
      }
    #expect(sizes == [8, 4, 2, 2, 2, 2, 2])
  }

  @Test("Limits that a middleware before it has decided are kept")
  func decidedBefore() throws {
    let bench = SessionHarness()
    let small = SpyMiddleware(
      "Small",
      change: { event, _ in
        guard case .startWork(var request) = event else { return event }
        request.limits = RequestLimits(items: 2)
        return .startWork(request)
      }
    )
    bench.session.insertMiddleware(small, before: "SplittingMiddleware")
    try bench.modify((0..<5).map { SessionHarness.record("r\($0)") })

    bench.start()

    #expect(bench.handler.modifyCalls.map(\.names.count) == [2, 2, 1])
    #expect(bench.completions.entries.count == 1)
  }
}
