import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
package import CloudSyncSimulator

extension ChangesetDevice {
  /// Makes edits: through the app's connection or another, now or when the app does not run.
  package func apply(_ edits: [DeviceEdit]) {
    guard let process = app.withLock({ $0.process }) else { return }
    copyIfDue(process: process)
    let choice = history.withLock { $0.random.below(40) }
    switch choice {
    case 0: history.withLock { $0.postponed += edits }
    case 1..<10: write(edits: edits, elsewhere: true)
    default:
      if draw(.otherProcess, for: process) {
        history.withLock { $0.imminent += edits }
      } else {
        write(edits: edits, elsewhere: false)
      }
    }
    open()
    // Some apps commit every edit, some what has come together.
    guard choice % 4 != 3 else { return }
    commit()
    if choice % 3 != 2 { sync() }
  }

  /// Commits what was edited.
  func commit() {
    guard let repository else { return }
    do throws(ChangesetError) { try repository.commit() } catch { note(error: error) }
  }

  /// Fetches what has changed, and sends what others may have edited.
  package func fetch() {
    if let process = app.withLock({ $0.process }) { copyIfDue(process: process) }
    open()
    sync()
  }

  /// Does what a user can do to get going again.
  package func repair() {
    let postponed = history.withLock { history in
      defer { (history.postponed, history.imminent) = ([], []) }
      return history.imminent + history.postponed
    }
    if !postponed.isEmpty { write(edits: postponed, elsewhere: true) }
    open()
    guard let process = app.withLock({ $0.process }), let remote else { return }
    if process.ratio(of: .killed).hits == 0, isOld { update(process: process, inSteps: false) }
    // Only the user can tell whether what was erased on purpose is to be uploaded again: here it always is.
    if case .lost = remote.session.state.zoneState { reset() } else { sync() }
  }

  // MARK: Writing

  /// Writes edits in one transaction.
  func write(edits: [DeviceEdit], elsewhere: Bool) {
    guard let process = app.withLock({ $0.process }) else { return }
    attempt { () throws in
      let file = try elsewhere ? disk.otherFile() : disk.file()
      try file.write { [self] handle in
        try write(edits: edits, to: SQLiteConnection(borrowing: handle), process: process)
      }
    }
  }

  /// Writes what another process writes just now: the history is about to be asked for something.
  func writeImminent(to connection: SQLiteConnection, for process: DeviceProcess) throws {
    let edits = history.withLock { history in
      defer { history.imminent = [] }
      return history.imminent
    }
    if edits.isEmpty { return }
    process.fail(at: .otherProcess)
    guard disk.isInFile else { return try write(edits: edits, to: connection, process: process) }
    try disk.otherFile()
      .write { [self] handle in
        try write(edits: edits, to: SQLiteConnection(borrowing: handle), process: process)
      }
  }

  private func write(
    edits: [DeviceEdit],
    to connection: SQLiteConnection,
    process: DeviceProcess
  ) throws(SQLiteError) {
    // Whoever looks at an old commit can only look.
    let detached = "SELECT count(*) FROM changesets_heads WHERE is_head = 2"
    let installed = "SELECT count(*) FROM sqlite_schema WHERE name = 'changesets_heads'"
    if try connection.integer(installed) > 0, try connection.integer(detached) > 0 { return }
    // A copied file has the triggers of the device that it is from.
    let source = history.withLock { $0.hasDrawnCopy ? $0.source : nil }
    let isWatched = !(triggers.kinds.isEmpty && source?.triggers.kinds.isEmpty ?? true)
    let made = try connection.transaction { () throws(SQLiteError) in
      var editor = RowEditor(connection: connection, schema: schema, version: version)
      var edited: [RowEdit] = []
      var rows = isWatched ? try editor.allRows() : [:]
      for edit in edits {
        let former = editor.edits.count
        var made = try replace(edit: edit, by: editor)
        if made == nil {
          try make(edit: edit, by: &editor, process: process)
          made = Array(editor.edits[former...])
        }
        if isWatched {
          // Triggers write too, also over what the user has written.
          let present = try editor.allRows()
          made = RowEditor.edits(from: rows, to: present)
          rows = present
        }
        edited += made ?? []
      }
      return edited
    }
    history.withLock { $0.edits += made }
  }

  private func make(
    edit: DeviceEdit,
    by editor: inout RowEditor,
    process: DeviceProcess
  ) throws(SQLiteError) {
    let (offset, isSwap) = history.withLock { history in
      (history.random.within(1...7), history.random.chance(1, in: 2))
    }
    let point = try editor.make(edit, offset: offset, isSwap: isSwap) { draw($0, for: process) }
    if let point { process.fail(at: point) }
  }

  // MARK: Copies

  /// Begins with a copy of the first device's file, once, before anybody has edited here.
  private func copyIfDue(process: DeviceProcess) {
    let source = history.withLock { history -> ChangesetDevice? in
      guard let source = history.source, !history.hasDrawnCopy, history.edits.isEmpty,
        history.postponed.isEmpty, history.imminent.isEmpty
      else { return nil }
      return source
    }
    // Whose file has other triggers could not give a column its type.
    guard let source, schema.hasTypes(of: source.schema), source.repository != nil,
      process.isAlive, process.ratio(of: .fileCopied).hits > 0, app.withLock({ !$0.isSyncing })
    else { return }
    history.withLock { $0.hasDrawnCopy = true }
    guard draw(.fileCopied, for: process) else { return }
    process.fail(at: .fileCopied)
    let old = app.withLock { app in
      defer { (app.database, app.repository, app.remote) = (nil, nil, nil) }
      return app
    }
    old.remote?.stop()
    withExtendedLifetime(old) {}  // Released outside the lock.
    attempt { () throws in
      try disk.replace { path in try source.disk.file().execute("VACUUM INTO '\(path)'") }
    }
    history.withLock { history in
      history.version = source.version
      history.wasOld = source.version != source.schema.newest
    }
  }
}
