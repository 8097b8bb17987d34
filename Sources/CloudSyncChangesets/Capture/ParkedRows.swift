import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Rows of HEAD that the tables here do not take: they break a rule which others' tables do not have.
///
/// A parked row is in the state of HEAD, and not in its table; whoever asks for the rows of HEAD gets it from here.
/// Everything else goes on. Each pull tries to put it into its table, and an edit that makes a row of its key takes its
/// place.
struct ParkedRows {
  let connection: HistoryConnection

  /// Made with the first row, and dropped with the last: the number of the database's declarations tells.
  private static let table = "changesets_parked"

  /// A row, with what SQLite says against it.
  struct Row: Sendable {
    var table: String
    /// As an insertion.
    var row: RowDelta
    var reason: String
  }

  /// Whether there are any.
  func exist() throws(ChangesetError) -> Bool {
    try connection.hasTable(Self.table)
  }

  /// Forgets all.
  func drop() throws(ChangesetError) {
    try connection.execute("DROP TABLE IF EXISTS main.\(Self.table)")
  }

  func all() throws(ChangesetError) -> [Row] {
    guard try exist() else { return [] }
    return
      try connection.rows("SELECT name, row, reason FROM \(Self.table) ORDER BY name, key") {
        (name: $0.text(0) ?? "", bytes: $0.bytes(1), reason: $0.text(2) ?? "")
      }
      .map { (entry) throws(ChangesetError) in
        let row = try reading("a parked row") { () throws(ByteFault) in
          try RowDelta(parked: entry.bytes)
        }
        return Row(table: entry.name, row: row, reason: entry.reason)
      }
  }

  /// The row of a key; nil if none is parked.
  func row(_ key: RowKey, of table: String) throws(ChangesetError) -> RowDelta? {
    guard try exist() else { return nil }
    let bytes = try connection.row(
      "SELECT row FROM \(Self.table) WHERE name = ?1 AND key = ?2",
      .text(table),
      .blob(key.bytes)
    ) { $0.bytes(0) }
    guard let bytes else { return nil }
    return try reading("a parked row") { () throws(ByteFault) in try RowDelta(parked: bytes) }
  }

  func park(row: RowDelta, of table: String, because reason: String) throws(ChangesetError) {
    try connection.execute(
      """
      CREATE TABLE IF NOT EXISTS main.\(Self.table)(
        name TEXT NOT NULL, key BLOB NOT NULL, row BLOB NOT NULL, reason TEXT, PRIMARY KEY(name, key)
      ) WITHOUT ROWID
      """
    )
    try connection.run(
      "REPLACE INTO \(Self.table) VALUES(?1, ?2, ?3, ?4)",
      .text(table),
      .blob(row.key.bytes),
      .blob(row.parkedBytes),
      .text(reason)
    )
  }

  func release(key: RowKey, of table: String) throws(ChangesetError) {
    guard try exist() else { return }
    try connection.run(
      "DELETE FROM \(Self.table) WHERE name = ?1 AND key = ?2",
      .text(table),
      .blob(key.bytes)
    )
  }

  /// Drops the table when nothing is parked any more.
  func tidy() throws(ChangesetError) {
    guard try exist(), try connection.integer("SELECT count(*) FROM \(Self.table)") == 0 else {
      return
    }
    try connection.execute("DROP TABLE main.\(Self.table)")
  }

  // MARK: Rows and tables

  /// The parked rows of which their tables have none of the key, as insertions.
  func absent(from tables: TrackedTables) throws(ChangesetError) -> StateDelta {
    var result: [String: [RowDelta]] = [:]
    for parked in try all() {
      guard let table = tables.table(parked.table) else { continue }
      let present = try TableRows(connection: connection, table: table).row(parked.row.key)
      if present == nil { result[table.name, default: []].append(parked.row) }
    }
    return StateDelta(
      tables: result.keys.sortedByBytes()
        .map { TableDelta($0, rows: (result[$0] ?? []).sorted { $0.key < $1.key }) }
    )
  }

  /// Forgets the rows in whose place others are: an edit has made them, and it is committed.
  func releaseReplaced(in tables: TrackedTables) throws(ChangesetError) {
    // Every commit looks here, and most find nothing.
    guard try exist() else { return }
    for parked in try all() {
      guard let table = tables.table(parked.table) else { continue }
      let present = try TableRows(connection: connection, table: table).row(parked.row.key)
      if present != nil { try release(key: parked.row.key, of: parked.table) }
    }
    try tidy()
  }
}

extension RowDelta {
  /// A row as it is parked: its key, then the columns that are not NULL.
  fileprivate var parkedBytes: [UInt8] {
    var writer = ByteWriter()
    writer.write(counted: key.bytes)
    let cells = cells.filter { $0.new != .null }
    writer.write(count: cells.count)
    for cell in cells {
      writer.write(cell.column)
      writer.write(cell.new)
    }
    return writer.bytes
  }

  fileprivate init(parked bytes: [UInt8]) throws(ByteFault) {
    var reader = ByteReader(bytes)
    let key = RowKey(codedBytes: Array(try reader.counted()))
    var cells: [CellDelta] = []
    for _ in 0..<(try reader.count(ofAtLeast: 2)) {
      let column = try reader.text()
      cells.append(CellDelta(column, old: .null, new: try reader.value(), time: .zero))
    }
    self.init(.insert, key, cells: cells, time: .zero)
  }
}
