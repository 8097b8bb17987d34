import CloudSyncCore
import CloudSyncSQLite
import Dispatch

/// Goes on with a run until it is interrupted.
struct SyncWatch {
  private let run: SyncRun
  private let clock = ContinuousClock()
  /// A look at the cloud's file, beside the engine's.
  private let cloud: DatabaseFile
  private let identity: SamePath.Identity?

  /// How often the database is looked at.
  private static let pace = DispatchTimeInterval.milliseconds(100)

  init(_ run: SyncRun) throws {
    self.run = run
    cloud = try DatabaseFile(path: run.request.cloud, access: .readOnly)
    identity = SamePath.Identity(path: run.request.cloud)
  }

  func run(console: Console) throws {
    // What was edited since the run has looked last is found by looking once more.
    var lastVersion: Int64?
    var lastCloudVersion: Int64?
    var nextLook = clock.now
    var shown = run.counts
    let never = DispatchSemaphore(value: 0)
    while !Interrupt.hasCome {
      _ = never.wait(timeout: .now() + Self.pace)
      if !run.engine.isRunning { try restart(console: console) }
      try throwIfHalted()
      if let version = try version(of: run.database), version != lastVersion {
        lastVersion = version
        run.engine.sendChanges()
      }
      if clock.now >= nextLook {
        nextLook = clock.now + run.request.interval
        try checkCloud()
        let version = try version(of: cloud)
        if version == nil || version != lastCloudVersion { run.engine.fetchChanges() }
        lastCloudVersion = version
      }
      guard run.isIdle else { continue }
      let counts = run.counts
      var comparable = counts
      comparable.pending = shown.pending
      if comparable != shown {
        try SyncSummary(run, since: shown).show(console: console)
        shown = counts
      }
    }
  }

  /// Begins anew after an error that passes.
  private func restart(console: Console) throws {
    if let error = run.takeError() {
      guard error.code == .busy else {
        throw ToolError.failure("\(run.request.path): \(error.reason)")
      }
      console.note("\(run.request.path): \(error.reason)")
    }
    do throws(SyncEngineError) { try run.engine.start() } catch {
      guard error.code == .busy else { throw error }
    }
  }

  private func throwIfHalted() throws {
    if run.engine.isRunning { try run.throwIfStuck() }
  }

  /// Throws if the cloud's file is not the one that was opened any more.
  private func checkCloud() throws {
    if SamePath.Identity(path: run.request.cloud) == identity { return }
    throw ToolError.failure("\(run.request.cloud): the file was removed or replaced")
  }

  /// A number that changes with a database; nil while somebody keeps it locked.
  private func version(of database: DatabaseFile) throws(SyncEngineError) -> Int64? {
    do throws(SyncEngineError) { return try database.dataVersion() } catch {
      guard error.code == .busy else { throw error }
      return nil
    }
  }
}
