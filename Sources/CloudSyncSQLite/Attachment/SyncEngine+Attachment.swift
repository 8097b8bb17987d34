import CloudSyncCore
import CloudSyncSQLiteSupport

extension SyncEngine {
  /// Prepares a database, its metadata where options want it.
  ///
  /// Every block commits once: what it has left in both files is the beginning of the next one.
  static func prepare(
    _ database: any SyncDatabase,
    _ names: [String],
    _ makeSetup: @escaping @Sendable (SQLiteConnection, MetadataAttachment?) -> EngineSetup
  ) throws(SyncEngineError) -> SyncTables {
    let (attachment, isWanted) = try write(to: database) {
      (connection) throws(SyncEngineError) in
      let options = makeSetup(connection, nil).options
      return (try MetadataAttachment.place(options, connection), options.metadata != .sameFile)
    }
    let attached = { @Sendable (connection: SQLiteConnection) throws(SyncEngineError) in
      try attachment?.attach(to: connection)
      return makeSetup(connection, attachment)
    }
    if attachment != nil {
      try write(to: database) { (connection) throws(SyncEngineError) in
        try attached(connection).prepareAttachment()
      }
      try write(to: database) { (connection) throws(SyncEngineError) in
        try attached(connection).readFormerEdits()
      }
    }
    let tables = try write(to: database) { (connection) throws(SyncEngineError) in
      try attached(connection).prepare(names)
    }
    guard let attachment, !isWanted else { return tables }
    try write(to: database) { (connection) throws(SyncEngineError) in
      try attachment.attach(to: connection)
      try attachment.moveIn(connection)
    }
    return tables
  }

  /// Has the attached file catch up with the database, if a crash or a full disk has parted them.
  func mendAttachment() throws(SyncEngineError) {
    try Self.write(to: database) { [options, tables, zoneID] (connection) throws(SyncEngineError) in
      try MetadataAttachment(options.metadata)?.attach(to: connection)
      try sqlite { () throws(SQLiteError) in
        guard try MetadataAttachment.isBehind(MetadataStore(connection: connection)) else { return }
        try connection.transaction { () throws(SQLiteError) in
          try MetadataAttachment.mend(
            EngineWork(connection: connection, tables: tables, options: options, zoneID: zoneID)
          )
        }
      }
    }
  }

  /// Removes the captured edits that the attached file has taken.
  func removeTakenEdits() throws(SyncEngineError) {
    try Self.write(to: database) { [options] (connection) throws(SyncEngineError) in
      try MetadataAttachment(options.metadata)?.attach(to: connection)
      try sqlite { () throws(SQLiteError) in
        let store = MetadataStore(connection: connection)
        let taken = try store.lastTaken()
        let oldest = try connection.integer("SELECT coalesce(min(id), 0) FROM cloudsync_outbox")
        if oldest != 0, oldest <= taken { try store.removeOutbox(upTo: taken) }
      }
    }
  }
}
