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
        for link in tables.links(to: place) where link.child != nil {
          found += try link.reference.dangling(on: transaction.connection)
        }
      }
      return found
    }
  }

  /// Finds the rows of some tables that refer to rows which are not there, before these are synchronized.
  ///
  /// Such a row is sent as it is. Devices that enforce foreign keys and do not have it cannot store it: there it is
  /// `waiting`, and in no table, until its parent comes, or somebody mends the reference. So mend what this finds first:
  /// insert the rows that are missing, set the columns to NULL, or delete the rows that refer to nobody.
  ///
  /// - Parameters:
  ///   - database: The database; a connection that can only read is enough.
  ///   - tables: The tables that are to be synchronized.
  /// - Returns: All of them, in the order of the tables and their keys.
  /// - Throws: That the database cannot be read.
  public static func danglingReferences(
    in database: some SyncDatabase,
    tables: [String]
  ) throws(SyncEngineError) -> [DanglingReference] {
    try database.use { (connection) throws(SyncEngineError) in
      try sqlite { () throws(SQLiteError) in
        let isMeant = { (table: TableSchema) in tables.contains { table.name.isSameName(as: $0) } }
        var found: [DanglingReference] = []
        for reference in try DatabaseSchema.read(connection).references
        where isMeant(reference.child) && isMeant(reference.parent) {
          found += try reference.dangling(on: connection)
        }
        return found
      }
    }
  }
}

extension TableReference {
  /// The rows that refer to no row, in the order of their keys; of a table without a key none can be named.
  fileprivate func dangling(
    on connection: SQLiteConnection
  ) throws(SQLiteError) -> [DanglingReference] {
    if child.primaryKey.isEmpty { return [] }
    let names = child.primaryKey.map { "quote(c.\($0.quotedName))" }
      .joined(separator: " || ',' || ")
    let isSet = key.columns.map { "c.\($0.quotedName) IS NOT NULL" }.joined(separator: " AND ")
    let query = try connection.prepare(
      "SELECT \(names) FROM main.\(child.name.quotedName) c WHERE \(isSet)"
        + " AND NOT EXISTS(SELECT 1 FROM main.\(parent.name.quotedName) p"
        + " WHERE \(match(parent: "p", child: "c"))) ORDER BY 1"
    )
    return try query.mapRows { query in
      DanglingReference(
        table: child.name,
        key: query.text(0) ?? "",
        columns: key.columns,
        parentTable: parent.name
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
