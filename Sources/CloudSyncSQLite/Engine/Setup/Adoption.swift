import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Takes rows and columns that were there before anybody captured them, as edits older than any other.
struct Adoption {
  let table: SyncTable
  let connection: SQLiteConnection
  let transport: ValueTransport

  private var store: MetadataStore { MetadataStore(connection: connection) }
  private var name: String { table.name.quotedName }
  /// The times that follow on the clock's, a row each.
  private var number: String {
    "(SELECT last FROM cloudsync_clock) + row_number() OVER (ORDER BY \(rowOrder))"
  }

  private var rowOrder: String {
    table.schema.primaryKey.map { "t.\($0.quotedName)" }.joined(separator: ", ")
  }

  /// Takes the rows of a table that is new to the engine.
  ///
  /// Rows whose names are their keys go where the outbox would bring them; in one statement, since
  /// there may be millions.
  func adoptRows() throws(SQLiteError) {
    let isEmpty = try connection.integer(
      "SELECT NOT EXISTS(SELECT 1 FROM cloudsync_rows WHERE table_id = \(table.id))"
    )
    guard isEmpty == 1, let condition = plainCondition else {
      return try adopt("1", change: "NULL")
    }
    let name = "\(table.keySQL("t")) || \(SQLiteValue.text(":" + table.layout.recordType).literal)"
    let edits = SQLiteValue.blob(RowState.encode([RowState.Edit(column: nil, time: .zero)]))
    try connection.execute(
      """
      INSERT INTO cloudsync_rows(table_id, key, record_name, edits, dirty)
      SELECT \(table.id), \(table.keySQL("t")), \(name), \(edits.literal), \(number)
      FROM \(self.name) t WHERE \(condition) ORDER BY \(rowOrder)
      """
    )
    try connection.execute(
      """
      UPDATE cloudsync_clock
      SET last = max(last, coalesce((SELECT max(dirty) FROM cloudsync_rows
        WHERE dirty IS NOT NULL AND operation IS NULL), 0))
      """
    )
    try adopt("NOT (\(condition))", change: "NULL")
  }

  /// Takes rows of which nothing is known, as new ones; edits of them that were captured come on top.
  func adoptUnknownRows() throws(SQLiteError) {
    let query = try connection.prepare(
      """
      SELECT \(table.keySQL("t")) FROM \(name) t
      WHERE NOT EXISTS(
        SELECT 1 FROM cloudsync_rows r
        WHERE r.table_id = \(table.id) AND r.key IS \(table.keySQL("t"))
      )\(table.hasKeySQL("t").map { " AND \($0)" } ?? "")
      ORDER BY \(rowOrder)
      """
    )
    var keys: [SQLiteValue] = []
    try query.forEachRow { keys.append(query.value(0)) }
    for key in keys {
      let name = try table.recordName(of: key, in: connection)
      var row = RowState(table: table.id, key: key, recordName: name)
      row.edits = [RowState.Edit(column: nil, time: .zero)]
      row.dirty = 0
      try store.save(row)
    }
  }

  /// What tells that a row's name is its key as it is; nil if no row's is.
  private var plainCondition: String? {
    guard table.schema.primaryKey.count == 1 else { return nil }
    let key = table.keySQL("t")
    let room = RecordRules.maximumNameLength - table.layout.recordType.utf8.count - 1
    return "typeof(\(key)) = 'text' AND \(key) NOT GLOB '*[^ -~]*' AND \(key) NOT GLOB '[_~]*'"
      + " AND length(CAST(\(key) AS BLOB)) <= \(room)"
  }

  /// Sees to it that rows which were inserted before there were new columns do not seem to set them.
  ///
  /// What was there before anybody captured it is older than everything, so it does no harm.
  func keepInserts(to former: [String]) throws(SQLiteError) {
    let harmless = SQLiteValue.blob(RowState.encode([RowState.Edit(column: nil, time: .zero)]))
    let edited = try store.rows(
      where: "table_id = \(table.id) AND dirty IS NOT NULL AND edits IS NOT \(harmless.literal)"
        + " ORDER BY key"
    )
    for var row in edited where row.edits.contains(where: { $0.column == nil }) {
      row.limitWholeEdit(to: former)
      try store.save(row)
    }
  }

  /// Takes what rows have in a new column: nobody has captured how it came there.
  func adopt(column: TableSchema.Column) throws(SQLiteError) {
    let bits = table.captured.map { $0 == column.name ? "1" : "0" }.joined()
    let initial = column.defaultSQL.map { "(\($0))" } ?? "NULL"
    try adopt("t.\(column.name.quotedName) IS NOT \(initial)", change: "'\(bits)'")
  }

  private func adopt(_ condition: String, change: String) throws(SQLiteError) {
    let named = table.hasKeySQL("t").map { "(\(condition)) AND \($0)" } ?? condition
    try connection.execute(
      """
      UPDATE cloudsync_clock
      SET last = max(last, coalesce((SELECT max(id) FROM cloudsync_outbox), 0));
      INSERT INTO cloudsync_outbox(id, table_id, key, change, adopted)
      SELECT \(number), \(table.id), \(table.keySQL("t")), \(change), 1
      FROM \(name) t WHERE \(named) ORDER BY \(rowOrder)
      """
    )
  }

  /// Gives new columns what the cloud has had for them all along.
  ///
  /// What the table refuses is kept beside it.
  func fill(_ added: [String], _ work: EngineWork) throws(SQLiteError) {
    let rows = RowTable(table: table, connection: connection)
    try store.forEachAcknowledgedRow(of: table.id) { (row) throws(SQLiteError) in
      do throws(SQLiteError) {
        try fill(added, of: row, rows)
      } catch {
        guard error.isRefusal, connection.isInTransaction else { throw error }
        try work.shelve(row, added, table, error)
      }
    }
    try store.setApplying(nil)
  }

  private func fill(
    _ added: [String],
    of row: RowState,
    _ rows: RowTable
  ) throws(SQLiteError) {
    guard let version = row.server?.rowVersion else { return }
    var changes: [(column: String, value: SQLiteValue)] = []
    for column in added {
      guard let known = version[column], let value = try transport.stored(known) else { continue }
      changes.append((column, value))
    }
    let key = try table.keyValues(of: row.key, in: connection)
    guard !changes.isEmpty, try rows.values(of: key) != nil else { return }
    try store.setApplying((table.id, row.key))
    try rows.update(key, changes)
  }
}
