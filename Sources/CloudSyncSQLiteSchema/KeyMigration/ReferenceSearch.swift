package import CloudSyncSQLiteSupport

/// Looks for columns that hold other tables' integer keys without declaring it, by their names and by their values.
package struct ReferenceSearch {
  private let schema: DatabaseSchema
  private let connection: SQLiteConnection
  /// The tables whose keys change, with their keys.
  private let parents: [(table: TableSchema, key: String)]

  /// So many different values are no keys by chance.
  private static let manyValues: Int64 = 10
  /// One value says nothing of a column: flags have it too.
  private static let fewValues: Int64 = 2
  /// How the names of references end.
  private static let endings = ["id", "ref", "fk", "key", "by"]
  /// What keys are called that do not tell of their table.
  private static let plainKeys: Set<String> = ["id", "rowid", "key", "uid", "no", "nr", "num"]

  /// Looks in a database for references to the integer keys of some tables.
  package init(
    _ schema: DatabaseSchema,
    to tables: [String],
    on connection: SQLiteConnection
  ) {
    self.schema = schema
    self.connection = connection
    parents = schema.tables.compactMap { table in
      guard tables.contains(where: { $0.isSameName(as: table.name) }),
        let key = MigrationPlan.integerKey(of: table)
      else { return nil }
      return (table, key)
    }
  }

  /// What looks like a reference, table by table.
  package func run() throws(SQLiteError) -> [UndeclaredReference] {
    var found: [UndeclaredReference] = []
    for table in schema.tables {
      for column in table.writableColumns where isOpen(column, of: table) {
        if let one = try best(for: column, of: table) { found.append(one) }
      }
    }
    for virtual in try VirtualTable.all(on: connection) where virtual.hasRowNumbers {
      if let one = try? bound(virtual) { found.append(one) }
    }
    return found
  }

  /// The tables whose keys a virtual table's row numbers are; throws where its module is missing.
  private func bound(_ virtual: VirtualTable) throws(SQLiteError) -> UndeclaredReference? {
    let count = try connection.integer("SELECT count(*) FROM main.\(virtual.name.quotedName)")
    var whole: [String] = []
    for parent in parents where count > 0 && parent.table.hasIntegerKey {
      if try isWhole("rowid", of: virtual.name, in: parent) { whole.append(parent.table.name) }
    }
    // An index is mostly called as what it is of.
    let name = Self.plain(virtual.name)
    let nearest = whole.firstIndex { name.contains(Self.plain($0)) } ?? whole.startIndex
    guard whole.indices.contains(nearest) else { return nil }
    var found = UndeclaredReference(
      reference: KeyReference(
        table: virtual.name,
        column: "rowid",
        parentTable: whole.remove(at: nearest)
      ),
      evidence: .values,
      rows: Int(count),
      matches: Int(count),
      canFollow: false
    )
    found.otherParents = whole
    return found
  }

  /// Whether nothing is declared of a column, and it can hold integers.
  private func isOpen(_ column: TableSchema.Column, of table: TableSchema) -> Bool {
    let isOwnKey = table.primaryKey.count == 1 && table.primaryKey[0].isSameName(as: column.name)
    let isDeclared = table.foreignKeys.contains { key in
      key.columns.contains { $0.isSameName(as: column.name) }
        && schema.table(named: key.table) != nil
    }
    return !isOwnKey && !isDeclared && column.affinity != .real
  }

  private func best(
    for column: TableSchema.Column,
    of table: TableSchema
  ) throws(SQLiteError) -> UndeclaredReference? {
    let name = Self.plain(column.name)
    let named = parents.first {
      Self.names(of: $0.table, key: $0.key, seenFrom: table).contains(name)
    }
    if let named, let one = try compare(column, of: table, with: named, evidence: .name),
      one.matches > 0 || one.rows == 0
    {
      return one
    }
    // What another table is called after, whose keys stay as they are, has nothing to follow.
    let isOfOther = schema.tables.contains { other in
      !parents.contains { $0.table.name == other.name }
        && Self.names(of: other, key: other.primaryKey.first ?? "", seenFrom: table)
          .contains(name)
    }
    if isOfOther { return nil }
    // Text is a key only where the name says so.
    if column.affinity == .text { return nil }
    let hasEnding = Self.endings.contains { name.hasSuffix($0) }
    let count = hasEnding ? Self.manyValues : try distinctCount(of: column, in: table)
    if count < Self.fewValues { return nil }
    var whole: [(table: TableSchema, key: String)] = []
    for parent in parents where try isWhole(column.name.quotedName, of: table.name, in: parent) {
      whole.append(parent)
    }
    let evidence = count < Self.manyValues ? UndeclaredReference.Evidence.guess : .values
    guard let parent = whole.first,
      var first = try compare(column, of: table, with: parent, evidence: evidence), first.rows > 0
    else { return nil }
    first.otherParents = whole.dropFirst().map(\.table.name)
    return first
  }

  /// Whether all values of a column are keys of a table: it ends with the first that is none.
  private func isWhole(
    _ column: String,
    of table: String,
    in parent: (table: TableSchema, key: String)
  ) throws(SQLiteError) -> Bool {
    let value = "child.\(column)"
    return try connection.integer(
      """
      SELECT NOT EXISTS(
        SELECT 1 FROM main.\(table.quotedName) AS child
        WHERE \(value) IS NOT NULL AND NOT EXISTS(
          SELECT 1 FROM main.\(parent.table.name.quotedName) AS parent
          WHERE parent.\(parent.key.quotedName) = \(value)))
      """
    ) == 1
  }

  private func compare(
    _ column: TableSchema.Column,
    of table: TableSchema,
    with parent: (table: TableSchema, key: String),
    evidence: UndeclaredReference.Evidence
  ) throws(SQLiteError) -> UndeclaredReference? {
    let value = "child.\(column.name.quotedName)"
    let query = try connection.prepare(
      """
      SELECT count(*), total(EXISTS(
        SELECT 1 FROM main.\(parent.table.name.quotedName) AS parent
        WHERE parent.\(parent.key.quotedName) = \(value)))
      FROM main.\(table.name.quotedName) AS child WHERE \(value) IS NOT NULL
      """
    )
    var counts = (rows: 0, matches: 0)
    try query.forEachRow { counts = (Int(query.integer(0)), Int(query.integer(1))) }
    return UndeclaredReference(
      reference: KeyReference(
        table: table.name,
        column: column.name,
        parentTable: parent.table.name
      ),
      evidence: evidence,
      rows: counts.rows,
      matches: counts.matches
    )
  }

  private func distinctCount(
    of column: TableSchema.Column,
    in table: TableSchema
  ) throws(SQLiteError) -> Int64 {
    let name = column.name.quotedName
    // No more than needed: the table may be large.
    return try connection.integer(
      """
      SELECT count(*) FROM (SELECT DISTINCT \(name) FROM main.\(table.name.quotedName)
      WHERE typeof(\(name)) = 'integer' LIMIT \(Self.manyValues))
      """
    )
  }

  // MARK: Names

  /// A name without case and signs: `customer_id` and `CustomerID` are one.
  private static func plain(_ name: String) -> String {
    String(name.lowercased().filter { $0.isLetter || $0.isNumber })
  }

  /// What a column is called that refers to a table.
  private static func names(
    of table: TableSchema,
    key: String,
    seenFrom child: TableSchema
  ) -> Set<String> {
    let name = plain(table.name)
    var stems = [name]
    if name.hasSuffix("ies") { stems.append(name.dropLast(3) + "y") }
    if name.hasSuffix("es") { stems.append(String(name.dropLast(2))) }
    if name.hasSuffix("s") { stems.append(String(name.dropLast())) }
    // A row of a table may be below another one of it.
    if table.name == child.name { stems.append("parent") }
    let plainKey = plain(key)
    var names: Set<String> = plainKeys.contains(plainKey) ? [] : [plainKey]
    for stem in stems {
      names.formUnion([stem, stem + plainKey, plainKey + stem])
      for ending in endings where ending != "by" {
        names.formUnion([stem + ending, ending + stem])
      }
    }
    // A table's own columns are not called as it is.
    return table.name == child.name ? names.subtracting([name, plainKey]) : names
  }
}
