#if canImport(Observation)
import CloudSyncCore
import Observation
import CloudSyncTestSupport
import Testing

@Suite("SyncStatus")
@MainActor
struct SyncStatusTests {
  /// Waits for changes of the status until something holds.
  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
  private func wait(until isReached: @MainActor () -> Bool) async {
    while true {
      var isReady = false
      await withCheckedContinuation { continuation in
        let once = Locked(true)
        let resume: @Sendable () -> Void = {
          if once.withLock({ isFirst in
            defer { isFirst = false }
            return isFirst
          }) {
            continuation.resume()
          }
        }
        isReady = withObservationTracking(isReached, onChange: resume)
        if isReady { resume() }
      }
      if isReady { return }
    }
  }

  @Test("It follows the session's state, and tells its observers")
  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
  func follows() async throws {
    let bench = SessionHarness()
    let status = SyncStatus(of: bench.session)
    #expect(!status.isRunning)
    #expect(status.explanation.contains("start()"))

    try bench.modify([SessionHarness.record("a")])
    bench.world.run()
    await wait { status.waitingOperations == 1 }
    #expect(status.progress.waiting == 1)

    bench.start()
    await wait { status.isRunning && status.waitingOperations == 0 }
    #expect(status.progress.done == 1)
    #expect(!status.isBusy)
    #expect(status.haltedError == nil)
  }

  @Test("It shows what stopped the session, what it waits for, and what was set aside")
  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
  func showsTroubles() async throws {
    let bench = SessionHarness()
    let status = SyncStatus(of: bench.session)
    bench.start()
    bench.handler.change { $0.modify = { _, _ in .failure(.networkUnavailable) } }
    try bench.modify([SessionHarness.record("a")])
    bench.world.run()
    await wait { status.lastError?.code == .networkUnavailable }
    #expect(status.nextTry != nil)

    bench.handler.change { script in
      script.modify = { operation, _ in
        let error = SyncError(.invalidArguments, "no")
        let failures = operation.records.map { ItemFailure($0.recordID, error) }
        return .success(ModifyOperation.Response(failures: failures))
      }
    }
    bench.session.connectivityChanged()
    bench.world.run()
    await wait { status.parkedRecords == 1 }

    bench.session.stop()
    bench.world.run()
    await wait { !status.isRunning }
    #expect(status.haltedError == nil)

    bench.session.start()
    bench.handler.change { $0.modify = { _, _ in .failure(.missingEntitlement) } }
    try bench.modify([SessionHarness.record("b")])
    bench.world.run()
    await wait { status.haltedError?.code == .missingEntitlement }
  }

  @Test("It keeps no session alive, and is not kept alive by one")
  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
  func releases() {
    var bench: SessionHarness? = SessionHarness()
    weak let session = bench?.session
    var status: SyncStatus? = bench.map { SyncStatus(of: $0.session) }
    weak let released = status
    bench = nil
    #expect(session == nil)
    status = nil
    #expect(released == nil)
  }
}
#endif
