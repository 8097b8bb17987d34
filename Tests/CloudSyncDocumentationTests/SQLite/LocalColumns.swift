import CloudSyncSession
import CloudSyncSQLite

enum LocalColumnsSamples {
  static func options() -> SyncEngineOptions {
    // SAMPLE: CloudSyncSQLite/LocalColumns.md
    var options = SyncEngineOptions()
    var notes = SyncEngineOptions.Table()
    notes.localColumns = ["scroll_position", "was_opened"]
    options.tables["notes"] = notes
    // SAMPLE: end
    return options
  }
}
