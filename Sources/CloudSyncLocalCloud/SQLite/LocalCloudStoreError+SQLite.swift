import CloudSyncSQLiteSupport

extension LocalCloudStoreError {
  /// What an error of SQLite's means for a store's file, and what to do.
  init(_ error: SQLiteError, path: String) {
    switch error.kind {
    case .busy:
      self.init(.busy, path: path, "another process is writing to it; try again")
    case .notADatabase:
      self.init(
        .foreign,
        path: path,
        "it is no SQLite database; name another file"
      )
    case .damaged:
      self.init(damagedDatabase: error.message, path: path)
    case .full:
      self.init(.full, path: path, "the disk is full; make room and try again")
    case .readOnly:
      self.init(.readOnly, path: path, "it cannot be written; check its permissions")
    case _ where error.isOfFolder(at: path):
      self.init(.cannotAccess, path: path, "it is a folder; name the cloud's file")
    default:
      self.init(
        .cannotAccess,
        path: path,
        "\(error.message) (SQLite \(error.code)); check the folder and its permissions"
      )
    }
  }

  /// The error of a file whose parts do not fit together.
  init(damagedDatabase reason: String, path: String) {
    self.init(
      .damaged,
      path: path,
      "the database is damaged (\(reason)); restore a copy, or delete the file to begin anew"
    )
  }

  /// Runs a body on a store's file, and throws SQLite's errors as the store's.
  static func mapping<Value>(
    path: String,
    body: () throws(SQLiteError) -> Value
  ) throws(LocalCloudStoreError) -> Value {
    do throws(SQLiteError) { return try body() } catch {
      throw LocalCloudStoreError(error, path: path)
    }
  }
}
