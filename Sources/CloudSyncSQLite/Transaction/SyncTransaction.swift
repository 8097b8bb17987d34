import CloudSyncCore
import CloudSyncSQLiteSupport

/// All that happens to rows within one transaction: each is read once, its machine decides, and in the end all are
/// written, parents first.
///
/// The outbox is read to its end first, so that nobody's edit is overlooked that another process has made.
struct SyncTransaction {
  let connection: SQLiteConnection
  private(set) var tables: [RecordTable]
  /// What a column holds of what has travelled; nil for what no column can hold.
  let stored: (VersionedColumn) throws(SQLiteError) -> SQLiteValue?
  /// Gives a number that no other database has.
  let nextWriter: () -> Int64
  /// Whether a fetch has to tell what became of a record.
  private(set) var needsFetch = false
  /// The latest of all times that were seen in the cloud.
  private(set) var latest = HybridTime.zero
  /// The tables whose edits are captured: what is written to them here is not.
  private let captured: [CapturedTable]
  /// Whether a fetch of everything is under way; nil until that was asked for.
  var fetchesAll: Bool?
  /// The rows to which something has happened.
  private var rows: [RowKey: LoadedRow] = [:]

  /// Begins a transaction.
  ///
  /// - Parameters:
  ///   - connection: The connection, whose transaction is open.
  ///   - tables: The tables in the order in which they are written, parents first.
  ///   - captured: Those whose edits are captured.
  ///   - nextWriter: Gives a number that no other database has.
  ///   - stored: What a column holds of what has travelled; nil for what no column can hold.
  init(
    connection: SQLiteConnection,
    tables: [RecordTable],
    captured: [CapturedTable],
    nextWriter: @escaping () -> Int64,
    stored: @escaping (VersionedColumn) throws(SQLiteError) -> SQLiteValue?
  ) {
    self.connection = connection
    self.tables = tables
    self.captured = captured
    self.nextWriter = nextWriter
    self.stored = stored
  }

  /// The place of the table whose records are of a type; nil for none.
  func table(ofType type: String) -> Int? {
    tables.firstIndex { UTF8Bytes.equal($0.format.recordType, type) }
  }

  // MARK: One row

  /// What is known of a row, with what its table has.
  func row(_ key: RecordKey, in place: Int) throws(SQLiteError) -> LoadedRow {
    let table = tables[place]
    let rowKey = RowKey(table: table.id, key: table.rowKey(key))
    if let known = rows[rowKey] { return known }
    let values = try table.rows(connection).values(of: key.values)
    let (state, source) = try table.store(connection).state(of: rowKey.key, values: values)
    return LoadedRow(
      place: place,
      key: key,
      rowKey: rowKey,
      values: values,
      state: state,
      source: source
    )
  }

  /// Lets an event happen to a row.
  ///
  /// What follows for its table is done in ``finish()``.
  mutating func reduce(
    _ event: RecordEvent,
    _ key: RecordKey,
    in place: Int
  ) throws(SQLiteError) {
    var row = try row(key, in: place)
    if row.reduce(event, tables[place].rules).contains(.renumber) {
      try renumber()
      row = try self.row(key, in: place)
      _ = row.reduce(event, tables[place].rules)
    }
    if row.needsFetch { needsFetch = true }
    rows[row.rowKey] = row
  }

  /// Notes a time that was seen in the cloud.
  mutating func see(_ time: HybridTime) { latest = max(latest, time) }

  /// Takes another number for this database: what was added under the old one and is not in the cloud goes on
  /// under the new one.
  private mutating func renumber() throws(SQLiteError) {
    let writer = nextWriter()
    for place in tables.indices {
      let former = tables[place].rules.writer
      tables[place].rules.writer = writer
      for key in try PendingRows(connection: connection).keys(in: tables[place].id) {
        var row = try row(try tables[place].key(key), in: place)
        _ = row.reduce(.renumbered(from: former, to: writer), tables[place].rules)
        rows[row.rowKey] = row
      }
    }
    try Facts(connection: connection).set(.writer, .integer(writer))
  }

  // MARK: The end

  /// Writes all rows that are to be otherwise, and keeps what is known then.
  mutating func finish() throws(SQLiteError) {
    var open = rows.values.filter(\.needsWrite).map(\.rowKey)
    while !open.isEmpty {
      var changed: [RowKey] = []
      for row in try inOrder(open) where try write(row) { changed.append(row) }
      open = try childrenWaiting(for: changed)
    }
    for row in rows.values.sorted(by: { $0.precedes($1) }) {
      try tables[row.place].store(connection)
        .save(row.state, of: row.rowKey.key, values: row.values, source: row.source)
    }
    rows = [:]
  }

  /// The rows that can be written, in their order; the others are noted to wait for their parents.
  private mutating func inOrder(_ keys: [RowKey]) throws(SQLiteError) -> [RowKey] {
    let found = keys.compactMap { rows[$0] }.sorted { $0.precedes($1) }
    let nodes = found.map { row in
      let isDeleted = row.isDeleted(tables[row.place].rules)
      return DependencyOrder.Node(
        name: row.key.name,
        rank: row.place,
        parents: isDeleted ? [] : parents(of: row),
        isDeleted: isDeleted
      )
    }
    let order = try DependencyOrder(nodes) { (name) throws(SQLiteError) in try isInTable(name) }
    for (place, parent) in order.waiting {
      var row = found[place]
      row.place(.awaitsParent(parent), tables[row.place].rules)
      rows[row.rowKey] = row
    }
    return order.ready.map { found[$0].rowKey }
  }

  /// The records that a row refers to.
  private func parents(of row: LoadedRow) -> [String] {
    guard let version = row.state.row else { return [] }
    return tables[row.place].references
      .compactMap { reference in
        guard let parent = tables.first(where: { $0.id == reference.parent }) else { return nil }
        var values: [SQLiteValue] = []
        for column in reference.columns {
          guard let value = version.value(of: column),
            case .value(let stored)? = ValueCodec.decode(value), stored != .null
          else { return nil }
          values.append(stored)
        }
        return parent.format.key(spelled: values).name
      }
  }

  /// Whether the row of a record is in its table, and stays there.
  private func isInTable(_ name: String) throws(SQLiteError) -> Bool {
    guard let (place, key) = place(of: name) else { return false }
    return try tables[place].rows(connection).values(of: key.values) != nil
  }

  /// Makes a table's row what its state says; returns whether others may have waited for that.
  private mutating func write(_ key: RowKey) throws(SQLiteError) -> Bool {
    guard var row = rows[key] else { return false }
    let table = tables[row.place]
    let isDeleted = row.isDeleted(table.rules)
    let wasThere = row.values != nil
    let placement = try withoutCapture(of: row) { () throws(SQLiteError) in
      try RowWriter(rows: table.rows(connection), stored: stored)
        .write(isDeleted ? nil : row.state.row, key: row.key.values, values: row.values)
    }
    // What SQLite has made of the values is read back.
    if !isDeleted || placement != .inTable {
      row.values = try table.rows(connection).values(of: row.key.values)
    } else {
      row.values = nil
    }
    row.place(placement, table.rules)
    row.complete(table)
    rows[key] = row
    return !wasThere && row.values != nil
  }

  /// Writes a row so that it is not captured; what follows from it is.
  private func withoutCapture<Value>(
    of row: LoadedRow,
    _ body: () throws(SQLiteError) -> Value
  ) throws(SQLiteError) -> Value {
    guard let table = captured.first(where: { $0.id == row.rowKey.table }) else {
      return try body()
    }
    return try CaptureSuppression(connection: connection)
      .withoutCapture(ofRowsOf: table, mapping: { $0 }) { (rows) throws(SQLiteError) in
        try rows.name(row.key.values)
        return try body()
      }
  }

  private mutating func childrenWaiting(for parents: [RowKey]) throws(SQLiteError) -> [RowKey] {
    if parents.isEmpty { return [] }
    var waiting: [String: [RowKey]] = [:]
    for row in rows.values {
      if case .awaitsParent(let name) = row.state.placement {
        waiting[name, default: []].append(row.rowKey)
      }
    }
    var children: Set<RowKey> = []
    for parent in parents {
      guard let name = rows[parent]?.key.name else { continue }
      let stored = try PendingRows(connection: connection).waiting(for: name)
      for key in stored + (waiting[name] ?? []) {
        guard let place = tables.firstIndex(where: { $0.id == key.table }) else { continue }
        var row = try row(try tables[place].key(key.key), in: place)
        guard row.state.placement == .awaitsParent(name) else { continue }
        row.needsWrite = true
        rows[key] = row
        children.insert(key)
      }
    }
    return Array(children)
  }
}
