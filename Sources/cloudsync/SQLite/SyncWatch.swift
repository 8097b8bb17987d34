import CloudSyncCore
import CloudSyncSQLite
import Dispatch

/// Goes on with a run until it is interrupted.
struct SyncWatch {
  private let run: SyncRun
  private let clock = ContinuousClock()

  /// How often the database is looked at.
  private static let pace = DispatchTimeInterval.milliseconds(100)

  init(_ run: SyncRun) { self.run = run }

  func run(console: Console) throws {
    // What was edited since the run has looked last is found by looking once more.
    var lastVersion: Int64?
    var changes = try run.cloud.changes(every: run.request.interval)
    var trouble = CloudTrouble(name: run.cloud.name)
    var shown = run.counts
    let never = DispatchSemaphore(value: 0)
    while !Interrupt.hasCome {
      _ = never.wait(timeout: .now() + Self.pace)
      guard SamePath.Identity(path: run.request.path) == run.file else {
        throw ToolError.failure(
          "\(run.request.path): the file was removed or replaced; “cloudsync sync” goes on with the one that is there now"
        )
      }
      if !run.engine.isRunning { try restart(console: console) }
      try throwIfHalted(console: console)
      if let version = try run.database.versionUnlessLocked(), version != lastVersion {
        lastVersion = version
        run.engine.sendChanges()
      }
      if try changes.haveCome() { run.engine.fetchChanges() }
      let error = run.request.server == nil ? nil : run.takeCloudError()
      let isOver = trouble.take(changes.problem, error: error, now: clock.now, console: console)
      // The session's own wait may have grown to minutes.
      if isOver { run.engine.session?.connectivityChanged() }
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
    try run.passOverBusy(console: console)
    do throws(SyncEngineError) { try run.engine.start() } catch {
      guard error.code == .busy else { throw error }
    }
  }

  /// Throws what ends the watch; that another connection writes for long does not, for the engine tries again.
  private func throwIfHalted(console: Console) throws {
    guard run.engine.isRunning else { return }
    try run.passOverBusy(console: console)
    try run.throwIfHalted()
  }
}

/// Says once in a while why nothing goes on, and when it does again.
private struct CloudTrouble {
  private static let silence = Duration.seconds(60)

  let name: String
  private var isAway = false
  private var lastNote: ContinuousClock.Instant?

  init(name: String) { self.name = name }

  /// Takes what is wrong.
  ///
  /// - Parameters:
  ///   - problem: Why the cloud cannot be heard; nil if it can.
  ///   - error: What it has answered that was no success; nil if nothing since the last call.
  ///   - now: The time.
  ///   - console: Takes the words.
  /// - Returns: Whether the cloud can be heard again.
  mutating func take(
    _ problem: String?,
    error: SyncError?,
    now: ContinuousClock.Instant,
    console: Console
  ) -> Bool {
    if let words = problem ?? error.map({ Words.line("\($0)") }),
      lastNote.map({ now - $0 >= Self.silence }) ?? true
    {
      lastNote = now
      console.note("waiting for \(name): \(words)")
    }
    if problem != nil {
      isAway = true
      return false
    }
    guard isAway else { return false }
    isAway = false
    lastNote = nil
    console.note("\(name) responds again")
    return true
  }
}
