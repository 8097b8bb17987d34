import CloudSyncCore
import CloudSyncSQLiteSupport

/// What a store in a file does inside its transactions.
final class SQLiteContents: LocalCloudTransaction {
  private let path: String
  private let database: SQLiteConnection
  private let onStep: (@Sendable (SQLiteStore.Step) -> Void)?
  private var isWriting = false
  private var writer = BinaryWriter(reserving: 4_096)

  /// Opens a file to write, and makes it a store if it is none yet.
  init(
    path: String,
    cachePages: Int,
    busyMilliseconds: Int32,
    onStep: (@Sendable (SQLiteStore.Step) -> Void)?
  ) throws(LocalCloudStoreError) {
    self.path = path
    self.onStep = onStep
    database = try LocalCloudStoreError.mapping(path: path) { () throws(SQLiteError) in
      try SQLiteConnection(path: path)
    }
    database.setBusyTimeout(milliseconds: busyMilliseconds)
    try SQLiteSchema.prepare(database, path: path)
    // Names come in any order: with room for their index, pages are written seldom.
    let cacheSize = cachePages > 0 ? cachePages : -32_000
    try mapped { () throws(SQLiteError) in
      try database.useWriteAheadLog()
      try database.execute("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON")
      try database.execute("PRAGMA cache_size = \(cacheSize); PRAGMA wal_autocheckpoint = 4000")
    }
  }

  /// Opens a file that is a store already, to read it while others write.
  init(reading path: String, busyMilliseconds: Int32) throws(LocalCloudStoreError) {
    self.path = path
    onStep = nil
    database = try LocalCloudStoreError.mapping(path: path) { () throws(SQLiteError) in
      try SQLiteConnection(path: path)
    }
    database.setBusyTimeout(milliseconds: busyMilliseconds)
    try mapped { () throws(SQLiteError) in
      try database.execute("PRAGMA query_only = ON; PRAGMA cache_size = -8000")
    }
  }

  /// A setting of the connection, as SQLite has it.
  func setting(_ name: String) throws(LocalCloudStoreError) -> Int64 {
    try mapped { () throws(SQLiteError) in try database.integer("PRAGMA \(name)") }
  }

  /// Writes what lies in the write-ahead log into the file, and empties the log, unless somebody else is using it.
  func checkpoint() throws(LocalCloudStoreError) {
    try mapped { () throws(SQLiteError) in
      _ = try database.value("PRAGMA wal_checkpoint(TRUNCATE)")
    }
  }

  /// Begins a transaction; those that write wait for each other here.
  func begin(kind: LocalCloudTransactionKind) throws(LocalCloudStoreError) {
    isWriting = kind == .write
    try mapped { () throws(SQLiteError) in
      try database.fixedStatement(isWriting ? "BEGIN IMMEDIATE" : "BEGIN").run()
    }
    report(step: .began)
  }

  /// Makes what was written last.
  func commit() throws(LocalCloudStoreError) {
    report(step: .committing)
    try mapped { () throws(SQLiteError) in try database.fixedStatement("COMMIT").run() }
    report(step: .committed)
  }

  /// Undoes what was written, and names the file in the error.
  func abandon(error: LocalCloudStoreError) -> LocalCloudStoreError {
    // Where SQLite has rolled back by itself there is nothing to undo, and it says so.
    do throws(SQLiteError) { try database.fixedStatement("ROLLBACK").run() } catch {}
    var error = error
    error.path = error.path ?? path
    return error
  }

  /// Reads the whole file and compares its parts.
  func verify() throws(LocalCloudStoreError) {
    try SQLiteSchema.checkEverything(database: database, path: path)
  }

  private func report(step: SQLiteStore.Step) { if isWriting { onStep?(step) } }

  // MARK: Errors

  /// Runs a body, and throws SQLite's errors as the store's.
  private func mapped<Value>(
    body: () throws(SQLiteError) -> Value
  ) throws(LocalCloudStoreError) -> Value {
    try LocalCloudStoreError.mapping(path: path, body: body)
  }

  /// The text of a column that is always text.
  private func name(
    column: Int32,
    of row: SQLiteStatement
  ) throws(LocalCloudStoreError) -> String {
    guard let name = row.text(column) else {
      throw LocalCloudStoreError(.damaged, path: path, "a name is no text")
    }
    return name
  }

  // MARK: Documents

  func document(_ key: String) throws(LocalCloudStoreError) -> StoreDocument? {
    let bytes = try mapped { () throws(SQLiteError) -> [UInt8]? in
      let query = try database.fixedStatement("SELECT body FROM documents WHERE key = ?1")
        .bind(key, at: 1)
      defer { query.reset() }
      return try query.step() ? query.bytes(0) : nil
    }
    return try bytes.map(StoreDocument.init(bytes:))
  }

  func documents(
    withPrefix prefix: String
  ) throws(LocalCloudStoreError) -> [(key: String, document: StoreDocument)] {
    let found = try mapped { () throws(SQLiteError) in
      let query =
        try database.fixedStatement("SELECT key, body FROM documents WHERE key >= ?1 ORDER BY key")
        .bind(prefix, at: 1)
      defer { query.reset() }
      var found: [(key: String, body: [UInt8])] = []
      while try query.step() {
        guard let key = query.text(0), key.utf8.starts(with: prefix.utf8) else { break }
        found.append((key, query.bytes(1)))
      }
      return found
    }
    return try found.map { (entry) throws(LocalCloudStoreError) in
      (entry.key, try StoreDocument(bytes: entry.body))
    }
  }

  func setDocument(_ document: StoreDocument, for key: String) throws(LocalCloudStoreError) {
    try mapped { () throws(SQLiteError) in
      let statement =
        try database.fixedStatement("REPLACE INTO documents(key, body) VALUES(?1, ?2)")
        .bind(key, at: 1)
      try statement.binding(document.bytes, at: 2) { () throws(SQLiteError) in
        try statement.run()
      }
    }
    report(step: .wrote)
  }

  func removeDocument(_ key: String) throws(LocalCloudStoreError) {
    try mapped { () throws(SQLiteError) in
      try database.fixedStatement("DELETE FROM documents WHERE key = ?1").bind(key, at: 1).run()
    }
    report(step: .wrote)
  }

  // MARK: Items

  private func place(zone: StoredZoneKey, position: Int64) -> Int64 {
    zone.number << StoredZoneKey.positionBits | position
  }

  func item(
    named name: String,
    in zone: StoredZoneKey
  ) throws(LocalCloudStoreError) -> StoredItem? {
    let found = try mapped { () throws(SQLiteError) -> (place: Int64, body: [UInt8])? in
      let query =
        try database.fixedStatement(
          "SELECT place, body FROM items WHERE zone = ?1 AND name = ?2"
        )
        .bind(zone.number, at: 1).bind(name, at: 2)
      defer { query.reset() }
      return try query.step() ? (query.integer(0), query.bytes(1)) : nil
    }
    guard let found else { return nil }
    return try StoredItem(
      position: found.place - place(zone: zone, position: 0),
      recordID: RecordID(name: name, zoneID: zone.zoneID),
      bytes: found.body
    )
  }

  func setItem(
    _ item: StoredItem,
    in zone: StoredZoneKey,
    replacing former: Int64?
  ) throws(LocalCloudStoreError) {
    writer.removeAll()
    item.write(to: &writer)
    try mapped { () throws(SQLiteError) in
      let statement: SQLiteStatement
      if let former {
        statement =
          try database.fixedStatement("UPDATE items SET place = ?1, body = ?2 WHERE place = ?3")
          .bind(place(zone: zone, position: former), at: 3)
      } else {
        statement =
          try database.fixedStatement(
            "INSERT INTO items(place, body, zone, name) VALUES(?1, ?2, ?3, ?4)"
          )
          .bind(zone.number, at: 3).bind(item.recordID.name, at: 4)
      }
      statement.bind(place(zone: zone, position: item.position), at: 1)
      try statement.binding(writer.bytes, at: 2) { () throws(SQLiteError) in
        try statement.run()
      }
    }
    report(step: .wrote)
  }

  func items(
    in zone: StoredZoneKey,
    after position: Int64,
    limit: Int,
    byteLimit: Int
  ) throws(LocalCloudStoreError) -> [StoredItem] {
    let query = try mapped { () throws(SQLiteError) in
      try database.fixedStatement(
        "SELECT place, name, body FROM items WHERE place > ?1 AND place < ?2 ORDER BY place LIMIT ?3"
      )
    }
    query.bind(place(zone: zone, position: position), at: 1)
      .bind((zone.number + 1) << StoredZoneKey.positionBits, at: 2)
      .bind(Int64(limit), at: 3)
    defer { query.reset() }
    var items: [StoredItem] = []
    var byteCount = 0
    while byteCount < byteLimit, try mapped(body: { () throws(SQLiteError) in try query.step() }) {
      let body = query.bytes(2)
      byteCount += body.count
      items.append(
        try StoredItem(
          position: query.integer(0) - place(zone: zone, position: 0),
          recordID: RecordID(name: name(column: 1, of: query), zoneID: zone.zoneID),
          bytes: body
        )
      )
    }
    return items
  }

  func removeItems(in zone: StoredZoneKey) throws(LocalCloudStoreError) {
    try mapped { () throws(SQLiteError) in
      try database.fixedStatement("DELETE FROM items WHERE place >= ?1 AND place < ?2")
        .bind(place(zone: zone, position: 0), at: 1)
        .bind((zone.number + 1) << StoredZoneKey.positionBits, at: 2)
        .run()
      try database.fixedStatement("DELETE FROM links WHERE zone = ?1")
        .bind(zone.number, at: 1).run()
    }
    report(step: .wrote)
  }

  // MARK: Links

  func sources(
    of target: String,
    in zone: StoredZoneKey,
    limit: Int
  ) throws(LocalCloudStoreError) -> [String] {
    let query = try mapped { () throws(SQLiteError) in
      try database.fixedStatement(
        "SELECT source FROM links WHERE zone = ?1 AND target = ?2 ORDER BY source LIMIT ?3"
      )
    }
    query.bind(zone.number, at: 1).bind(target, at: 2).bind(Int64(limit), at: 3)
    var names: [String] = []
    try query.forEachRow(mapping: { LocalCloudStoreError($0, path: path) }) {
      () throws(LocalCloudStoreError) in
      names.append(try name(column: 0, of: query))
    }
    return names
  }

  func setLink(
    from source: String,
    to target: String,
    in zone: StoredZoneKey,
    isPresent: Bool
  ) throws(LocalCloudStoreError) {
    let insert: StaticString =
      "INSERT OR IGNORE INTO links(zone, target, source) VALUES(?1, ?2, ?3)"
    let delete: StaticString = "DELETE FROM links WHERE zone = ?1 AND target = ?2 AND source = ?3"
    try mapped { () throws(SQLiteError) in
      try database.fixedStatement(isPresent ? insert : delete)
        .bind(zone.number, at: 1).bind(target, at: 2).bind(source, at: 3).run()
    }
    report(step: .wrote)
  }
}
