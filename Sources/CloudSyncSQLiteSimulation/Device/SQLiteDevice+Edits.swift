import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
package import CloudSyncSimulator

extension SQLiteDevice {
  /// Makes edits: through the app's connection or another, with the engine running or stopped, now or
  /// when the app does not run.
  package func apply(_ edits: [DeviceEdit]) {
    guard let process = app.withLock({ $0.process }) else { return }
    copyIfDue(process)
    removeIfDue(process)
    defer { lookElsewhere(process) }
    let choice = history.withLock { $0.random.below(40) }
    switch choice {
    case 0: history.withLock { $0.postponed += edits }
    case 1:
      engine?.stop()
      if process.ratio(of: .migrated).hits > 0 { close() }
      pause()
      write(edits, elsewhere: false)
      guard engine == nil else { return }
      // Where counters come later there is more to count by then.
      if schema.addsCounters, !version.hasAdditions, draw(.migrated, for: process) { update() }
      migrateIfDue(process)
    case 2..<12: write(edits, elsewhere: true)
    default:
      open()
      // Without an engine the app says what is wrong, and takes nothing.
      guard engine != nil else { return }
      if draw(.otherProcess, for: process) {
        history.withLock { $0.imminent += edits }
      } else {
        write(edits, elsewhere: false)
      }
      engine?.sendChanges()
    }
  }

  /// Has somebody remove a record from the cloud, now and then.
  private func removeIfDue(_ process: DeviceProcess) {
    let ratio = process.ratio(of: .recordRemoved)
    guard ratio.hits > 0,
      history.withLock({ $0.removals.chance(ratio.hits, in: ratio.cases) })
    else { return }
    process.fail(at: .recordRemoved)
  }

  /// Fetches what has changed, and sends what others may have edited.
  package func fetch() {
    if let process = app.withLock({ $0.process }) { copyIfDue(process) }
    open()
    engine?.sendChanges()
    engine?.fetchChanges()
  }

  /// Does what a user can do to get the engine going again.
  package func repair() {
    let postponed = history.withLock { history in
      defer { (history.postponed, history.imminent) = ([], []) }
      return history.imminent + history.postponed
    }
    if !postponed.isEmpty { write(postponed, elsewhere: true) }
    // It looks no more.
    let other = app.withLock { app in
      defer { app.otherEngine = nil }
      return app.otherEngine
    }
    withExtendedLifetime(other) {}  // Released outside the lock.
    if app.withLock({ $0.isPartial }) {
      // The next one may be for all tables again; what the old one has begun comes to its end first.
      close()
      pause()
    }
    open()
    guard let engine, let session = engine.session else { return }
    let state = session.state
    if case .lost = state.zoneState {
      guard setup.number == 0 || setup.commonSeed >> setup.number & 1 == 1 else {
        // Some leave it to others to answer, and only look whether somebody has, which a session that has stopped does
        // not.
        if state.isHalted { session.start() }
        return
      }
      // By the engine: what the session has queued is not whole, and of a zone that is gone.
      do throws(SyncEngineError) { try engine.decideZone(.uploadAgain) } catch { note(error) }
      return
    }
    if state.isHalted { session.start() }
    noteUnreadRecords()
    do throws(SyncEngineError) { try engine.retryParked() } catch { note(error) }
    engine.sendChanges()
  }

  /// Notes rows that wait because of what their saves have met in the cloud: every record there can be read, and joined.
  private func noteUnreadRecords() {
    let code = SyncError.Code.serverRecordChanged.rawValue
    let query = """
      SELECT record_name, error FROM cloudsync_pending WHERE error_code = \(code) AND next IS NULL
      """
    let lines = attempt { () throws in try disk.file().lines(sql: query) }
    for line in lines ?? [] { note("a row waits for no reason: \(line)") }
  }

  // MARK: Writing

  /// Writes edits in one transaction.
  func write(_ edits: [DeviceEdit], elsewhere: Bool) {
    guard isReady, let process = app.withLock({ $0.process }) else { return }
    attempt { () throws in
      let file = try elsewhere ? disk.otherFile() : disk.file()
      try file.write { [self] handle in
        try write(edits, to: SQLiteConnection(borrowing: handle), process: process)
      }
    }
  }

  /// Writes what another process writes just now: the engine is about to.
  func writeImminent(to connection: SQLiteConnection, for process: DeviceProcess) throws {
    let edits = history.withLock { history in
      defer { history.imminent = [] }
      return history.imminent
    }
    if edits.isEmpty { return }
    process.fail(at: .otherProcess)
    guard disk.isInFile else { return try write(edits, to: connection, process: process) }
    try disk.otherFile()
      .write { [self] handle in
        try write(edits, to: SQLiteConnection(borrowing: handle), process: process)
      }
  }

  private func write(
    _ edits: [DeviceEdit],
    to connection: SQLiteConnection,
    process: DeviceProcess
  ) throws(SQLiteError) {
    let (schema, version) = (schema, version)
    try setClock(connection: connection, process: process)
    let made = try connection.transaction { () throws(SQLiteError) in
      var editor = RowEditor(connection: connection, schema: schema, version: version)
      for edit in edits {
        try make(edit, by: &editor, process: process)
        try editor.stamp()
      }
      return editor
    }
    history.withLock { history in
      history.failures += made.failures
      for var edit in made.edits {
        edit.isOfUnopenedCopy = history.isUnopened
        history.note([edit])
      }
    }
  }

  private func make(
    _ edit: DeviceEdit,
    by editor: inout RowEditor,
    process: DeviceProcess
  ) throws(SQLiteError) {
    let (offset, isSwap) = history.withLock { history in
      (history.random.within(1...7), history.random.chance(1, in: 2))
    }
    let point = try editor.watchingTriggers { (editor) throws(SQLiteError) in
      try editor.make(edit, offset: offset, isSwap: isSwap) { draw($0, for: process) }
    }
    if let point { process.fail(at: point) }
  }
}
