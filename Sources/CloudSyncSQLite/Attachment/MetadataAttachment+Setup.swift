import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// How the two files come to belong to each other.
extension MetadataAttachment {
  /// What is found when a database is prepared.
  enum Finding: Sendable {
    /// Both files are new, or fit each other.
    case good
    /// The attached file is empty, of another time or of another database.
    case lost(SyncEngineError)
  }

  /// Finds the file, or moves the metadata out into it, outside of any transaction.
  ///
  /// - Returns: The file that has the metadata, attached; nil if it is in the database.
  static func place(
    _ options: SyncEngineOptions,
    _ connection: SQLiteConnection
  ) throws(SyncEngineError) -> MetadataAttachment? {
    let wanted = MetadataAttachment(options.metadata)
    let present = try known(to: connection)
    guard let present else {
      guard let wanted else { return nil }
      let isInstalled = try MetadataSchema.installedVersion(connection) != nil
      try wanted.attach(to: connection)
      if isInstalled { try wanted.moveOut(connection) }
      return wanted
    }
    // It may have been moved together with the database: whether it is the right one is looked up.
    let file = wanted ?? present
    if !file.exists, present.exists {
      throw file.isForeign("the file is missing, and there is one at \(present.path)")
    }
    if !file.exists, !options.acceptsLostMetadata { throw file.isMissing }
    try file.attach(to: connection)
    return file
  }

  /// Makes the tables of the attached file, or finds out whether they are the right ones; within the
  /// transaction that prepares the database.
  func prepare(_ connection: SQLiteConnection) throws(SyncEngineError) -> Finding {
    try sqlite { () throws(SQLiteError) in
      let store = MetadataStore(connection: connection)
      if try store.info("metadata_id") == nil {
        // New to the database: then the file must be new too.
        if try hasTables(connection) {
          return .lost(isForeign("the file belongs to another database"))
        }
        try store.setInfo("metadata_id", try connection.value("SELECT hex(randomblob(16))"))
      }
      let isNew = try hasTables(connection) == false
      if isNew { try makeTables(connection) }
      try store.setInfo("metadata_path", .text(path))
      try connection.execute(Self.statusView)
      let (ours, theirs) = try (
        store.transactionNumber(store.info), store.transactionNumber(store.fact)
      )
      if try store.info("metadata_id") != store.fact("metadata_id") {
        return .lost(isForeign("the file belongs to another database"))
      }
      // One behind is what a crash leaves; both are 0 when they are made.
      if (theirs...theirs + 1).contains(ours) { return .good }
      return .lost(
        isNew
          ? isMissing
          : isForeign(ours > theirs ? "the file is an older copy" : "the database is an older copy")
      )
    }
  }

  private func makeTables(_ connection: SQLiteConnection) throws(SQLiteError) {
    try connection.execute(MetadataSchema.bulkTables(in: Self.schema))
    try connection.execute(
      """
      INSERT INTO \(Self.schema).cloudsync_facts
      SELECT key, value FROM main.cloudsync_info WHERE key = 'metadata_id'
      """
    )
  }

  /// Makes an attached file that is none of this database's one that knows nothing, within a transaction.
  func begin(_ connection: SQLiteConnection) throws(SQLiteError) {
    let query = try connection.prepare(
      """
      SELECT name FROM \(Self.schema).sqlite_schema
      WHERE name LIKE 'cloudsync\\_%' ESCAPE '\\' AND type = 'table' ORDER BY name
      """
    )
    var names: [String] = []
    try query.forEachRow { if let name = query.text(0) { names.append(name) } }
    for name in names { try connection.execute("DROP TABLE \(Self.schema).\(name.quotedName)") }
    try makeTables(connection)
    let store = MetadataStore(connection: connection)
    try store.setFact("transaction", try store.info("transaction"))
    try connection.execute("DELETE FROM main.cloudsync_staged")
  }

  // MARK: Moving

  /// Moves the metadata out of the database.
  ///
  /// First it is copied, and then removed: whatever happens, one of the two has all of it.
  private func moveOut(_ connection: SQLiteConnection) throws(SyncEngineError) {
    try sqlite(path: path) { () throws(SQLiteError) in
      try connection.transaction { () throws(SQLiteError) in
        let store = MetadataStore(connection: connection)
        if try store.info("metadata_id") == nil {
          try store.setInfo("metadata_id", try connection.value("SELECT hex(randomblob(16))"))
        }
      }
      try connection.transaction { () throws(SQLiteError) in
        for name in MetadataSchema.bulkNames {
          try connection.execute("DROP TABLE IF EXISTS \(Self.schema).\(name)")
        }
        try connection.execute(MetadataSchema.bulkTables(in: Self.schema))
        try copy(from: "main", to: Self.schema, connection)
        try connection.execute(
          """
          REPLACE INTO \(Self.schema).cloudsync_facts
          SELECT key, value FROM main.cloudsync_info WHERE key IN ('metadata_id', 'transaction')
          """
        )
      }
      try connection.transaction { () throws(SQLiteError) in
        try connection.execute(
          "DROP VIEW IF EXISTS main.cloudsync_status; " + MetadataSchema.staged
        )
        for name in MetadataSchema.bulkNames {
          try connection.execute("DROP TABLE IF EXISTS main.\(name)")
        }
        try MetadataStore(connection: connection).setInfo("metadata_path", .text(path))
        try connection.execute(Self.statusView)
      }
    }
  }

  /// Moves the metadata back into the database, and removes the file.
  func moveIn(_ connection: SQLiteConnection) throws(SyncEngineError) {
    try sqlite(path: path) { () throws(SQLiteError) in
      try connection.transaction { () throws(SQLiteError) in
        try connection.execute("DROP VIEW IF EXISTS temp.cloudsync_status")
        try connection.execute(
          MetadataSchema.bulkTables(in: "main")
            + "CREATE VIEW main.cloudsync_status AS \(MetadataSchema.status);"
        )
        try copy(from: Self.schema, to: "main", connection)
        let store = MetadataStore(connection: connection)
        try store.setInfo("metadata_path", nil)
        try store.setInfo("metadata_id", nil)
        // What the other file has taken of the outbox is read again otherwise.
        try connection.execute(
          """
          DROP TABLE main.cloudsync_staged;
          DELETE FROM main.cloudsync_outbox WHERE id <= coalesce(
            (SELECT value FROM \(Self.schema).cloudsync_facts WHERE key = 'outbox'), 0);
          DELETE FROM main.cloudsync_facts WHERE key IN ('outbox', 'metadata_id', 'transaction')
          """
        )
      }
    }
    try remove(from: connection)
  }

  private func copy(
    from source: String,
    to target: String,
    _ connection: SQLiteConnection
  ) throws(SQLiteError) {
    for name in MetadataSchema.bulkNames {
      try connection.execute("INSERT INTO \(target).\(name) SELECT * FROM \(source).\(name)")
    }
  }
}
