import CloudSyncCore
import CloudSyncTestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a middleware of one's own does to calls on their way to the state.
@Suite("Work that middleware drops")
struct DroppedWorkTests {
  private struct Dropping: Middleware {
    let drops: @Sendable (SyncEvent) -> Bool

    func run(
      event: SyncEvent,
      context: MiddlewareContext,
      next: (SyncEvent) -> SyncEvent
    ) -> SyncEvent { next(drops(event) ? .noop : event) }
  }

  @Test(
    "A fetch that a middleware holds back for one event ends with its page; a replaced call ends as cancelled"
  )
  func heldBackByMiddleware() throws {
    struct Delaying: Middleware {
      let isDelayed = Locked(false)

      func run(
        event: SyncEvent,
        context: MiddlewareContext,
        next: (SyncEvent) -> SyncEvent
      ) -> SyncEvent {
        switch event {
        case .doWork(.fetch) where isDelayed.withLock({ delayed in !delayed }):
          isDelayed.withLock { $0 = true }
          let result = next(.noop)
          context.dispatch(event)
          return result
        case .doWork(.modify): return next(.connectivityChanged)
        default: return next(event)
        }
      }
    }
    let bench = SessionHarness()
    bench.session.appendMiddleware(Delaying())
    bench.start()
    let ends = Locked<[String]>([])
    bench.session.fetch { result in
      ends.withLock { $0.append(result.isFailed ? "fetch failed" : "fetched") }
    }
    bench.world.run()
    try bench.session.modify(ModifyOperation(records: [.note("a", 1)])) { result in
      ends.withLock { $0.append(result.isFailed ? "modify failed" : "modified") }
    }
    bench.world.run()
    #expect(ends.withLock { $0 } == ["fetched", "modify failed"])
  }

  @Test("What one middleware holds back and another one drops then is told too")
  func heldBackAndDropped() throws {
    struct Postponing: Middleware {
      func run(
        event: SyncEvent,
        context: MiddlewareContext,
        next: (SyncEvent) -> SyncEvent
      ) -> SyncEvent {
        guard case .doWork(.fetch) = event, context.origin == .call else { return next(event) }
        let result = next(.noop)
        context.dispatch(event)
        return result
      }
    }
    let bench = SessionHarness()
    bench.session.appendMiddleware(Postponing())
    bench.session.appendMiddleware(
      Dropping { event in if case .doWork(.fetch) = event { true } else { false } }
    )
    bench.start()
    let ends = Locked(0)
    bench.session.fetch { result in ends.withLock { $0 += result.isFailed ? 1 : 0 } }
    bench.world.run()
    #expect(ends.withLock { $0 } == 1)
    #expect(bench.failures.entries.map(\.error.code) == [.cancelled])
  }

  @Test("What a middleware drops ends as cancelled, and a dropped reset changes no names")
  func droppedSubmissions() throws {
    let bench = SessionHarness()
    bench.session.appendMiddleware(
      Dropping { event in
        switch event {
        case .doWork, .reset: true
        default: false
        }
      }
    )
    bench.start()
    let codes = Locked<[SyncError.Code]>([])
    let told = Locked<[String]>([])
    bench.session.workFailedSubject.sink { work, error in
      let names = error.itemErrors.map(\.recordID.name)
      told.withLock { $0.append("\(work.mode) \(error.code) \(names)") }
    }
    bench.session.fetch { result in
      if case .failure(let error) = result { codes.withLock { $0.append(error.code) } }
    }
    try bench.session.modify(ModifyOperation(records: [.note("a", 1)])) { result in
      if case .failure(let error) = result { codes.withLock { $0.append(error.code) } }
    }
    bench.session.reset()
    bench.world.run()
    #expect(codes.withLock { $0 } == [.cancelled, .cancelled])
    #expect(told.withLock { $0 } == ["fetch cancelled []", "modify cancelled [\"a\"]"])
    let id = try bench.session.modify(ModifyOperation(records: [.note("b", 1)]))
    #expect(id.epoch == bench.state.epoch)
  }

  @Test("What a middleware drops in every form, its end too, is told all the same, once")
  func droppedAltogether() throws {
    let bench = SessionHarness()
    bench.session.appendMiddleware(
      Dropping { event in
        switch event {
        case .doWork(.modify), .workDropped: true
        default: false
        }
      }
    )
    bench.start()
    let told = Locked<[String]>([])
    bench.session.workFailedSubject.sink { work, error in
      told.withLock { $0.append("\(work.mode) \(error.code)") }
    }
    let ends = Locked(0)
    try bench.session.modify(ModifyOperation(records: [.note("a", 1)])) { result in
      if result.isFailed { ends.withLock { $0 += 1 } }
    }
    bench.session.fetch()
    bench.world.run()
    #expect(told.withLock { $0 } == ["modify cancelled"] && ends.withLock { $0 } == 1)
    #expect(bench.handler.fetchCalls.count == 1)
  }

  @Test("The end of what a middleware dropped is stored like any other until it is told")
  func droppedAndStored() throws {
    let bench = SessionHarness()
    bench.session.appendMiddleware(
      Dropping { event in if case .doWork(.modify) = event { true } else { false } }
    )
    let journal = Locked<[UInt8]>([])
    bench.session.journal { bytes in journal.withLock { $0 += bytes } }
    bench.start()
    // The process ends while the app is told.
    let bytes = Locked<[UInt8]>([])
    bench.session.workFailedSubject.sink { _, _ in
      let stored = journal.withLock { $0 }
      bytes.withLock { $0 = stored }
    }
    let id = try bench.session.modify(ModifyOperation(records: [.note("a", 1)]))
    bench.world.run()

    let archive = try SyncArchive(Data(bytes.withLock { $0 }))
    #expect(archive.state.nextOperation == id.number + 1)
    let restored = SessionHarness(restoring: archive)
    let told = Locked<[OperationID?]>([])
    restored.session.workFailedSubject.sink { work, _ in
      if case .modify(let operation) = work { told.withLock { $0.append(operation.id) } }
    }
    restored.start()
    #expect(told.withLock { $0 } == [id])
  }
}

extension Result {
  fileprivate var isFailed: Bool { if case .failure = self { true } else { false } }
}
