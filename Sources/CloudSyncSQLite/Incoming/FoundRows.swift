import CloudSyncCore
import CloudSyncSQLiteSupport

/// What became of rows that were sent as they were found.
struct FoundRows: TransactionPart {
  let transaction: SyncTransaction

  /// Takes what became of rows that were sent as they were found.
  ///
  /// - Parameters:
  ///   - found: The rows.
  ///   - response: The answer.
  /// - Returns: The names of those that are clean now, and the others, which are pending.
  /// - Throws: SQLite's reason.
  func settle(
    _ found: [FoundRow],
    with response: ModifyOperation.Response
  ) throws(SQLiteError) -> (settled: Set<String>, others: [SentRow]) {
    if found.isEmpty { return ([], []) }
    var tags: [String: String] = [:]
    for record in response.savedRecords { tags[record.recordID.name] = record.changeTag }
    let pending = stored.pending
    var settled: Set<String> = []
    var others: [SentRow] = []
    for row in found {
      let table = tables[row.table]
      let rowKey = table.rowKey(of: row.key)
      let tag = tags[row.key.name]
      if let tag, transaction.rows[rowKey] == nil, try pending.hasRow(rowKey) == false,
        try stored.known.insert(row.known.with(tag: tag), of: rowKey)
      {
        try stored.longKeys.note(rowKey, named: row.key.name)
        settled.insert(row.key.name)
        continue
      }
      let version = try version(of: row, in: table)
      let present = try self.row(row.key, in: row.table)
      if present.state.row == nil, let values = present.values {
        try reduce(.edited(.found(table.edits(of: values))), of: row.key, in: row.table)
      }
      others.append(
        SentRow(table: row.table, key: row.key, version: version, record: row.record)
      )
    }
    return (settled, others)
  }

  private func version(
    of row: FoundRow,
    in table: RecordTable
  ) throws(SQLiteError) -> RecordVersion {
    do throws(CodedError) {
      if let version = try table.format.version(of: row.record) { return version }
      throw CodedError(place: row.key.name, reason: "it has no clock")
    } catch {
      throw SQLiteError(code: 11, message: "a record that was sent cannot be read: \(error)")
    }
  }
}
