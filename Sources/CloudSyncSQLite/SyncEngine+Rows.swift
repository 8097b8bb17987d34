import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension SyncEngine {
  /// Finds the rows of the synchronized tables that refer to rows which are not there.
  ///
  /// Where foreign keys are not enforced a row is stored when it comes, whether or not its parent is there.
  /// Usually the parent comes later. A reference that stays was made without enforcement, or its
  /// parent has never been sent; devices that enforce foreign keys keep such a row as `waiting` in
  /// `cloudsync_status`, and apply it when the parent comes.
  ///
  /// - Returns: All of them, in the order of the tables and their keys.
  /// - Throws: That the database cannot be read.
  public func danglingReferences() throws(SyncEngineError) -> [DanglingReference] {
    try control.transaction { (transaction) throws(SQLiteError) in
      var found: [DanglingReference] = []
      let tables = transaction.tables
      for place in tables.inOrder.indices {
        for link in tables.links(to: place) {
          guard let child = link.child else { continue }
          found += try Self.dangling(
            by: link,
            of: tables[child],
            on: transaction.connection
          )
        }
      }
      return found
    }
  }

  private static func dangling(
    by link: TableLink,
    of child: RecordTable,
    on connection: SQLiteConnection
  ) throws(SQLiteError) -> [DanglingReference] {
    let key = child.key.map { "quote(c.\($0.quotedName))" }.joined(separator: " || ',' || ")
    let isSet = link.columns.map { "c.\($0.quotedName) IS NOT NULL" }
    let parent = link.reference.parent.name
    let query = try connection.prepare(
      "SELECT \(key) FROM main.\(child.name.quotedName) c WHERE \(isSet.joined(separator: " AND "))"
        + " AND NOT EXISTS(SELECT 1 FROM main.\(parent.quotedName) p"
        + " WHERE \(link.reference.match(parent: "p", child: "c"))) ORDER BY 1"
    )
    return try query.mapRows { query in
      DanglingReference(
        table: child.name,
        key: query.text(0) ?? "",
        columns: link.columns,
        parentTable: parent
      )
    }
  }
}

extension SyncEngine {
  /// The rows that are left out because their primary keys hold NULL, table by table.
  ///
  /// - Parameter limit: How many are returned of each table at most.
  /// - Returns: The rows, by their numbers.
  /// - Throws: That the database cannot be read.
  public func unnamedRows(limit: Int = 1_000) throws(SyncEngineError) -> [UnnamedRow] {
    try context.database.use { [tables = control.tables] (connection) throws(SyncEngineError) in
      try sqlite { () throws(SQLiteError) in
        var rows: [UnnamedRow] = []
        for table in tables.inOrder {
          rows += try table.schema.unnamedRows(limit: limit, in: connection)
        }
        return rows
      }
    }
  }
}
