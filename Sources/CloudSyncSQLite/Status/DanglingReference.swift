import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// A row that refers to a row which is not there.
public struct DanglingReference: Sendable, Hashable, CustomStringConvertible {
  /// The row's table.
  public let table: String
  /// The row's key: its value, or the values of several columns joined by commas, as SQL literals.
  public let key: String
  /// The columns of the foreign key.
  public let columns: [String]
  /// The table that the foreign key refers to.
  public let parentTable: String

  /// The table, the key and the reference in one line.
  public var description: String {
    "row \(key) of \(table) refers by \(columns.joined(separator: ", ")) to no row of \(parentTable)"
  }
}

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
    try transaction { (transaction) throws(SQLiteError) in
      var found: [DanglingReference] = []
      let tables = transaction.tables
      for place in tables.inOrder.indices {
        for link in tables.links(to: place) {
          guard let child = link.child else { continue }
          found += try Self.dangling(link, tables[child], transaction.connection)
        }
      }
      return found
    }
  }

  private static func dangling(
    _ link: TableLink,
    _ child: RecordTable,
    _ connection: SQLiteConnection
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
