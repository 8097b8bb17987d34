import CloudSyncCore
import CloudSyncTestSupport
import Testing

/// Pages that come while operations are open, and fetches that need no page.
@Suite("Pages beside open work")
struct PagesBesideWorkTests {
  @Test("A record that a page of everything could not bring is not taken for gone")
  func unreadable() throws {
    let bench = SessionHarness(limits: RequestLimits(items: 1))
    bench.handler.change { script in
      script.fetch = { operation, _ in
        let failure = ItemFailure(SessionHarness.id("a"), SyncError(.internalError))
        return .success(.init(failures: [failure], changeToken: ChangeToken(text: "t")))
      }
      script.modify = { ScriptedHandler.laterSaved($0, number: $1) }
    }
    bench.start()
    try bench.session.modify(
      ModifyOperation(records: ["a", "b", "c"].map { SessionHarness.record($0) })
    )
    bench.session.fetch(FetchOperation(startingOver: true))
    bench.world.advance(by: .seconds(600))
    let response = try #require(bench.completions.entries.first).response
    #expect(response.savedRecords.map(\.recordID.name) == ["a", "b", "c"])
    #expect(response.deletedRecordIDs == [])
  }

  @Test("A look-up of no records ends with nothing, at once, and fetches no changes")
  func lookUpOfNothing() throws {
    let bench = SessionHarness()
    let ends = Locked<[String]>([])
    let pages = Locked<[FetchOperation.Response]>([])
    bench.session.fetchWorkCompletedSubject.sink { operation, page in
      #expect(operation.isLookup)
      pages.withLock { $0.append(page) }
    }
    // Nobody has to be asked: it ends also before the session is started.
    bench.session.fetch(FetchOperation(lookingUp: [])) { result in
      ends.withLock { $0.append((try? result.get())?.isEmpty == true ? "nothing" : "something") }
    }
    bench.world.run()
    #expect(ends.withLock { $0 } == ["nothing"])
    #expect(pages.withLock { $0.map(\.changeToken) } == [nil])
    bench.start()
    var emptied = FetchOperation(lookingUp: [SessionHarness.id("a")])
    emptied.recordIDs = []
    bench.session.fetch(emptied)
    bench.world.run()
    #expect(bench.handler.fetchCalls.isEmpty && !bench.state.hasWorkQueued)
    #expect(pages.withLock { $0.count } == 2)
    let stored = try SyncArchive(SyncArchive.frame(of: bench.state)).state
    #expect(stored == bench.state)
  }

  @Test("A look-up of no records goes between a page that is not stored and its next offer")
  func lookUpBesideAwaitedPage() throws {
    var configuration = SyncConfiguration()
    configuration.acknowledgesPages = true
    let bench = SessionHarness(configuration: configuration)
    bench.handler.change { script in
      script.fetch = { _, _ in
        .success(.init(changedRecords: [.note("a", 1)], changeToken: ChangeToken(text: "t")))
      }
    }
    let offered = Locked<[UInt64]>([])
    let isReady = Locked(false)
    bench.session.fetchWorkCompletedSubject.sink { [unowned session = bench.session] _, page in
      offered.withLock { $0.append(page.page.number) }
      session.acknowledge(page.page, isReady.withLock { $0 } ? .stored : .notNow)
    }
    bench.start()
    bench.session.fetch()
    bench.session.fetch(FetchOperation(lookingUp: []))
    bench.world.run()
    isReady.withLock { $0 = true }
    bench.world.advance(by: .seconds(60))
    let numbers = offered.withLock { $0 }
    #expect(numbers.filter { $0 > 0 } == [1, 1] && numbers.count == 3)
    #expect(!bench.state.hasWorkQueued)
  }
}
