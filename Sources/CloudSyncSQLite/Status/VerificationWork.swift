import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Compares tables with what is known of their rows, and both with the cloud, part by part.
struct VerificationWork: Sendable {
  private(set) var result = SyncVerification()
  /// The rows of which the cloud has a record.
  private var seen: Set<RowKey> = []
  /// Why records could not be read that the cloud has, by their names.
  private var unread: [String: SyncError] = [:]

  // MARK: Tables

  /// Compares a table with what is known of its rows.
  mutating func compareTable(at place: Int, in transaction: SyncTransaction) throws(SQLiteError) {
    let table = transaction.tables[place]
    let connection = transaction.connection
    let known = transaction.stored.known
    let pending = transaction.stored.pending
    let columns = table.columns.map { "t.\($0.quotedName)" }.joined(separator: ", ")
    let filter = table.captured.hasKey("t").map { " WHERE \($0)" } ?? ""
    let rows = try connection.prepare(
      "SELECT \(columns) FROM main.\(table.name.quotedName) t\(filter)"
    )
    try rows.forEachRow { () throws(SQLiteError) in
      let values = table.columns.indices.map { rows.value(Int32($0)) }
      let key = table.key(ofRow: values)
      let rowKey = table.rowKey(of: key)
      result.rows += 1
      if let row = try known.row(rowKey) {
        if row.digest != table.digest(of: values) {
          note(key, of: table, reason: "the row was changed without its triggers")
        }
      } else if try pending.state(of: rowKey) == nil {
        note(key, of: table, reason: "nothing is known of the row")
      }
    }
    try noteGone(at: place, in: transaction)
  }

  private mutating func noteGone(
    at place: Int,
    in transaction: SyncTransaction
  ) throws(SQLiteError) {
    let (table, connection) = (transaction.tables[place], transaction.connection)
    let key = CompoundKey.sql(of: table.captured.key, in: "t")
    let query =
      try connection.prepare(
        "SELECT key FROM cloudsync_known k WHERE table_id = ?1 AND key NOT IN("
          + "SELECT \(key) FROM main.\(table.name.quotedName) t"
          + (table.captured.hasKey("t").map { " WHERE \($0)" } ?? "") + ") ORDER BY key"
      )
      .bind(table.id, at: 1)
    for key in try query.mapRows({ $0.value(0) }) {
      let key = try table.key(key)
      // SQL makes another text of some keys of several columns.
      guard try transaction.row(key, in: place).values == nil else { continue }
      note(key, of: table, reason: "the row was deleted without its triggers")
    }
  }

  // MARK: The cloud

  /// Compares a page of everything with what is here.
  mutating func compare(
    _ page: FetchOperation.Response,
    in transaction: SyncTransaction
  ) throws(SQLiteError) {
    for failure in page.failures { unread[failure.recordID.name] = failure.error }
    for record in page.changedRecords where !ZoneRecord.isName(record.recordID.name) {
      result.records += 1
      try compare(record, in: transaction)
    }
  }

  private mutating func compare(
    _ record: Record,
    in transaction: SyncTransaction
  ) throws(SQLiteError) {
    // Of a table that is not here.
    guard let place = transaction.tables.place(ofType: record.recordType) else { return }
    let table = transaction.tables[place]
    let read: (key: RecordKey, version: RecordVersion)?
    do throws(CodedError) {
      let (key, version) = try table.format.row(of: record)
      read = key.flatMap { key in version.map { (key, $0) } }
      if key == nil, let version, table.format.isOfFormerKey(record, version: version) { return }
    } catch {
      return note(record, reason: "it cannot be read: \(error)")
    }
    guard let (key, version) = read else {
      return note(record, reason: "it is none of a row's of its table")
    }
    if version.clock.isDeleted { result.tombstones += 1 }
    let row = try transaction.row(key, in: place)
    seen.insert(row.rowKey)
    let conversion = ColumnConversion(row: row, table: table, connection: transaction.connection)
    let reason = try difference(of: row, from: record, version: version, conversion: conversion)
    if let reason { note(key, of: table, reason: reason) }
  }

  /// In what a row is not what the cloud has; nil if in nothing, or if that is not settled yet.
  private mutating func difference(
    of row: LoadedRow,
    from record: Record,
    version: RecordVersion,
    conversion: ColumnConversion
  ) throws(SQLiteError) -> String? {
    let table = conversion.table
    guard let mine = row.state.row else {
      return version.clock.isDeleted
        ? nil : "the cloud has the row, and nothing is known of it here"
    }
    if case .violates(_, let reason) = row.state.placement, !row.state.placement.isOfUniqueKey {
      return "the table does not have what the cloud has: \(reason)"
    }
    guard row.state.isInStep else {
      if row.state.filtering == nil { result.openRows += 1 } else { result.localRows += 1 }
      return nil
    }
    guard let known = row.state.known, let tag = record.changeTag,
      UTF8Bytes.equal(known.tag, tag)
    else { return "the cloud has another version than the one that is known here" }
    let isDeleted = row.isDeleted
    if isDeleted, row.values != nil { return "the row is deleted, and still in the table" }
    if isDeleted != version.clock.isDeleted {
      return isDeleted
        ? "the row is deleted here, and not in the cloud"
        : "the row is deleted in the cloud, and not here"
    }
    // That it is gone unseen was said.
    if isDeleted || row.values == nil { return nil }
    let isKnown = { (name: String) in
      mine.value(of: name) != nil || table.columns.contains { UTF8Bytes.equal($0, name) }
    }
    // A column that was dropped here is the cloud's alone.
    let names = Set(mine.columnNames + version.columnNames).filter(isKnown).sortedByBytes()
    var differing: [String] = []
    for name in names {
      if let one = mine.value(of: name), let other = version.value(of: name) {
        if ValueContent.areEqual(one, other) { continue }
        if try conversion.makes(other, of: name) || table.rules.isImage(name, one, other) {
          continue
        }
      }
      differing.append(name)
    }
    if !differing.isEmpty {
      return "the cloud has other values in \(differing.joined(separator: ", "))"
    }
    guard mine.clock.limited(to: isKnown) == version.clock.limited(to: isKnown) else {
      return "the times of the columns differ"
    }
    return Self.absence(in: version, of: table)
  }

  /// Why the file of a column's value is not to be had, which others need; nil if all are there.
  private static func absence(in version: RecordVersion, of table: RecordTable) -> String? {
    guard let absence = table.transport.assets?.options.absence else { return nil }
    for name in version.columnNames {
      let asset: Asset?
      switch version.value(of: name) {
      case .asset(let file)?: asset = file
      case let value: asset = value?.textAsset
      }
      if let asset, let reason = absence(asset) { return "column \(name): \(reason)" }
    }
    return nil
  }

  /// Notes the rows that the cloud should have, and did not tell about.
  mutating func noteMissing(in transaction: SyncTransaction) throws(SQLiteError) {
    for (place, table) in transaction.tables.inOrder.enumerated() {
      let query =
        try transaction.connection
        .prepare(
          """
          SELECT key FROM cloudsync_known WHERE table_id = ?1
          UNION ALL SELECT key FROM cloudsync_pending WHERE table_id = ?1 AND NOT is_dirty
          ORDER BY key
          """
        )
        .bind(table.id, at: 1)
      for rowKey in try query.mapRows({ $0.value(0) }) {
        if seen.contains(RowKey(table: table.id, key: rowKey)) { continue }
        let row = try transaction.row(try table.key(rowKey), in: place)
        // A tombstone may have been purged.
        if row.isDeleted { continue }
        let error = unread[row.key.name]
        let reason = error.map { "the cloud has the row and cannot give it: \($0)" }
        note(row.key, of: table, reason: reason ?? "the cloud does not have the row any more")
      }
    }
  }

  // MARK: Notes

  private mutating func note(_ key: RecordKey, of table: RecordTable, reason: String) {
    result.differences.append(
      SyncVerification.Difference(
        table: table.name,
        key: CompoundKey.literals(of: table.rowKey(key), isCompound: table.key.count > 1),
        recordName: key.name,
        reason: reason
      )
    )
  }

  private mutating func note(_ record: Record, reason: String) {
    result.differences.append(
      SyncVerification.Difference(
        table: nil,
        key: nil,
        recordName: record.recordID.name,
        reason: reason
      )
    )
  }
}

/// What the columns of a table make of the cloud's values, whose type may be another one on the device that has set them.
private struct ColumnConversion {
  let row: LoadedRow
  let table: RecordTable
  let connection: SQLiteConnection

  /// Whether a column would have what it has if it were given a value: SQLite compares by the column's affinity.
  func makes(_ value: FieldValue, of name: String) throws(SQLiteError) -> Bool {
    guard let column = table.schema.column(named: name), !table.schema.keepsValues(in: column),
      case .value(let given)? = ValueCodec.decode(value)
    else { return false }
    let key = row.key.values
    let query = try connection.prepare(
      "SELECT \(name.quotedName) IS ?\(key.count + 1) COLLATE BINARY FROM main.\(table.name.quotedName)"
        + " WHERE \(TableSQL.isRow(of: table.key))"
    )
    for (place, value) in key.enumerated() { query.bind(value, at: Int32(place + 1)) }
    query.bind(given, at: Int32(key.count + 1))
    return try query.mapRows { $0.integer(0) } == [1]
  }
}

extension RecordClock {
  /// The times of some columns alone.
  fileprivate func limited(to isKnown: (String) -> Bool) -> RecordClock {
    var clock = self
    clock.columns.removeAll { !isKnown($0.name) }
    clock.shares.removeAll { !isKnown($0.column) }
    clock.seen.removeAll { !isKnown($0.column) }
    return clock
  }
}
