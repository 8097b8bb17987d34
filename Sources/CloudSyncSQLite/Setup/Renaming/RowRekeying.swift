import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Rows of a table that has another key since a migration: one of other columns, or with another collation.
///
/// Most are other records in the cloud then, which it does not have. What is known of the rows is carried over, so that
/// an edit which another device has sent under the former key meets those of this one by their times when that device
/// migrates too, and what was not sent yet is.
struct RowRekeying: TransactionPart {
  let transaction: SyncTransaction
  /// The table as it was registered.
  let former: RegisteredTable
  /// The place of the table as it is now among the transaction's.
  let place: Int

  private static let pageSize = 1_000

  private var table: RecordTable { tables[place] }

  private var rows: CarriedRows {
    CarriedRows(transaction: transaction, place: place, formerColumns: former.columns)
  }

  /// Carries over all that can be found under the new key.
  ///
  /// Without the columns of the former key nothing can: the rows count as found.
  func rekey() throws(SQLiteError) {
    guard former.key.allSatisfy({ table.schema.column(named: $0.name) != nil }) else { return }
    try carryRows()
    try carryRest()
  }

  // MARK: Rows of the table

  private func carryRows() throws(SQLiteError) {
    let columns = table.columns.map { "t.\($0.quotedName)" }.joined(separator: ", ")
    let filter = table.captured.hasKey("t").map { " WHERE \($0)" } ?? ""
    let query = try connection.prepare(
      "SELECT \(columns), \(CompoundKey.sql(of: former.key, in: "t"))"
        + " FROM main.\(table.name.quotedName) t\(filter)"
    )
    var count = 0
    while try query.step() {
      let values = table.columns.indices.map { query.value(Int32($0)) }
      try carry(values, from: query.value(Int32(table.columns.count)))
      count += 1
      if count % Self.pageSize == 0 { try transaction.finish() }
    }
    try transaction.finish()
  }

  /// Carries over what is known of a row, which is forgotten under its former key: of several rows that had one key before
  /// one goes on.
  private func carry(
    _ values: [SQLiteValue],
    from rowKey: SQLiteValue
  ) throws(SQLiteError) {
    let formerKey = RowKey(table: former.id, key: rowKey)
    let key = table.key(ofRow: values)
    let isOther = UTF8Bytes.equal(name(ofFormer: rowKey), key.name) == false
    if let state = try stored.pending.state(of: formerKey) {
      try rows.keep(state, of: key, values: values, source: .pending, isOtherRecord: isOther)
      return try stored.pending.remove(formerKey)
    }
    guard let known = try stored.known.row(formerKey),
      let state = try rows.state(of: known, key: rowKey, values: values)
    else { return }
    try rows.keep(
      state,
      of: key,
      values: values,
      source: .known,
      digest: known.digest,
      isOtherRecord: isOther
    )
    if isOther, known.digest != table.digest(of: values) { try noteEdit(of: key, values: values) }
    try stored.known.remove(formerKey)
  }

  /// Notes that a row was edited unseen: which columns they are nobody tells any more, for its old record is not fetched.
  ///
  /// All count as set just after the version that was known, and after a conversion of that: so they outrank it on other
  /// devices, and no edit.
  private func noteEdit(of key: RecordKey, values: [SQLiteValue]) throws(SQLiteError) {
    let version = try row(key, in: place).state.row
    for edit in table.edits(of: values)
    where table.rules.isCounter(edit.name) == false && !table.key.contains(edit.name) {
      guard let known = version?[edit.name] else { continue }
      let time = known.time.successor.successor
      try reduce(.edited(.updated([edit], at: time)), of: key, in: place)
    }
  }

  // MARK: The rest

  /// Carries over what is known of rows that are not in the table: they wait, are deleted, or were deleted by the migration.
  private func carryRest() throws(SQLiteError) {
    for rowKey in try stored.pending.keys(in: former.id) {
      guard let state = try stored.pending.state(of: RowKey(table: former.id, key: rowKey)) else {
        continue
      }
      try carry(state, from: rowKey, source: .pending)
    }
    try transaction.finish()
    var last: SQLiteValue?
    while true {
      let page = try stored.known.rows(of: former.id, after: last, limit: Self.pageSize)
      for (rowKey, known) in page {
        guard let state = try rows.state(of: known, key: rowKey, values: nil) else { continue }
        try carry(state, from: rowKey, source: .known)
      }
      try transaction.finish()
      last = page.last?.key
      if page.count < Self.pageSize { return }
    }
  }

  private func carry(
    _ state: StoredState,
    from rowKey: SQLiteValue,
    source: RecordStore.Source
  ) throws(SQLiteError) {
    guard let key = try key(of: state, formerly: rowKey),
      // Two rows may have one key now.
      try row(key, in: place).source == .unknown, try row(key, in: place).state.row == nil
    else { return }
    let isOther = UTF8Bytes.equal(name(ofFormer: rowKey), key.name) == false
    let values = try table.rows(on: connection).values(of: key.values)
    try rows.keep(state, of: key, values: values, source: source, isOtherRecord: isOther)
  }

  /// The key that a row has now, of what is known of it; nil if that does not tell.
  private func key(
    of state: StoredState,
    formerly rowKey: SQLiteValue
  ) throws(SQLiteError) -> RecordKey? {
    let values = formerValues(of: rowKey)
    var key: [SQLiteValue] = []
    for name in table.key {
      if let number = former.key.firstIndex(where: { $0.name.isSameName(as: name) }) {
        guard number < values.count else { return nil }
        key.append(values[number])
      } else if let field = state.keptValue(of: name),
        case .value(let value)? = ValueCodec.decode(field), value != .null
      {
        key.append(value)
      } else {
        return nil
      }
    }
    return table.format.key(spelled: key)
  }

  // MARK: Former keys

  private func formerValues(of rowKey: SQLiteValue) -> [SQLiteValue] {
    former.key.count == 1 ? [rowKey] : CompoundKey.values(of: rowKey) ?? []
  }

  /// The name of the record that a row had under its former key.
  private func name(ofFormer rowKey: SQLiteValue) -> String {
    RecordKey(
      spelled: formerValues(of: rowKey),
      collations: former.key.map(\.collation),
      recordType: table.format.recordType
    )
    .name
  }
}
