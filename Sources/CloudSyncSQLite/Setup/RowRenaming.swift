import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Rows of a table that has, or whose columns have, other names now.
///
/// To the cloud these are other fields and other records. What was edited last stays so under the new name, on whatever
/// device: rows keep the times of their columns, and count as ones that the cloud does not have so.
struct RowRenaming: TransactionPart {
  let transaction: SyncTransaction
  let renaming: SchemaRenaming
  /// The place of the table among the transaction's.
  let place: Int

  private static let pageSize = 1_000

  private var table: RecordTable { tables[place] }

  /// Gives all rows of which something is known their new names.
  func rename() throws(SQLiteError) {
    // Clean ones become pending.
    for key in try stored.pending.keys(in: table.id) {
      let rowKey = RowKey(table: table.id, key: key)
      guard let state = try stored.pending.state(of: rowKey) else { continue }
      let values = try table.rows(on: connection).values(of: table.key(key).values)
      // Its record may have another name.
      if renaming.isOtherTable { try stored.pending.remove(rowKey) }
      try keep(state, of: rowKey, values: values, source: .pending)
    }
    try transaction.finish()
    var last: SQLiteValue?
    while true {
      let page = try stored.known.rows(of: table.id, after: last, limit: Self.pageSize)
      for (key, known) in page {
        let values = try table.rows(on: connection).values(of: table.key(key).values)
        let rowKey = RowKey(table: table.id, key: key)
        guard let state = try state(of: known, key: rowKey, values: values) else { continue }
        try keep(state, of: rowKey, values: values, source: .known)
      }
      try transaction.finish()
      last = page.last?.key
      if page.count < Self.pageSize { return }
    }
  }

  /// What is known of a clean row, by its columns' former names.
  private func state(
    of known: KnownRow,
    key: RowKey,
    values: [SQLiteValue]?
  ) throws(SQLiteError) -> StoredState? {
    let numbers = ColumnNumbers(renaming.former.columns)
    let (clock, rest): (RecordClock, RestOfRecord?)
    do throws(CodedError) {
      clock = try ClockCoding(numbers: numbers).clock(from: known.clock)
      rest = try known.rest.map { (bytes) throws(CodedError) in
        try RestOfRecord(codedBytes: bytes)
      }
    } catch {
      throw SQLiteError(
        code: 11,
        message: "row \(key.key.literal) in cloudsync_known is damaged: \(error)"
      )
    }
    let columns = clock.columns.compactMap { column -> VersionedColumn? in
      if let kept = rest?.columns.first(where: { UTF8Bytes.equal($0.name, column.name) }) {
        return kept
      }
      return value(of: renaming.columns[column.name] ?? column.name, in: values)
        .map { VersionedColumn(name: column.name, value: $0, time: column.time) }
    }
    var row = RecordVersion(clock: clock, columns: columns)
    row.foreignFields = rest?.foreignFields ?? []
    var state = RecordState()
    state.row = row
    state.forgotten = rest?.forgotten ?? []
    state.cloud = .present(
      CloudRecord(
        tag: known.tag,
        clock: row.clock,
        values: columns.filter { table.rules.looksAtValues(of: $0.name) },
        aside: rest?.aside ?? []
      )
    )
    return StoredState(state, policy: table.rules.deletes) { name in
      rest?.columns.place(of: name) == nil
        && table.places.number(of: renaming.columns[name] ?? name) != nil
    }
  }

  /// What a row has in a column; nil if its table has no such column.
  private func value(of column: String, in values: [SQLiteValue]?) -> FieldValue? {
    guard let number = table.places.number(of: column) else { return nil }
    return values.map { table.transport.fieldValue($0[number]) } ?? .null
  }

  private func keep(
    _ state: StoredState,
    of rowKey: RowKey,
    values: [SQLiteValue]?,
    source: RecordStore.Source
  ) throws(SQLiteError) {
    let rules = table.rules
    let renamed = state.renamed(renaming.columns, deletes: rules.deletes)
    var loaded = RecordStore.Loaded()
    loaded.state = renamed.state(deletes: rules.deletes) { self.value(of: $0, in: values) }
    loaded.source = source
    loaded.isStale = true
    if values != nil {
      loaded.unwrittenColumns = renamed.keptOfTable.filter { table.places.number(of: $0) != nil }
    }
    // What this database has added comes back under its own number.
    loaded.state.noteAncestors(of: loaded.state.row?.clock, rules: rules)
    if renaming.isOtherTable { _ = loaded.state.reduce(.zoneReplaced, rules: rules) }
    var row = LoadedRow(
      place: place,
      key: try table.key(rowKey.key),
      rowKey: rowKey,
      values: values,
      loaded: loaded
    )
    if renaming.isOtherTable { row.renameSuccessor(in: table) }
    transaction.keep(row)
  }
}

extension LoadedRow {
  /// Has a row whose key was changed go on as the record that its successor is now.
  fileprivate mutating func renameSuccessor(in table: RecordTable) {
    state.row?
      .renameMoves { name in
        guard let parsed = RecordName.parse(name), case .values(let values) = parsed.key,
          values.count == table.key.count
        else { return name }
        return table.format.key(spelled: values).name
      }
  }
}
