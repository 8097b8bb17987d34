import CloudSyncSession
import Testing

/// What a user of the package can do with one plain import, and nothing that only this package sees.
@Suite("A plain import")
struct PlainImportTests {
  /// A middleware of a user's own.
  private struct Recording: Middleware {
    let name = "Recording"
    let record: @Sendable (String) -> Void

    func run(
      event: SyncEvent,
      context: MiddlewareContext,
      next: (SyncEvent) -> SyncEvent
    ) -> SyncEvent {
      let reduced = next(event)
      record("\(reduced.name) \(context.state.isRunning)")
      return reduced
    }
  }

  /// Another, which fetches whenever an edit has been saved.
  private struct FetchingAfterSaves: Middleware {
    func run(
      event: SyncEvent,
      context: MiddlewareContext,
      next: (SyncEvent) -> SyncEvent
    ) -> SyncEvent {
      let reduced = next(event)
      if case .workSuccess(_, .modify) = reduced, context.didChange {
        context.dispatch(.doWork(.fetch(FetchOperation())))
      }
      return reduced
    }
  }

  private static let zoneID = ZoneID(name: "Notes")

  private static func session() -> CloudSyncSession {
    var configuration = SyncConfiguration()
    // The handler answers from a task. Where many tests keep all threads busy its turn may come after
    // minutes, and a session that gave it up by then would send the request again.
    configuration.timeout = .seconds(1_000_000)
    return CloudSyncSession(
      operationHandler: AsyncHandlerAdapter(DictionaryHandler()),
      zoneID: zoneID,
      configuration: configuration
    )
  }

  private static func note(_ name: String, _ text: String) -> Record {
    Record(
      recordType: "Note",
      recordID: RecordID(name: name, zoneID: zoneID),
      fields: ["text": .string(text)]
    )
  }

  @Test("A handler of about fifteen lines saves, deletes and fetches")
  func handler() async throws {
    let session = Self.session()
    session.start()

    let saved = try await session.perform(
      ModifyOperation(records: [Self.note("a", "Hello"), Self.note("b", "Bye")])
    )
    let gone = try await session.perform(
      ModifyOperation(recordIDsToDelete: [Self.note("b", "").recordID])
    )
    let page = try await session.perform(FetchOperation())

    #expect(saved.savedRecords.count == 2 && gone.deletedRecordIDs.count == 1)
    #expect(page.changedRecords.map { $0["text"] } == ["Hello"])
    #expect(await session.idle(upTo: .seconds(1_000_000)))
  }

  @Test("A middleware of one's own sees every event, wherever it is put")
  func middleware() async throws {
    let session = Self.session()
    let (names, continuation) = AsyncStream.makeStream(of: String.self)
    session.appendMiddleware(Recording { continuation.yield($0) })
    session.start()
    _ = try await session.perform(ModifyOperation(records: [Self.note("a", "Hello")]))
    _ = await session.idle(upTo: .seconds(1_000_000))
    continuation.finish()

    var seen: [String] = []
    for await name in names where !name.hasPrefix("delivered") { seen.append(name) }
    #expect(seen.first == "start true")
    #expect(seen.filter { $0 == "startWork true" }.count == 3)
    #expect(seen.filter { $0 == "workSuccess true" }.count == 3)
  }

  @Test("A middleware of one's own dispatches events; its name is that of its type")
  func dispatching() async throws {
    let session = Self.session()
    let pages = session.fetchWorkCompletedSubject.values()
    session.insertMiddleware(FetchingAfterSaves(), before: "WorkMiddleware")
    session.insertMiddleware(Recording { _ in }, after: "FetchingAfterSaves")
    session.start()
    try session.modify(ModifyOperation(records: [Self.note("a", "Hello")]))

    var iterator = pages.makeAsyncIterator()
    let page = await iterator.next()
    #expect(page?.1.changedRecords.count == 1)
  }

  @Test("A state for a test is built of events")
  func state() throws {
    let start = Timestamp(nanoseconds: 1_700_000_000_000_000_000)
    var state = SyncState(zoneID: Self.zoneID)
    state.reduce(.start, at: start)
    for name in ["a", "b"] {
      let operation = try ModifyOperation(records: [Self.note(name, "Hello")])
        .submitted(as: state.nextOperationID, in: state.zoneID)
      state.reduce(.doWork(.modify(operation)), at: start)
    }
    #expect(state.modifyQueue.count == 2)

    state.reduce(.startWork(SyncRequest(mode: .modify)), at: start)
    #expect(state.isModifying)
    let attempt = try #require(state.currentContext?.attempt)
    let error = SyncError(.serverRejectedRequest, "no")
    let settlement = Settlement(
      verdicts: [.park(error), .saved(Self.note("b", "Hello").withChangeTag("1"))]
    )
    state.reduce(.settleItems(attempt, settlement), at: start)
    #expect(state.parkedRecords.map(\.recordID.name) == ["a"])
    #expect(state.progress.done == 1 && state.progress.notDone == 1)

    state.reduce(.halt(SyncError(.stopped, "by the test")), at: start)
    #expect(state.isHalted)
    #expect(state.explain(at: start).reasons.contains(.stopped))
  }
}
