import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Compares tables with what is known of their rows, where edits may have gone uncaptured.
///
/// A row of which nothing is known was there before, or was inserted unseen; one that is known and not there was
/// deleted; and of one whose digest is another one the cloud's record tells, when everything is fetched, which
/// columns were changed. It is done in parts, after everything was fetched: what was there before gives
/// way to what the cloud has.
struct Reconciliation {
  let connection: SQLiteConnection

  private var facts: Facts { Facts(connection: connection) }

  // MARK: What is to be done

  /// Asks for a table to be compared, after a fetch of everything if it is to tell first.
  func request(_ table: Int64, fetchesAll: Bool) throws(SQLiteError) {
    var tables = try requested()
    if !tables.contains(table) { tables.append(table) }
    try set(tables)
    if fetchesAll { try facts.set(.fetchAll, .integer(FullFetch.sweeps.rawValue)) }
  }

  /// The numbers of the tables that are to be compared.
  func requested() throws(SQLiteError) -> [Int64] {
    guard case .text(let list)? = try facts.value(.unreconciled) else { return [] }
    return list.split(separator: ",").compactMap { Int64($0) }
  }

  private func set(_ tables: [Int64]) throws(SQLiteError) {
    let list = tables.map { "\($0)" }.joined(separator: ",")
    try facts.set(.unreconciled, tables.isEmpty ? nil : .text(list))
    try facts.set(.reconciledTo, nil)
  }

  // MARK: One part

  /// Compares some rows of the next table; returns whether there may be more.
  func step(_ transaction: inout SyncTransaction, limit: Int) throws(SQLiteError) -> Bool {
    let requested = try requested()
    guard let id = requested.first else { return false }
    guard let place = transaction.tables.place(ofID: id) else {
      try set(Array(requested.dropFirst()))
      return true
    }
    let last = try facts.value(.reconciledTo)
    let keys = try self.keys(of: transaction.tables[place], after: last, limit: limit)
    for key in keys { try compare(key, in: place, &transaction) }
    if keys.count == limit, let last = keys.last {
      try facts.set(.reconciledTo, last)
      return true
    }
    try noteMissing(in: place, &transaction)
    try set(Array(requested.dropFirst()))
    return requested.count > 1
  }

  /// The keys of a table's rows after one, as the engine's tables have them, in their order.
  private func keys(
    of table: RecordTable,
    after last: SQLiteValue?,
    limit: Int
  ) throws(SQLiteError) -> [SQLiteValue] {
    let key = CompoundKey.sql(of: table.captured.key, in: "t")
    var conditions = table.captured.hasKey("t").map { [$0] } ?? []
    if last != nil { conditions.append("\(key) > ?2") }
    let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    let query = try connection.statement(
      "SELECT \(key) FROM main.\(table.name.quotedName) t\(filter) ORDER BY 1 LIMIT ?1"
    )
    query.bind(Int64(limit), at: 1)
    if let last { query.bind(last, at: 2) }
    return try query.mapRows { $0.value(0) }
  }

  private func compare(
    _ rowKey: SQLiteValue,
    in place: Int,
    _ transaction: inout SyncTransaction
  ) throws(SQLiteError) {
    let table = transaction.tables[place]
    let key = try table.key(rowKey)
    var row = try transaction.row(key, in: place)
    guard let values = row.values else { return }
    if row.state.row == nil {
      try transaction.reduce(.edited(.found(table.edits(of: values))), key, in: place)
    } else if row.isDeleted(table.rules), row.state.placement == .inTable, !row.needsWrite {
      // It was inserted unseen, after the deletion.
      let edit = RowEdit.inserted(table.edits(of: values), at: try transaction.nextTime())
      try transaction.reduce(.edited(edit), key, in: place)
    } else if row.source == .known {
      row.complete(table)
      transaction.keep(row)
      if !row.needsWrite, let known = try KnownRows(connection: connection).row(row.rowKey),
        known.digest != table.digest(of: values)
      {
        try facts.set(.fetchAll, .integer(FullFetch.sweeps.rawValue))
      }
    } else {
      row.complete(table)
      transaction.keep(row)
    }
  }

  /// Takes the rows that are known to be in the table, and are not, as deleted.
  private func noteMissing(
    in place: Int,
    _ transaction: inout SyncTransaction
  ) throws(SQLiteError) {
    let table = transaction.tables[place]
    let key = CompoundKey.sql(of: table.captured.key, in: "t")
    let query =
      try connection.statement(
        "SELECT key FROM cloudsync_known WHERE table_id = ?1"
          + " UNION ALL SELECT key FROM cloudsync_pending WHERE table_id = ?1 AND NOT is_tombstone"
          + " EXCEPT SELECT \(key) FROM main.\(table.name.quotedName) t ORDER BY 1"
      )
      .bind(table.id, at: 1)
    let missing = try query.mapRows { $0.value(0) }
    for rowKey in missing {
      let row = try transaction.row(try table.key(rowKey), in: place)
      guard row.isLost else { continue }
      let time = try transaction.nextTime()
      try transaction.reduce(.edited(.deleted([], at: time)), row.key, in: place)
    }
  }
}

extension RecordTable {
  /// The values of a row as edits of all its columns.
  func edits(of values: [SQLiteValue]) -> [ColumnEdit] {
    zip(columns, values).map { ColumnEdit(name: $0, value: transport.fieldValue($1), former: nil) }
  }
}
