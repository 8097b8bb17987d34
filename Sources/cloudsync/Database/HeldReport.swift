import CloudSyncSQLite

/// A row that is parked or waiting, for scripts.
struct HeldReport: Encodable {
  private var table: String
  private var key: String
  private var record: String
  private var status: String
  private var code: Int?
  private var reason: String

  /// What is noted of the row.
  init(_ held: SyncMetadata.HeldRecord, in metadata: SyncMetadata) {
    table = held.table
    key = held.key
    record = held.recordName
    status = held.status.name
    reason = Words.line(metadata.reason(for: held))
    if case .parked(let code, _) = held.status { self.code = code }
  }
}
