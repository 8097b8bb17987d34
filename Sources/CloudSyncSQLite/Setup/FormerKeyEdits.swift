import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Edits that were not sent before a migration gave their table another key.
///
/// The table is another one to the cloud then, and what is known of its rows under the former key is forgotten. What was
/// not sent would be lost with it, so it is captured once more under the key that the table has now, as made by the
/// migration.
struct FormerKeyEdits {
  let connection: SQLiteConnection
  let clock: CaptureClock

  /// Captures the pending edits of a table that has another key now.
  ///
  /// A row that is gone can be named by the new key only if that has the columns of the former one.
  func capture(of former: RegisteredTable, as table: CapturedTable) throws(SQLiteError) {
    let names = former.key.map(\.name)
    guard names.allSatisfy({ table.schema.column(named: $0) != nil }) else { return }
    let hasSameColumns =
      names.count == table.key.count
      && zip(names, table.key).allSatisfy { $0.isSameName(as: $1.name) }
    for key in try pendingKeys(of: former) {
      let values = former.key.count == 1 ? [key] : CompoundKey.values(of: key) ?? []
      guard values.count == names.count else { continue }
      let present = try keys(in: table, where: former.key, are: values)
      for values in present { try add(-1, key: values, of: table) }
      if present.isEmpty, hasSameColumns {
        // A row of which nothing is known can be deleted only after it was there.
        for change in [-1, -2] as [Int64] { try add(change, key: values, of: table) }
      }
    }
  }

  private func pendingKeys(of table: RegisteredTable) throws(SQLiteError) -> [SQLiteValue] {
    let query =
      try connection.prepare(
        "SELECT key FROM cloudsync_pending WHERE table_id = ?1 AND is_dirty ORDER BY key"
      )
      .bind(table.id, at: 1)
    return try query.mapRows { $0.value(0) }
  }

  /// The keys that rows have now which had a key before.
  private func keys(
    in table: CapturedTable,
    where former: [KeyColumn],
    are values: [SQLiteValue]
  ) throws(SQLiteError) -> [[SQLiteValue]] {
    let columns = table.key.map(\.name.quotedName).joined(separator: ", ")
    let conditions = former.enumerated()
      .map { "t.\($1.name.quotedName) IS ?\($0 + 1) COLLATE \($1.collation.rawValue)" }
    let query = try connection.prepare(
      "SELECT \(columns) FROM main.\(table.name.quotedName) t"
        + " WHERE \(conditions.joined(separator: " AND "))"
    )
    for (place, value) in values.enumerated() { query.bind(value, at: Int32(place + 1)) }
    return try query.mapRows { row in table.key.indices.map { row.value(Int32($0)) } }
  }

  private func add(
    _ change: Int64,
    key values: [SQLiteValue],
    of table: CapturedTable
  ) throws(SQLiteError) {
    let columns = values.indices.map { "k\($0)" }.joined(separator: ", ")
    let marks = values.indices.map { "?\($0 + 3)" }.joined(separator: ", ")
    let statement =
      try connection.prepare(
        "INSERT INTO main.cloudsync_outbox(time, table_id, change, \(columns))"
          + " VALUES(\(clock.sql), ?1, ?2, \(marks))"
      )
      .bind(table.id, at: 1).bind(change, at: 2)
    for (place, value) in values.enumerated() { statement.bind(value, at: Int32(place + 3)) }
    try statement.run()
  }
}
