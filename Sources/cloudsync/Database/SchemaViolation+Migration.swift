import CloudSyncSQLite

extension SchemaViolation {
  /// Whether `cloudsync migrate` fixes it.
  var isMigrated: Bool {
    sql != nil || code == .integerPrimaryKey || code == .missingPrimaryKey
  }
}

extension SchemaViolation {
  /// A warning of a column that looks like a reference.
  init(_ reference: UndeclaredReference) {
    self.init(
      SchemaViolation.Code(rawValue: "undeclaredReference"),
      table: reference.reference.table,
      column: reference.reference.column,
      reason: reference.reason
        + (reference.canFollow
          ? " Declare it, or name it when the key is migrated."
          : " They cannot follow when the key is migrated."),
      isWarning: true
    )
  }
}

extension SchemaViolation {
  /// How many rows of a foreign key are named.
  private static let shown = 3

  /// Warnings of rows that refer to no row, one for each foreign key.
  static func warnings(of references: [DanglingReference]) -> [SchemaViolation] {
    var keys: [(first: DanglingReference, rows: [String])] = []
    for one in references {
      let place = keys.firstIndex {
        $0.first.table == one.table && $0.first.columns == one.columns
          && $0.first.parentTable == one.parentTable
      }
      if let place { keys[place].rows.append(one.key) } else { keys.append((one, [one.key])) }
    }
    return keys.map { SchemaViolation($0.first, rows: $0.rows) }
  }

  private init(_ reference: DanglingReference, rows: [String]) {
    let columns = reference.columns.map { "\"\($0)\"" }.joined(separator: ", ")
    let more = rows.count > Self.shown ? " and \(rows.count - Self.shown) more" : ""
    let isOne = rows.count == 1
    self.init(
      .danglingReference,
      table: reference.table,
      column: reference.columns.joined(separator: ", "),
      reason:
        "\(isOne ? "Row" : "Rows") \(rows.prefix(Self.shown).joined(separator: ", "))\(more) of \"\(reference.table)\""
        + " \(isOne ? "refers" : "refer") by \(columns) to no row of \"\(reference.parentTable)\": a copy that lacks"
        + " \(isOne ? "it keeps it" : "them keeps them") waiting. Insert what is missing, set \(columns) to NULL,"
        + " or delete the \(isOne ? "row" : "rows").",
      isWarning: true
    )
  }
}

extension SyncEngineOptions {
  /// Whether a table's integer key would have to change.
  func changesKey(of table: String) -> Bool {
    let table = self.table(table)
    return !table.hasUniqueIntegerKeys && !table.givesIntegerKeys
  }
}
