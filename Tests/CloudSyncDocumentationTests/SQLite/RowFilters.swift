import CloudSyncSession
import CloudSyncSQLite

enum RowFiltersSamples {
  static func options() -> SyncEngineOptions {
    // SAMPLE: CloudSyncSQLite/RowFilters.md
    var options = SyncEngineOptions()
    var notes = SyncEngineOptions.Table()
    notes.rowFilter = "is_private = 0 AND folder <> 'drafts'"
    options.tables["notes"] = notes
    // SAMPLE: end
    return options
  }
}
