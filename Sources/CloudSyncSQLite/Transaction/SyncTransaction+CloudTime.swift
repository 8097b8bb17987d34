import CloudSyncCore
import CloudSyncSQLiteSupport

/// What time it is for the cloud: by its dates tombstones are purged.
extension SyncTransaction {
  /// Notes what time it is for the cloud.
  func noteDate(of record: Record) {
    guard purgeAge != nil, let date = record.modificationDate else { return }
    cloudTime = max(cloudTime, date.nanoseconds / 1_000_000)
  }

  /// Notes since when a row is deleted in the cloud.
  func noteTombstone(_ row: LoadedRow, of record: Record) throws(SQLiteError) {
    // The mark of who is about to delete it makes it no younger.
    guard purgeAge != nil, let date = record.modificationDate,
      row.isDeleted(by: tables[row.place].rules), let known = row.state.known,
      known.clock.purge == nil
    else { return }
    try stored.tombstones.note(row.rowKey, at: date.nanoseconds / 1_000_000)
  }

  /// Keeps the latest time of the cloud's that was seen.
  func noteCloudTime() throws(SQLiteError) {
    guard cloudTime > .min else { return }
    if let known = try facts.integer(.cloudTime), known >= cloudTime { return }
    try facts.set(.cloudTime, to: .integer(cloudTime))
  }
}
