import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
package import CloudSyncSimulator

extension SQLiteDevice {
  /// Makes edits: through the app's connection or another, with the engine running or stopped, now or
  /// when the app does not run.
  package func apply(_ edits: [DeviceEdit]) {
    let choice = history.withLock { $0.random.below(40) }
    switch choice {
    case 0: history.withLock { $0.postponed += edits }
    case 1:
      engine?.stop()
      pause()
      write(edits, elsewhere: false)
    case 2..<12: write(edits, elsewhere: true)
    default:
      open()
      // Without an engine the app says what is wrong, and takes nothing.
      guard engine != nil else { return }
      write(edits, elsewhere: false)
      engine?.sendChanges()
    }
  }

  /// Fetches what has changed, and sends what others may have edited.
  package func fetch() {
    open()
    engine?.sendChanges()
    engine?.fetchChanges()
  }

  /// Does what a user can do to get the engine going again.
  package func repair() {
    let postponed = history.withLock { history in
      defer { history.postponed = [] }
      return history.postponed
    }
    if !postponed.isEmpty { write(postponed, elsewhere: true) }
    open()
    guard let engine, let session = engine.session else { return }
    let state = session.state
    if case .lost = state.zoneState {
      // By the engine: what the session has queued is not whole, and of a zone that is gone.
      do throws(SyncEngineError) { try engine.decideZone(.uploadAgain) } catch { note(error) }
      return
    }
    if state.isHalted { session.start() }
    do throws(SyncEngineError) { try engine.retryParked() } catch { note(error) }
    engine.sendChanges()
  }

  /// Writes edits in one transaction.
  func write(_ edits: [DeviceEdit], elsewhere: Bool) {
    guard isReady, let process = app.withLock({ $0.process }) else { return }
    let (schema, version) = (schema, version)
    let made = attempt { () throws in
      let file = try elsewhere ? disk.otherFile() : disk.file()
      return try file.write { [self] handle in
        let connection = SQLiteConnection(borrowing: handle)
        try setClock(connection: connection, process: process)
        return try connection.transaction { () throws(SQLiteError) in
          var editor = RowEditor(connection, schema, version)
          for edit in edits {
            let number = Int(edit.name.drop { !$0.isNumber }) ?? 0
            let row = schema.row(number: number, version: version)
            switch edit.change {
            case .set(let field): try editor.set(field: field, of: row, to: edit.number)
            case .delete: try editor.delete(row: row)
            }
            try editor.stamp()
          }
          return editor.edits
        }
      }
    }
    history.withLock { $0.edits += made ?? [] }
  }
}
