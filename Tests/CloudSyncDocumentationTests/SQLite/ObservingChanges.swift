import CloudSyncSession
import CloudSyncSQLite
import Dispatch

/// What an app shows of its notes.
protocol NoteRows: AnyObject, Sendable {
  func reload(key: [FieldValue])
  func remove(key: [FieldValue])
  func reloadAll()
}

enum ObservingChangesSamples {
  // SAMPLE: CloudSyncSQLite/ObservingChanges.md
  static func follow(_ engine: SyncEngine, _ list: some NoteRows) {
    engine.changes.sink { changes in
      for row in changes.rows where row.table == "notes" {
        switch row.kind {
        case .inserted, .updated: list.reload(key: row.key)
        case .deleted: list.remove(key: row.key)
        }
      }
    }
  }
  // SAMPLE: end

  // SAMPLE: CloudSyncSQLite/ObservingChanges.md
  static func followTable(_ engine: SyncEngine, _ list: some NoteRows) async {
    for await changes in engine.changes.values() where changes.tables.contains("notes") {
      list.reloadAll()
    }
  }
  // SAMPLE: end

  // SAMPLE: CloudSyncSQLite/ObservingChanges.md
  static func titles(in database: DatabaseFile) throws -> [FieldValue?] {
    try database.query("SELECT title FROM notes WHERE done = ?", [.int64(0)]).map { $0["title"] }
  }
  // SAMPLE: end

  // SAMPLE: CloudSyncSQLite/ObservingChanges.md
  static func lend(_ handle: OpaquePointer, of queue: DispatchQueue) -> LentDatabase {
    LentDatabase(handle) { work in try queue.sync { try work() } }
  }
  // SAMPLE: end
}
