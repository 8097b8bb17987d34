import CloudSyncSQLiteSupport

/// Gives each database ranges of integer keys of its own, above all keys that it has seen.
///
/// A table that is declared `AUTOINCREMENT` gets the key after the greatest one that it ever had, which SQLite keeps in
/// `sqlite_sequence`. When another device's rows have raised that into a range of theirs, it is set to where the next
/// own range begins. So `last_insert_rowid()` tells the key, `ORDER BY` follows the order in which rows could know
/// of each other, and no key is changed after it was given.
///
/// The key's bits are a level, the device, and a count within the range. Whose number is `n` has every 16,777,216th
/// range: two devices have the same with a probability of one to that number. A device that inserts more than 256 rows
/// between two transactions of the engine goes on in the ranges of its neighbours, which are hardly ever given.
struct IntegerKeyRanges {
  let connection: SQLiteConnection
  /// The number of this database, which a copy of its file does not share.
  let writer: Int64

  /// How many keys a range has.
  static let size: Int64 = 1 << 8
  /// How many devices have ranges of their own.
  static let devices: Int64 = 1 << 24

  private var device: Int64 { Int64(UInt64(bitPattern: writer) % UInt64(Self.devices)) }

  /// Sees to it that the next keys of tables lie in an own range.
  ///
  /// - Parameter tables: The names of tables that SQLite counts.
  /// - Throws: SQLite's reason.
  func settle(_ tables: [String]) throws(SQLiteError) {
    for table in tables {
      let query = try connection.statement("SELECT seq FROM main.sqlite_sequence WHERE name = ?1")
      query.bind(table, at: 1)
      let last = try query.step() ? query.integer(0) : nil
      query.reset()
      guard let next = next(after: last ?? 0) else { continue }
      let sql =
        last == nil
        ? "INSERT INTO main.sqlite_sequence(name, seq) VALUES(?1, ?2)"
        : "UPDATE main.sqlite_sequence SET seq = ?2 WHERE name = ?1"
      try connection.statement(sql).bind(table, at: 1).bind(next, at: 2).run()
    }
  }

  /// Whether a key was given in the range of a device; those before are of rows that all devices began with.
  static func isGiven(_ key: Int64) -> Bool { key / size / devices > 0 }

  /// Takes the next key of a table for a row that is there; nil if there is none left.
  func take(in table: String) throws(SQLiteError) -> Int64? {
    try settle([table])
    let query = try connection.statement("SELECT seq FROM main.sqlite_sequence WHERE name = ?1")
    query.bind(table, at: 1)
    let last = try query.step() ? query.integer(0) : 0
    query.reset()
    let (next, isFull) = last.addingReportingOverflow(1)
    if isFull { return nil }
    try connection.statement("UPDATE main.sqlite_sequence SET seq = ?2 WHERE name = ?1")
      .bind(table, at: 1).bind(next, at: 2).run()
    return next
  }

  /// What the greatest key has to be taken for, so that the next one is in an own range; nil if it is already, or there
  /// is no range left.
  func next(after last: Int64) -> Int64? {
    let (key, isFull) = max(last, 0).addingReportingOverflow(1)
    if isFull { return nil }
    let range = key / Self.size
    // The first ranges have the rows of a database that all devices began with.
    let level = range / Self.devices
    if level > 0, range % Self.devices == device { return nil }
    let isAhead = level > 0 && range % Self.devices < device
    let (first, isOver) = ((isAhead ? level : level + 1) * Self.devices + device)
      .multipliedReportingOverflow(by: Self.size)
    return isOver ? nil : first - 1
  }
}
