import CloudSyncCore
import CloudSyncSQLiteSupport

/// Finds out whether the cloud takes a row whose values lie aside, after it has refused it as invalid.
///
/// A cloud fixes the kinds of fields, and whether they are encrypted, for all accounts, so a zone may have no record that
/// shows them: a device that begins with a column's new type would be refused for ever. Values that lie aside are taken
/// whatever the column's own field is. The columns that the cloud's reason names are tried, or if it names none all that may be the cause. If
/// it takes a row of the table then, their values lie aside until a record shows the kind; else all is as it was, until
/// the app tries again or has another schema.
struct KindTrial: TransactionPart {
  let transaction: SyncTransaction

  private var kinds: ColumnKinds { ColumnKinds(connection: connection) }

  /// Takes that the cloud has refused a row as invalid.
  func takeRefusal(of row: LoadedRow, because reason: String) throws(SQLiteError) {
    // A record has shown the kind: it is learnt now.
    if try facts.value(.shownKinds) != nil { return }
    let table = tables[row.place]
    let recordType = table.format.recordType
    let trial = try kinds.trial(ofType: recordType)
    if trial == [] { return }
    let suspects = try suspects(in: row)
    let words = Set(reason.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
    let named = suspects.filter { words.contains($0.own) }
    let doubted = trial == nil && named.isEmpty ? suspects : named
    if doubted.isEmpty {
      guard trial != nil else { return }
      try kinds.endTrial(ofType: recordType, hasHelped: false)
    } else {
      let former = doubted.compactMap { column in column.kind.map { (column.column, $0) } }
      try kinds.doubt(Dictionary(former) { $1 }, ofType: recordType)
    }
    transaction.hasOtherKinds = true
  }

  /// Takes that the cloud has saved a row.
  func takeSave(of row: SentRow) throws(SQLiteError) {
    let format = tables[row.table].format
    guard format.hasDoubtedKinds, let trial = try kinds.trial(ofType: format.recordType),
      trial.contains(where: { column in
        guard let aside = format.fields(of: column)?.aside else { return false }
        return row.record.fields.contains { UTF8Bytes.equal($0.name, aside) && !$0.value.isNull }
      })
    else { return }
    try kinds.endTrial(ofType: format.recordType, hasHelped: true)
  }

  /// The columns whose own fields may be of another kind in the cloud than the row's values.
  private func suspects(in row: LoadedRow) throws(SQLiteError) -> [ColumnFields] {
    guard let version = row.state.row else { return [] }
    let table = tables[row.place]
    var suspects: [ColumnFields] = []
    for column in table.format.columns {
      guard let field = table.format.field(of: column, in: version),
        UTF8Bytes.equal(field.name, column.own), try isProven(column, of: table) == false
      else { continue }
      suspects.append(column)
    }
    return suspects
  }

  /// Whether the cloud has a value of a column's kind in its own field, in a record of this device's rows.
  private func isProven(_ column: ColumnFields, of table: RecordTable) throws(SQLiteError) -> Bool {
    // Values that it has there may be in plain, which is not what the row's value is to be.
    guard let kind = column.kind, !table.format.encryptedFields.contains(column.own) else {
      return false
    }
    let key = CompoundKey.sql(of: table.captured.key, in: "t")
    let query = try connection.prepare(
      """
      SELECT 1 FROM main.\(table.name.quotedName) t
        CROSS JOIN cloudsync_known k ON k.table_id = ?1 AND k.key = +(\(key))
      WHERE typeof(t.\(column.column.quotedName)) = ?2 AND k.rest IS NULL LIMIT 1
      """
    )
    return try query.bind(table.id, at: 1).bind(kind.rawValue, at: 2).step()
  }
}
