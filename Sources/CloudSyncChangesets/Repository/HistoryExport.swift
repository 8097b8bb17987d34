import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Writes a database as of a commit into a new file.
struct HistoryExport {
  let database: any SyncDatabase
  let options: ChangesetOptions

  func export(id: ChangesetID, to path: String) throws(ChangesetError) {
    try database.use { (connection) throws(ChangesetError) in
      let target: SQLiteConnection
      let objects: Int64
      do throws(SQLiteError) {
        target = try SQLiteConnection(path: path, access: .create)
        objects = try target.integer("SELECT count(*) FROM sqlite_schema")
      } catch { throw ChangesetError(error, path: path) }
      guard objects == 0 else {
        throw ChangesetError(.cannotAccess, path: path, "it exists already; name a new file")
      }
      do throws(SQLiteError) { try connection.sqlite.copy(to: target) } catch {
        throw ChangesetError(error, path: path)
      }
    }
    let copy: DatabaseFile
    do throws(SyncEngineError) { copy = try DatabaseFile(path: path, access: .readWrite) } catch {
      throw ChangesetError(error)
    }
    let repository = try ChangesetRepository(copy, options: options)
    try repository.discard()
    try repository.checkout(Revision(id))
    if let parked = try repository.status().parked.first {
      throw ChangesetError(
        .schema,
        path: path,
        "table “\(parked.table)” does not take a row of this commit: \(parked.reason)"
      )
    }
    try repository.remove()
  }
}
