import CloudSyncSQLite
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes a database as of a commit into a new file.
///
/// The file gets its name when it is whole: whoever is interrupted leaves an empty one of that name at most.
struct HistoryExport {
  let database: any SyncDatabase
  let options: ChangesetOptions

  func export(id: ChangesetID, to path: String) throws(ChangesetError) {
    let isNew = !FileManager.default.fileExists(atPath: path)
    try checkIsFree(path)
    let unfinished = "\(path)-unfinished-\(ProcessInfo.processInfo.processIdentifier)"
    remove(unfinished)
    do throws(ChangesetError) {
      try write(id, to: unfinished, for: path)
      guard isWhole(unfinished) else {
        throw ChangesetError(.busy, path: path, "another program has opened it; try again")
      }
      // Somebody may have made one meanwhile.
      try checkIsFree(path)
      remove(path)
      do { try FileManager.default.moveItem(atPath: unfinished, toPath: path) } catch {
        throw ChangesetError(.cannotAccess, path: path, "it cannot be written: \(error)")
      }
    } catch {
      remove(unfinished)
      if isNew, byteCount(of: path) == 0 { remove(path) }
      throw error
    }
  }

  private func checkIsFree(_ path: String) throws(ChangesetError) {
    let objects: Int64
    do throws(SQLiteError) {
      let target = try SQLiteConnection(path: path, access: .create)
      objects = try target.integer("SELECT count(*) FROM sqlite_schema")
    } catch { throw ChangesetError(error, path: path) }
    if objects == 0 { return }
    throw ChangesetError(.cannotAccess, path: path, "it exists already; name a new file")
  }

  private func write(
    _ id: ChangesetID,
    to file: String,
    for path: String
  ) throws(ChangesetError) {
    try database.use { (connection) throws(ChangesetError) in
      do throws(SQLiteError) {
        try connection.sqlite.copy(to: SQLiteConnection(path: file, access: .create))
      } catch { throw ChangesetError(error, path: path) }
    }
    let copy: DatabaseFile
    do throws(SyncEngineError) { copy = try DatabaseFile(path: file, access: .readWrite) } catch {
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

  /// Whether nothing of a file is in its log: SQLite leaves it there while somebody else has the file open.
  private func isWhole(_ path: String) -> Bool { byteCount(of: path + "-wal") ?? 0 == 0 }

  /// Nil if there is no such file.
  private func byteCount(of path: String) -> Int? {
    let facts = try? FileManager.default.attributesOfItem(atPath: path)
    return facts?[.size] as? Int
  }

  /// Removes a file with what SQLite keeps beside it; what is not there need not be removed.
  private func remove(_ path: String) {
    for end in ["", "-wal", "-shm", "-journal"] {
      try? FileManager.default.removeItem(atPath: path + end)
    }
  }
}
