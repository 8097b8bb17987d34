import CloudSyncCore

/// What a store in a file does inside its transactions.
final class SQLiteContents: LocalCloudTransaction {
  let database: SQLiteDatabase
  private let onStep: (@Sendable (SQLiteStore.Step) -> Void)?
  private var isWriting = false
  private var writer = BinaryWriter(reserving: 4_096)

  init(
    path: String,
    cachePages: Int,
    busyMilliseconds: Int32,
    onStep: (@Sendable (SQLiteStore.Step) -> Void)?
  ) throws(LocalCloudStoreError) {
    database = try SQLiteDatabase(path: path)
    self.onStep = onStep
    database.setBusyTimeout(milliseconds: busyMilliseconds)
    try SQLiteSchema.prepare(database)
    try database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
    // Names come in any order: with room for their index, pages are written seldom.
    let cacheSize = cachePages > 0 ? cachePages : -32_000
    try database.execute("PRAGMA cache_size = \(cacheSize); PRAGMA wal_autocheckpoint = 4000")
  }

  /// Begins a transaction; those that write wait for each other here.
  func begin(_ kind: LocalCloudTransactionKind) throws(LocalCloudStoreError) {
    isWriting = kind == .write
    try database.statement(isWriting ? "BEGIN IMMEDIATE" : "BEGIN").run()
    report(.began)
  }

  /// Makes what was written last.
  func commit() throws(LocalCloudStoreError) {
    report(.committing)
    try database.statement("COMMIT").run()
    report(.committed)
  }

  /// Undoes what was written, and names the file in the error.
  func abandon(_ error: LocalCloudStoreError) -> LocalCloudStoreError {
    // Where SQLite has rolled back by itself there is nothing to undo, and it says so.
    do throws(LocalCloudStoreError) { try database.statement("ROLLBACK").run() } catch {}
    return naming(error)
  }

  private func report(_ step: SQLiteStore.Step) { if isWriting { onStep?(step) } }

  /// The error with the name of the file.
  private func naming(_ error: LocalCloudStoreError) -> LocalCloudStoreError {
    var error = error
    error.path = error.path ?? database.path
    return error
  }

  // MARK: Documents

  func document(_ key: String) throws(LocalCloudStoreError) -> StoreDocument? {
    let query = try database.statement("SELECT body FROM documents WHERE key = ?1")
      .bind(key, at: 1)
    guard try query.step() else { return nil }
    defer { query.reset() }
    return try StoreDocument(bytes: query.bytes(0))
  }

  func documents(withPrefix prefix: String) throws(LocalCloudStoreError) -> [StoreDocument] {
    let query =
      try database.statement("SELECT key, body FROM documents WHERE key >= ?1 ORDER BY key")
      .bind(prefix, at: 1)
    defer { query.reset() }
    var documents: [StoreDocument] = []
    while try query.step() {
      guard let key = query.text(0), key.utf8.starts(with: prefix.utf8) else { break }
      documents.append(try StoreDocument(bytes: query.bytes(1)))
    }
    return documents
  }

  func setDocument(
    _ document: StoreDocument,
    for key: String
  ) throws(LocalCloudStoreError) {
    let statement = try database.statement("REPLACE INTO documents(key, body) VALUES(?1, ?2)")
      .bind(key, at: 1)
    try statement.binding(document.bytes, at: 2) { () throws(LocalCloudStoreError) in
      try statement.run()
    }
    report(.wrote)
  }

  // MARK: Items

  private func place(_ zone: StoredZoneKey, _ position: Int64) -> Int64 {
    zone.number << StoredZoneKey.positionBits | position
  }

  func item(
    named name: String,
    in zone: StoredZoneKey
  ) throws(LocalCloudStoreError) -> StoredItem? {
    let query =
      try database.statement(
        "SELECT place, body FROM items WHERE zone = ?1 AND name = ?2"
      )
      .bind(zone.number, at: 1).bind(name, at: 2)
    guard try query.step() else { return nil }
    defer { query.reset() }
    return try StoredItem(
      position: query.integer(0) - place(zone, 0),
      recordID: RecordID(name: name, zoneID: zone.zoneID),
      bytes: query.bytes(1)
    )
  }

  func setItem(
    _ item: StoredItem,
    in zone: StoredZoneKey,
    replacing former: Int64?
  ) throws(LocalCloudStoreError) {
    writer.removeAll()
    item.write(to: &writer)
    let statement: SQLiteStatement
    if let former {
      statement = try database.statement("UPDATE items SET place = ?1, body = ?2 WHERE place = ?3")
        .bind(place(zone, former), at: 3)
    } else {
      statement =
        try database.statement(
          "INSERT INTO items(place, body, zone, name) VALUES(?1, ?2, ?3, ?4)"
        )
        .bind(zone.number, at: 3).bind(item.recordID.name, at: 4)
    }
    statement.bind(place(zone, item.position), at: 1)
    try statement.binding(writer.bytes, at: 2) { () throws(LocalCloudStoreError) in
      try statement.run()
    }
    report(.wrote)
  }

  func items(
    in zone: StoredZoneKey,
    after position: Int64,
    limit: Int
  ) throws(LocalCloudStoreError) -> [StoredItem] {
    let query =
      try database.statement(
        "SELECT place, name, body FROM items WHERE place > ?1 AND place < ?2 ORDER BY place LIMIT ?3"
      )
      .bind(place(zone, position), at: 1)
      .bind((zone.number + 1) << StoredZoneKey.positionBits, at: 2)
      .bind(Int64(limit), at: 3)
    defer { query.reset() }
    var items: [StoredItem] = []
    while try query.step() {
      guard let name = query.text(1) else {
        throw LocalCloudStoreError(.damaged, path: database.path, "a name is no text")
      }
      items.append(
        try StoredItem(
          position: query.integer(0) - place(zone, 0),
          recordID: RecordID(name: name, zoneID: zone.zoneID),
          bytes: query.bytes(2)
        )
      )
    }
    return items
  }

  func removeItems(in zone: StoredZoneKey) throws(LocalCloudStoreError) {
    try database.statement("DELETE FROM items WHERE place >= ?1 AND place < ?2")
      .bind(place(zone, 0), at: 1)
      .bind((zone.number + 1) << StoredZoneKey.positionBits, at: 2)
      .run()
    try database.statement("DELETE FROM links WHERE zone = ?1").bind(zone.number, at: 1).run()
    report(.wrote)
  }

  // MARK: Links

  func sources(
    of target: String,
    in zone: StoredZoneKey,
    limit: Int
  ) throws(LocalCloudStoreError) -> [String] {
    let query =
      try database.statement(
        "SELECT source FROM links WHERE zone = ?1 AND target = ?2 ORDER BY source LIMIT ?3"
      )
      .bind(zone.number, at: 1).bind(target, at: 2).bind(Int64(limit), at: 3)
    defer { query.reset() }
    var names: [String] = []
    while try query.step() {
      guard let name = query.text(0) else {
        throw LocalCloudStoreError(.damaged, path: database.path, "a name is no text")
      }
      names.append(name)
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
    try database.statement(isPresent ? insert : delete)
      .bind(zone.number, at: 1).bind(target, at: 2).bind(source, at: 3).run()
    report(.wrote)
  }
}
