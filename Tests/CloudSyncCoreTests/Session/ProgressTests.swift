import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("Progress")
struct ProgressTests {
  private static func records(_ count: Int, _ value: FieldValue) -> [Record] {
    (0..<count).map { SessionHarness.record("r\($0)", ["x": value]) }
  }

  @Test("Every run of work is counted by itself, from idle to idle")
  func countsRuns() throws {
    let bench = SessionHarness(limits: RequestLimits(items: 5))
    let progress = Collector<SyncProgress>()
    bench.session.progressSubject.sink { progress.add($0) }
    bench.start()
    for run in 1...3 {
      for record in Self.records(20, .int64(Int64(run))) { try bench.modify([record]) }
      bench.world.run()

      #expect(bench.state.progress.submitted == 20)
      #expect(bench.state.progress.done == 20)
      #expect(bench.state.progress.waiting == 0)
    }
    #expect(progress.entries.map(\.submitted).max() == 20)
    #expect(progress.entries.allSatisfy { $0.done <= $0.submitted })
  }

  @Test("Work that comes before the session is idle belongs to the same run")
  func countsOn() throws {
    let bench = SessionHarness(
      script: ScriptedHandler.Script(modify: { operation, _ in
        .after(.seconds(1), .success(ScriptedHandler.allSaved(operation)))
      })
    )
    bench.start()
    try bench.modify([SessionHarness.record("a")])
    bench.world.advance(by: .milliseconds(500))
    try bench.modify([SessionHarness.record("b")])
    bench.world.advance(by: .seconds(10))

    #expect(bench.state.progress.submitted == 2)
    #expect(bench.state.progress.done == 2)
  }

  @Test("A fetch after a run of edits counts its own pages only")
  func countsPages() throws {
    let bench = SessionHarness()
    bench.start()
    for _ in 1...2 {
      bench.session.fetch()
      bench.world.run()
    }
    #expect(bench.state.progress.fetchedPages == 1)

    try bench.modify([SessionHarness.record("a")])
    bench.session.fetch()
    bench.world.run()

    #expect(bench.state.progress.fetchedPages == 1)
    #expect(bench.state.progress.done == 1)
  }

  @Test("What is parked counts as not done, in the run in which it was parked")
  func countsParked() throws {
    let bench = SessionHarness(
      script: ScriptedHandler.Script(modify: { operation, number in
        number == 0
          ? .success(
            ModifyOperation.Response(
              failures: operation.records.map {
                ItemFailure($0.recordID, SyncError(.invalidArguments))
              }
            )
          )
          : .success(ScriptedHandler.allSaved(operation))
      })
    )
    bench.start()
    try bench.modify([SessionHarness.record("a")])
    bench.world.run()
    #expect(bench.state.progress.notDone == 1)
    #expect(bench.state.progress.waiting == 0)

    bench.session.retryParked()
    try bench.modify([SessionHarness.record("b")])
    bench.world.run()

    #expect(bench.state.progress.submitted - bench.state.progress.done >= 0)
    #expect(bench.state.progress.waiting == 0)
    #expect(bench.state.parkedRecords.isEmpty)
  }

  @Test("Of a fetch that was cancelled no more is to come, also where its zone was lost before")
  func cancelledFetch() throws {
    let bench = SessionHarness(
      script: ScriptedHandler.Script(fetch: { _, number in
        number == 0
          ? .success(.init(changeToken: ChangeToken(text: "1"), hasMore: true))
          : .failure(.userDeletedZone)
      })
    )
    bench.start()
    let id = bench.session.fetch()
    bench.world.advance(by: .milliseconds(100))
    #expect(bench.state.progress.isMoreToFetch)
    bench.session.cancel(id)
    bench.world.advance(by: .milliseconds(100))

    #expect(bench.state.hasWorkQueued == false)
    #expect(bench.state.progress.isMoreToFetch == false)
  }

  @Test("What is asked for once begins a run too")
  func countsWishes() throws {
    let bench = SessionHarness(
      script: ScriptedHandler.Script(
        modify: { _, _ in .after(.seconds(60), .failure(SyncError(.networkUnavailable))) },
        createSubscription: { number in
          number == 0 ? .failure(SyncError(.internalError)) : .success(true)
        }
      )
    )
    bench.start()
    let id = try bench.modify([SessionHarness.record("a")])
    bench.world.advance(by: .milliseconds(100))
    bench.session.cancel(id)
    bench.world.advance(by: .milliseconds(100))
    #expect(bench.state.haltReason != nil)
    #expect(bench.state.hasWorkQueued == false)
    #expect(bench.state.progress.notDone == 1)
    bench.session.start()
    bench.session.fetch()
    bench.world.run()

    #expect(bench.state.progress.notDone == 0)
    #expect(bench.state.progress.submitted == 0)
  }
}
