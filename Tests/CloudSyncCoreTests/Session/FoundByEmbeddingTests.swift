import CloudSyncCore
import CloudSyncTestSupport
import Testing

/// What somebody found who built a storage layer and hostile handlers on the session alone.
@Suite("Found by embedding")
struct FoundByEmbeddingTests {
  // MARK: Pages that could not be stored

  @Test("A page that could not be stored ends the run's other fetches only once it is stored")
  func heldFetches() throws {
    var configuration = SyncConfiguration()
    configuration.acknowledgesPages = true
    let bench = SessionHarness(
      configuration: configuration,
      script: .init(
        fetch: { _, _ in
          .success(.init(changedRecords: [.note("a", 1)], changeToken: ChangeToken(text: "t")))
        }
      )
    )
    let session = bench.session
    let ended = Locked<[Int]>([])
    let hasRoom = Locked(false)
    let stored = Locked<(records: [String], token: ChangeToken?)>(([], nil))
    session.fetchWorkCompletedSubject.sink { [unowned session] _, page in
      // An app that stores pages as they come, and whose disk is full for a while.
      guard hasRoom.withLock({ $0 }) || page.changedRecords.isEmpty else {
        return session.acknowledge(page.page, .notNow)
      }
      stored.withLock { stored in
        stored.records += page.changedRecords.map(\.recordID.name)
        stored.token = page.changeToken
      }
      session.acknowledge(page.page, .stored)
    }
    for number in 1...3 { session.fetch { _ in ended.withLock { $0.append(number) } } }
    bench.start()
    #expect(stored.withLock { $0.token } == nil && stored.withLock { $0.records } == [])
    #expect(ended.withLock { $0 } == [1])
    #expect(bench.state.hasWorkQueued)

    hasRoom.withLock { $0 = true }
    bench.world.advance(by: .seconds(3_600))
    #expect(stored.withLock { $0.records } == ["a"])
    #expect(stored.withLock { $0.token } == ChangeToken(text: "t"))
    #expect(ended.withLock { $0 } == [1, 2, 3])
    #expect(bench.handler.fetchCalls.count == 1 && !bench.state.hasWorkQueued)
  }

  @Test("A fetch that waits for a page to be stored can be cancelled, and is in what is stored")
  func heldFetchIsCancelled() throws {
    var configuration = SyncConfiguration()
    configuration.acknowledgesPages = true
    let bench = SessionHarness(configuration: configuration)
    let results = Locked<[String]>([])
    bench.session.fetch()
    let second = bench.session.fetch { result in
      results.withLock { $0.append(result.isFailed ? "cancelled" : "ended") }
    }
    bench.session.fetch { result in
      results.withLock { $0.append(result.isFailed ? "reset" : "ended") }
    }
    bench.start()
    let copy = try SyncArchive(SyncArchive.frame(of: bench.state)).state
    #expect(copy == bench.state && copy.hasWorkQueued)
    bench.session.cancel(second)
    bench.world.run()
    #expect(results.withLock { $0 } == ["cancelled"])
    bench.session.reset()
    bench.world.run()
    #expect(results.withLock { $0 } == ["cancelled", "reset"])
  }

  // MARK: Completions that come after newer pages

  /// An app that stores what it is told, in the order in which it is told.
  private static func store(of session: CloudSyncSession) -> Locked<[String: Record]> {
    let store = Locked<[String: Record]>([:])
    session.fetchWorkCompletedSubject.sink { _, page in
      store.withLock { store in
        for record in page.recordsToStore(stored: { store[$0.name] }) {
          store[record.recordID.name] = record
        }
        for recordID in page.deletedRecordIDs { store[recordID.name] = nil }
      }
    }
    session.modifyWorkCompletedSubject.sink { _, response in
      store.withLock { store in
        for record in response.recordsToStore(stored: { store[$0.name] }) {
          store[record.recordID.name] = record
        }
        for recordID in response.deletedRecordIDs { store[recordID.name] = nil }
      }
    }
    return store
  }

  @Test(
    "What a page has brought since an operation's first request is not undone by its completion"
  )
  func overtakenAnswers() throws {
    let theirs = SessionHarness.record("a", ["x": 9, "y": 9], tag: "theirs")
    let bench = SessionHarness(
      limits: RequestLimits(items: 1),
      script: .init(
        fetch: { _, _ in
          let page = FetchOperation.Response(
            changedRecords: [theirs, SessionHarness.record("c", ["x": 3], tag: "again")],
            deletedRecords: [DeletedRecord(recordID: SessionHarness.id("b"))],
            changeToken: ChangeToken(text: "t")
          )
          return .success(page)
        }
      )
    )
    let store = Self.store(of: bench.session)
    let names = ["a", "b", "d"]
    try bench.session.modify(
      ModifyOperation(
        records: names.map { SessionHarness.record($0) },
        recordIDsToDelete: [SessionHarness.id("c")]
      )
    )
    // Between the requests of the operation it is the fetch's turn.
    bench.session.fetch()
    bench.handler.change { script in
      script.modify = { operation, number in
        number == 3
          ? .after(.seconds(30), .success(ScriptedHandler.allSaved(operation)))
          : .success(ScriptedHandler.allSaved(operation))
      }
    }
    bench.start()
    bench.world.advance(by: .seconds(60))
    #expect(bench.completions.entries.count == 1)
    let fetchPlace = try #require(bench.handler.calls.firstIndex { $0.mode == .fetch })
    #expect(bench.handler.calls[..<fetchPlace].contains { $0.mode == .modify })
    let saved = Set(bench.handler.calls[..<fetchPlace].flatMap(\.names))
    // Whatever had been answered before the page is as the page has it.
    if saved.contains("a") { #expect(store.withLock { $0["a"] } == theirs) }
    if saved.contains("b") { #expect(store.withLock { $0["b"] } == nil) }
    #expect(saved.contains("a"))
    let response = try #require(bench.completions.entries.first).response
    #expect(response.alreadyInCloud.map(\.recordID.name).contains("a"))
    #expect(!response.savedRecords.map(\.recordID.name).contains("a"))
  }

  @Test(
    "What is gone, by a look-up or in no page of everything, does not come back by a completion"
  )
  func overtakenByAbsence() throws {
    for isLookup in [true, false] {
      let bench = SessionHarness(limits: RequestLimits(items: 1))
      let store = Self.store(of: bench.session)
      let fetched = Locked(false)
      bench.session.fetchWorkCompletedSubject.sink { _, page in
        fetched.withLock { $0 = true }
        // The rule of a fetch of everything, and of a look-up.
        store.withLock { store in
          if page.startedOver, page.isLast { store = [:] }
          for failure in page.failures { store[failure.recordID.name] = nil }
        }
      }
      bench.handler.change { script in
        script.fetch = { operation, _ in
          guard operation.isLookup else {
            return .success(.init(changeToken: ChangeToken(text: "t")))
          }
          let error = SyncError(.unknownItem)
          let failures = operation.recordIDs.map { ItemFailure($0, error) }
          return .success(.init(failures: failures, changeToken: nil))
        }
        // What comes after the fetch is another device's deletion away.
        script.modify = { ScriptedHandler.laterSaved($0, number: $1) }
      }
      bench.start()
      try bench.session.modify(
        ModifyOperation(records: ["a", "b", "c"].map { SessionHarness.record($0) })
      )
      bench.session.fetch(
        isLookup
          ? FetchOperation(lookingUp: [SessionHarness.id("a")]) : FetchOperation(startingOver: true)
      )
      bench.world.advance(by: .seconds(600))
      let response = try #require(bench.completions.entries.first).response
      #expect(fetched.withLock { $0 })
      #expect(response.deletedRecordIDs.map(\.name).contains("a"), "\(isLookup)")
      #expect(store.withLock { $0["a"] } == nil && store.withLock { $0["c"] } != nil)
    }
  }

  @Test("A page that has what was saved, and no more, changes nothing of the completion")
  func ownSaveComesBack() throws {
    let bench = SessionHarness(limits: RequestLimits(items: 1))
    bench.handler.change { script in
      script.fetch = { _, _ in
        let record = SessionHarness.record("a").withChangeTag("saved")
        return .success(.init(changedRecords: [record], changeToken: ChangeToken(text: "t")))
      }
      script.modify = { operation, _ in
        .success(.init(savedRecords: operation.records.map { $0.withChangeTag("saved") }))
      }
    }
    try bench.session.modify(
      ModifyOperation(records: ["a", "b", "c"].map { SessionHarness.record($0) })
    )
    bench.session.fetch()
    bench.start()
    let response = try #require(bench.completions.entries.first).response
    #expect(response.savedRecords.map(\.recordID.name) == ["a", "b", "c"])
    #expect(response.alreadyInCloud.isEmpty)
  }

  // MARK: Values at the end of their range

  @Test("The largest limits and budgets work")
  func largestValues() throws {
    var configuration = SyncConfiguration()
    configuration.failureBudget = .max
    configuration.longestWait = .seconds(Int64.max)
    let bench = SessionHarness(
      limits: RequestLimits(items: .max, bytes: .max),
      configuration: configuration,
      script: .init(
        modify: { operation, number in
          if number % 2 == 0 { return .failure(.requestRateLimited, retryAfter: .seconds(3_600)) }
          let failures = operation.records.map {
            ItemFailure($0.recordID, SyncError(.networkFailure))
          }
          return .success(.init(failures: failures))
        }
      )
    )
    bench.start()
    try bench.modify([.note("a", 1)])
    bench.world.advance(by: .seconds(200 * 86_400))
    let times = bench.handler.modifyCalls.map(\.time)
    #expect(times.count > 30)
    let waits = zip(times, times.dropFirst()).enumerated()
      .compactMap { place, pair in
        place % 2 == 0 ? pair.1.nanoseconds - pair.0.nanoseconds : nil
      }
    #expect(waits.allSatisfy { $0 >= 3_600_000_000_000 })
  }

  // MARK: Items that are left out

  @Test(
    "An item that a response leaves out, or says nothing of its own about, is charged where others are done",
    arguments: [nil, SyncError.Code.batchRequestFailed]
  )
  func leftOutItem(code: SyncError.Code?) throws {
    let bench = SessionHarness(
      limits: RequestLimits(items: 10),
      script: .init(
        modify: { operation, _ in
          var response = ScriptedHandler.allSaved(operation)
          guard response.savedRecords.contains(where: { $0.recordID.name == "bad" }) else {
            return .after(.milliseconds(100), .success(response))
          }
          response.savedRecords.removeAll { $0.recordID.name == "bad" }
          if let code {
            response.failures = [ItemFailure(SessionHarness.id("bad"), SyncError(code))]
          }
          return .after(.milliseconds(100), .success(response))
        }
      )
    )
    bench.start()
    try bench.modify([.note("bad", 1)])
    for number in 0..<500 {
      try bench.modify([.note("r\(number)", 1)])
      bench.world.advance(by: .milliseconds(20))
    }
    #expect(bench.state.parkedRecords.map(\.recordID.name) == ["bad"])
    #expect(bench.completions.entries.count > 300)
  }

  // MARK: Sessions that are let go

  @Test("A session that is released in a callback ends, also where the handler answers at once")
  func releasedInCallback() throws {
    let world = VirtualEnvironment()
    let handler = ScriptedHandler(in: world, limits: RequestLimits(items: 1))
    let held = Locked<CloudSyncSession?>(
      CloudSyncSession(
        operationHandler: handler,
        zoneID: SessionHarness.zoneID,
        environment: world.environment
      )
    )
    let ends = Locked((saved: 0, released: 0))
    do {
      let session = try #require(held.withLock { $0 })
      session.modifyWorkCompletedSubject.sink { _, _ in
        let last = held.withLock { session in
          defer { session = nil }
          return session
        }
        withExtendedLifetime(last) {}
      }
      session.start()
      for number in 0..<100 {
        try session.modify(ModifyOperation(records: [.note("r\(number)", 1)])) { result in
          ends.withLock { if result.isFailed { $0.released += 1 } else { $0.saved += 1 } }
        }
      }
    }
    world.advance(by: .seconds(600))
    #expect(handler.modifyCalls.count <= 3)
    #expect(ends.withLock { $0.saved } <= 3)
    #expect(ends.withLock { $0.saved + $0.released } == 100)
  }
}

extension Result {
  fileprivate var isFailed: Bool { if case .failure = self { true } else { false } }
}
