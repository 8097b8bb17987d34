import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("The callback for an accepted modification")
struct AcceptanceTests {
  /// What an app stores, by the guide's rules, in order with the session's callbacks.
  private final class Store: Sendable {
    private let records = Locked<[RecordID: Record]>([:])
    private let log = Collector<String>()

    var entries: [String] { log.entries }

    subscript(_ name: String) -> Record? { records.withLock { $0[SessionHarness.id(name)] } }

    func listen(to session: CloudSyncSession) {
      session.fetchWorkCompletedSubject.sink { [self] _, page in
        log.add("page")
        save(page.recordsToStore { stored(recordID: $0) })
      }
      session.modifyWorkCompletedSubject.sink { [self] operation, response in
        log.add("completed \(operation.id.number)")
        save(response.recordsToStore { stored(recordID: $0) })
      }
    }

    func accept(_ operation: ModifyOperation) {
      log.add("accepted \(operation.id.number)")
      save(operation.records.map { $0.merged(into: stored(recordID: $0.recordID)) })
    }

    private func stored(recordID: RecordID) -> Record? { records.withLock { $0[recordID] } }

    private func save(_ saved: [Record]) {
      records.withLock { records in for record in saved { records[record.recordID] = record } }
    }
  }

  @Test("It is called once, after the journal and before the operation's own completion")
  func order() throws {
    let bench = SessionHarness()
    let log = Collector<String>()
    bench.session.journal { _ in log.add("journal") }
    bench.session.modifyWorkCompletedSubject.sink { operation, _ in
      log.add("completed \(operation.id)")
    }
    bench.world.run()
    let id = try bench.session.modify(ModifyOperation()) { operation in
      // An empty operation is complete as soon as it is taken.
      log.add("accepted \(operation)")
    } accepted: { operation in
      log.add("accepted \(operation.id)")
    }
    bench.world.run()

    let first = try #require(log.entries.firstIndex { $0.hasPrefix("accepted") })
    #expect(log.entries.prefix(first) == ["journal", "journal"])
    #expect(log.entries[first] == "accepted \(id)")
    #expect(log.entries[first + 1] == "completed \(id)")
    #expect(log.entries.count { $0 == "accepted \(id)" } == 1)
  }

  @Test("It is given the operation as it is queued, reduced to what was edited")
  func reduced() throws {
    let bench = SessionHarness()
    let accepted = Collector<ModifyOperation>()
    let before = SessionHarness.record("a", ["text": "old", "stars": 3], tag: "1")
    var after = before
    after["text"] = "new"
    let id = try bench.session.modify(
      ModifyOperation(records: [after], ancestors: [before]),
      accepted: { accepted.add($0) }
    )
    bench.world.run()

    #expect(accepted.entries.map(\.id) == [id])
    #expect(accepted.entries.first?.records.first?["text"] == "new")
    #expect(accepted.entries.first?.records.first?["stars"] == nil)
  }

  @Test("What a middleware has dropped is not accepted")
  func dropped() throws {
    struct Dropping: Middleware {
      let name = "Dropping"
      func run(
        event: SyncEvent,
        context: MiddlewareContext,
        next: (SyncEvent) -> SyncEvent
      ) -> SyncEvent {
        if case .doWork(.modify) = event { next(.noop) } else { next(event) }
      }
    }
    let bench = SessionHarness()
    let accepted = Collector<ModifyOperation>()
    bench.session.insertMiddleware(Dropping(), before: "SplittingMiddleware")
    _ = try bench.session.modify(ModifyOperation(), accepted: { accepted.add($0) })
    bench.session.fetch()
    bench.world.run()

    #expect(accepted.entries.isEmpty)
  }

  /// An edit is made while pages are on their way, in every order of the two.
  @Test(
    "A page and an edit end with what the cloud has, whichever comes first",
    arguments: [true, false]
  )
  func race(callsBackElsewhere: Bool) throws {
    for step in 0..<60 {
      let world = VirtualEnvironment()
      let page = FetchOperation.Response(
        changedRecords: [SessionHarness.record("a", ["text": "old", "stars": 5], tag: "2")],
        changeToken: ChangeToken(text: "end")
      )
      let script = ScriptedHandler.Script(
        modify: { operation, _ in
          .after(.milliseconds(3), .success(ScriptedHandler.allSaved(operation)))
        },
        fetch: { _, number in .after(.milliseconds(number == 0 ? 20 : 1), .success(page)) }
      )
      let session = CloudSyncSession(
        operationHandler: ScriptedHandler(in: world, script: script),
        zoneID: SessionHarness.zoneID,
        callbackExecutor: callsBackElsewhere
          ? SyncExecutor { job in world.schedule(afterNanoseconds: 5_000_000, job) } : nil,
        environment: world.environment
      )
      let store = Store()
      store.listen(to: session)
      store.accept(
        ModifyOperation(records: [
          SessionHarness.record("a", ["text": "old", "stars": 3], tag: "1")
        ])
      )
      session.start()
      session.fetch()
      world.advance(by: .milliseconds(step))
      // The user edits what is shown, by what was stored at that time.
      let seen = try #require(store["a"])
      var edited = seen
      edited["text"] = "new"
      try session.modify(
        ModifyOperation(records: [edited], ancestors: [seen]),
        accepted: { store.accept($0) }
      )
      world.advance(by: .seconds(1))

      #expect(store["a"]?["stars"] == 5, "edited after \(step) ms: \(store.entries)")
      #expect(store["a"]?["text"] == "new", "edited after \(step) ms: \(store.entries)")
    }
  }
}
