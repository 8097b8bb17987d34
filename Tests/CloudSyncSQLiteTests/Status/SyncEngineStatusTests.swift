#if canImport(Observation)
import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Observation
import Testing

@Suite("SyncEngineStatus")
@MainActor
struct SyncEngineStatusTests {
  private static let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"

  /// Waits for changes of the status until something holds.
  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
  private func wait(until isReached: @MainActor () -> Bool) async {
    while true {
      var isReady = false
      await withCheckedContinuation { continuation in
        let isOpen = Locked(true)
        let resume: @Sendable () -> Void = {
          let isFirst = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
          }
          if isFirst { continuation.resume() }
        }
        isReady = withObservationTracking(isReached, onChange: resume)
        if isReady { resume() }
      }
      if isReady { return }
    }
  }

  @Test("One object follows the engine through starts, stops, halts and renewals")
  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
  func follows() async throws {
    let bench = SyncHarness()
    let cloud = CloudSwitch()
    bench.handler = cloud.handler
    let mac = try bench.device("mac", Self.schema, tables: ["notes"])
    let status = SyncEngineStatus(of: mac.engine)
    #expect(!status.isRunning && status.lastSync == nil && status.explanation == "Stopped.")

    try bench.sync(mac)
    await wait { status.isRunning && status.lastSync != nil }
    cloud.fail(with: SyncError(.networkUnavailable))
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('b', 'B')")
    mac.engine.sendChanges()
    bench.world.advance(by: .seconds(10))
    await wait { status.isWaiting }
    #expect(status.pendingRows == 2 && status.nextAttempt != nil && !status.isSyncing)
    #expect(status.cloudError?.code == .networkUnavailable && status.progress.total == 2)

    cloud.fail(with: SyncError(.badDatabase))
    mac.engine.session?.connectivityChanged()
    bench.world.advance(by: .seconds(10))
    await wait { status.isHalted }
    #expect(status.haltedError?.code == .badDatabase)

    mac.engine.stop()
    await wait { !status.isRunning }
    cloud.fail(with: nil)
    try mac.engine.start()
    try mac.engine.uploadEverything()
    bench.world.advance(by: .seconds(60))
    await wait { status.isRunning && !status.isHalted && status.pendingRows == 0 }
    #expect(status.progress.fraction == 1 && status.cloudError == nil)
  }

  @Test("It does not keep the engine alive, and keeps the last values")
  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
  func outlives() async throws {
    let bench = SyncHarness()
    var mac: SyncHarness.Device? = try bench.device("mac", Self.schema, tables: ["notes"])
    weak let engine = mac?.engine
    let status = try #require(mac.map { SyncEngineStatus(of: $0.engine) })
    try mac.map { try bench.sync($0) }
    await wait { status.lastSync != nil }
    mac = nil
    #expect(engine == nil)
    #expect(status.lastSync != nil)
  }
}
#endif
