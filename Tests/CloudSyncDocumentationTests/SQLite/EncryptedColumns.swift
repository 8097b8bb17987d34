import CloudSyncSession
import CloudSyncSQLite

enum EncryptedColumnsSamples {
  static func options() -> SyncEngineOptions {
    // SAMPLE: CloudSyncSQLite/EncryptedColumns.md
    var options = SyncEngineOptions()
    var notes = SyncEngineOptions.Table()
    notes.encryptedColumns = ["body", "mood"]
    options.tables["notes"] = notes
    // SAMPLE: end
    return options
  }
}
