import CloudSyncSQLiteSupport

extension HistoryWork {
  /// Whether the rows of the tables here can become those of a commit.
  func knows(_ row: LogRow) throws(ChangesetError) -> Bool {
    guard try knows(schema: row.schema) else { return false }
    return try constantDropped(before: row) == nil
  }

  /// A column here with a constant, that was dropped on the way to a commit; nil if there is none.
  ///
  /// What rows hold in it there nobody can tell: those that had it are said to hold NULL, and those that others have inserted
  /// without it the constant. So such a commit is beyond this version of the app.
  func constantDropped(
    before row: LogRow
  ) throws(ChangesetError) -> (table: String, column: String)? {
    if try dictionaries.schemaID(number: row.schema) == tables.id { return nil }
    let theirs = try dictionaries.schema(number: row.schema)
    let constants = [
      try tables.defaults.fills(of: tables),
      try Fills.read(connection).restricted(to: tables.description),
    ]
    var lacking: [(table: String, column: String)] = []
    for (table, columns) in constants.flatMap(\.tables) {
      guard let known = theirs.table(table) else { continue }
      for (column, value) in columns where value != .null && known.column(column) == nil {
        lacking.append((table, column))
      }
    }
    if lacking.isEmpty { return nil }
    lacking.sort { ($0.table, $0.column) < ($1.table, $1.column) }
    for number in try log.schemas(before: row.seq) {
      let schema = try dictionaries.schema(number: number)
      let dropped = lacking.first { schema.table($0.table)?.column($0.column) != nil }
      if let dropped { return dropped }
    }
    return nil
  }
}
