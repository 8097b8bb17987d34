import CloudSyncCore
import CloudSyncSQLiteSupport

/// Makes a table's row what a version says; what SQLite refuses is told, and the row stays as it was.
struct RowWriter {
  let table: RecordTable
  let connection: SQLiteConnection
  /// Whether triggers of the app's may be called: what one has done before it fails is undone.
  let mayCallTriggers: Bool
  /// What a trigger is known to roll back the whole transaction over.
  let rolledBack: RolledBackWrites

  init(of table: RecordTable, in transaction: SyncTransaction, mayCallTriggers: Bool) {
    self.table = table
    connection = transaction.connection
    self.mayCallTriggers = mayCallTriggers
    rolledBack = transaction.retouched.rolledBack
  }

  /// A column with what it is to hold.
  typealias Change = (column: String, value: SQLiteValue)

  private var rows: TableRows { table.rows(on: connection) }

  /// A value that is of no kind that a column can hold: SQLite's code for a datatype that does not match.
  private static let mismatch: Int64 = 20
  private static let constraint: Int64 = 19
  private static let foreignKey: Int64 = 787
  /// What SQLite would say at a transaction's end.
  static let unresolvedReference = SQLiteError(
    code: Int32(foreignKey),
    message: "FOREIGN KEY constraint failed"
  )
  /// A trigger that ignores what it is to write: SQLite's code for one that says no.
  private static let ignored: Int64 = 1_811

  /// Writes a row, or deletes it.
  ///
  /// - Parameters:
  ///   - version: The row as it is to be; nil if it is to be gone.
  ///   - key: The values of its key.
  ///   - values: What the table has now; nil if it has no such row.
  ///   - isNewLife: Whether what the table has is of a row that has ended: of that nothing stays.
  /// - Returns: Where the row is then, and what its columns are to hold.
  /// - Throws: SQLite's reason, unless it is about this row's values alone.
  func write(
    _ version: RecordVersion?,
    key: [SQLiteValue],
    values: [SQLiteValue]?,
    isNewLife: Bool = false
  ) throws(SQLiteError) -> (placement: Placement, wanted: [Change]) {
    let write = RolledBackWrites.Write(table: table.name, key: key, isDeletion: version == nil)
    if mayCallTriggers, let error = rolledBack.error(of: write) {
      return (violation(error, key: key, isDeletion: write.isDeletion), [])
    }
    if let version, let column = foreignColumn(of: version) {
      let reason = "the value of column \(column.quotedName) is of a kind that no column can hold"
      return (violation(code: Self.mismatch, reason: reason, key: key), [])
    }
    do throws(SQLiteError) {
      let wanted = try version.map { (version) throws(SQLiteError) in
        try self.wanted(by: version, over: values) + (isNewLife ? defaults(beside: version) : [])
      }
      for change in wanted ?? [] where try connection.keeps(change.value) == false {
        let reason =
          "the text of column \(change.column.quotedName) is one that a database in UTF-16 cannot hold"
        return (violation(code: Self.mismatch, reason: reason, key: key), [])
      }
      let body = { () throws(SQLiteError) in try change(to: wanted, key: key, from: values) }
      // Of a trigger that fails rather than aborts, what it has done so far would stay.
      let isDone = mayCallTriggers ? try connection.transaction(body) : try body()
      if isDone { return (.inTable, wanted ?? []) }
      return (
        violation(code: Self.ignored, reason: "a trigger of the table ignores it", key: key), []
      )
    } catch {
      guard error.isRefusal || mayCallTriggers && error.isOfTrigger else { throw error }
      guard connection.isInTransaction else {
        rolledBack.note(write, error: error)
        throw explained(error, at: key)
      }
      return (violation(error, key: key, isDeletion: write.isDeletion), [])
    }
  }

  /// Whether a row was written, or had to be.
  private func change(
    to wanted: [Change]?,
    key: [SQLiteValue],
    from values: [SQLiteValue]?
  ) throws(SQLiteError) -> Bool {
    guard let wanted else {
      if values == nil { return true }
      try rows.delete(key)
      return connection.changeCount > 0
    }
    guard let values else {
      try rows.insert(withKey(key, beside: wanted))
      return connection.changeCount > 0
    }
    let changes = wanted.filter { change in
      table.places.number(of: change.column).map { values[$0] != change.value } ?? false
    }
    if changes.isEmpty { return true }
    try rows.update(key, with: changes)
    return connection.changeCount > 0
  }

  /// The columns that the table has, with what they are to hold.
  private func wanted(
    by version: RecordVersion,
    over values: [SQLiteValue]?
  ) throws(SQLiteError) -> [Change] {
    var wanted: [Change] = []
    for name in table.columns {
      guard let value = try table.stored(name, of: version, over: values) else { continue }
      // A key is never NULL: SQLite would make one up.
      if value == .null, table.key.contains(name) { continue }
      wanted.append((name, value))
    }
    return wanted
  }

  /// What columns get that a new row does not know, as far as their defaults are constant.
  private func defaults(beside version: RecordVersion) -> [Change] {
    zip(table.columns, table.defaults)
      .compactMap { name, value in
        guard version.value(of: name) == nil, !table.key.contains(name) else { return nil }
        return value.map { (column: name, value: $0) }
      }
  }

  /// The key as its columns spell it, or as the record's name tells it.
  private func withKey(_ key: [SQLiteValue], beside wanted: [Change]) -> [Change] {
    let missing = zip(table.key, key).filter { name, _ in !wanted.contains { $0.column == name } }
    return missing.map { (column: $0, value: $1) } + wanted
  }

  // MARK: Refusals

  /// A column whose value is of no kind that any column can hold.
  private func foreignColumn(of version: RecordVersion) -> String? {
    table.columns.first { name in
      version.value(of: name).map { ValueCodec.decode($0) == nil } ?? false
    }
  }

  /// That a trigger has deleted the row which was just written: it is tried again only if it changes, or the schema.
  func removal(of key: [SQLiteValue]) -> Placement {
    violation(code: Self.constraint, reason: "a trigger deletes it as it comes", key: key)
  }

  /// That a row refers to itself by another spelling of its key.
  func selfReference(of key: [SQLiteValue]) -> Placement {
    let reason =
      "it refers to itself by another spelling of its key, which SQLite refuses; spell both alike"
    return violation(code: Self.constraint, reason: reason, key: key)
  }

  /// That rows of a table which is not synchronized refer to what is to be changed: SQLite would refuse the whole
  /// transaction.
  func reference(to key: [SQLiteValue], from other: String) -> Placement {
    let reason =
      "rows of table \(other.quotedName), which this engine does not synchronize, refer to what it had"
    return violation(code: Self.foreignKey, reason: reason, key: key)
  }

  private func violation(
    _ error: SQLiteError,
    key: [SQLiteValue],
    isDeletion: Bool
  ) -> Placement {
    violation(code: Int64(error.code), reason: error.message, key: key, isDeletion: isDeletion)
  }

  private func violation(
    code: Int64,
    reason: String,
    key: [SQLiteValue],
    isDeletion: Bool = false
  ) -> Placement {
    let verb = isDeletion ? "deleted" : "stored"
    return .violates(code: code, reason: "\(described(key: key)) cannot be \(verb): \(reason)")
  }

  /// The error of a trigger that has rolled the whole transaction back.
  private func explained(_ error: SQLiteError, at key: [SQLiteValue]) -> SQLiteError {
    SQLiteError(
      code: error.code,
      message: "a trigger has rolled back what came from the cloud, at \(described(key: key)):"
        + " \(error.message); use RAISE(ABORT, …) in triggers of \(table.name)",
      sql: error.sql
    )
  }

  /// A row by its record and its table, for the words of an error.
  private func described(key: [SQLiteValue]) -> String {
    "record \(table.format.key(spelled: key).name) of table \(table.name.quotedName)"
  }
}
