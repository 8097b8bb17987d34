package import CloudSyncSQLiteSupport

extension DatabaseSchema {
  /// Reads the tables of a connection's main database.
  ///
  /// Views, virtual tables and what keeps them, SQLite's own tables and those whose names begin with
  /// `cloudsync_` or `changesets_` are ``otherObjects``. Names of columns and tables in keys are spelled as the tables
  /// spell them.
  package static func read(
    _ connection: SQLiteConnection
  ) throws(SQLiteError) -> DatabaseSchema {
    let reader = SchemaReader(connection: connection)
    var tables: [TableSchema] = []
    var others: [OtherObject] = []
    for object in try reader.objects() {
      if object.kind == .table {
        tables.append(try reader.table(object))
      } else {
        others.append(OtherObject(name: object.name, kind: object.kind))
      }
    }
    var schema = DatabaseSchema(tables: tables, otherObjects: others)
    schema.resolveForeignKeys()
    return schema
  }

  /// Gives foreign keys the names that the tables have and the columns that they leave out.
  private mutating func resolveForeignKeys() {
    for index in tables.indices {
      for place in tables[index].foreignKeys.indices {
        let key = tables[index].foreignKeys[place]
        let parent = table(named: key.table)
        var columns = parent?.primaryKey ?? []
        if let parent, !key.referencedColumns.isEmpty {
          columns = key.referencedColumns.map { parent.column(named: $0)?.name ?? $0 }
        }
        tables[index].foreignKeys[place].table = parent?.name ?? key.table
        tables[index].foreignKeys[place].referencedColumns = columns
        tables[index].foreignKeys[place].columns = key.columns.map {
          tables[index].column(named: $0)?.name ?? $0
        }
      }
    }
  }
}

/// Reads a schema by SQLite's table-valued pragmas, and the declarations for what those leave out.
private struct SchemaReader {
  struct Object {
    var name: String
    var kind: DatabaseSchema.ObjectKind
    var isWithoutRowID: Bool
    var isStrict: Bool
  }

  let connection: SQLiteConnection

  /// Everything that can be named as a table, in the order of its bytes.
  func objects() throws(SQLiteError) -> [Object] {
    let statement = try connection.prepare(
      """
      SELECT name, type, wr, strict FROM pragma_table_list WHERE schema = 'main'
      ORDER BY name COLLATE BINARY
      """
    )
    var objects: [Object] = []
    try statement.forEachRow { () throws(SQLiteError) in
      let name = statement.text(0) ?? ""
      let folded = name.foldedName
      let isInternal = ["sqlite_", "cloudsync_", "changesets_"]
        .contains { folded.starts(with: $0.utf8) }
      let kind: DatabaseSchema.ObjectKind =
        switch statement.text(1) {
        case "view": .view
        case "virtual": .virtualTable
        case "shadow": .shadowTable
        default: isInternal ? .internalTable : .table
        }
      objects.append(
        Object(
          name: name,
          kind: kind,
          isWithoutRowID: statement.integer(2) != 0,
          isStrict: statement.integer(3) != 0
        )
      )
    }
    return objects
  }

  func table(_ object: Object) throws(SQLiteError) -> TableSchema {
    let sql = try declarations(ofType: ["table"], table: object.name).first ?? ""
    let (columns, primaryKey) = try columns(of: object.name, declaration: TableDeclaration(sql))
    let (uniqueKeys, keyIndex) = try uniqueKeys(of: object.name)
    return TableSchema(
      name: object.name,
      columns: columns,
      primaryKey: primaryKey,
      foreignKeys: try foreignKeys(of: object.name),
      uniqueKeys: uniqueKeys,
      isWithoutRowID: object.isWithoutRowID,
      isStrict: object.isStrict,
      // SQLite keeps an index for every key that is not the row's number itself.
      hasIntegerKey: primaryKey.count == 1 && !object.isWithoutRowID && keyIndex == nil,
      sql: sql,
      dependentSQL: try declarations(ofType: ["index", "trigger"], table: object.name),
      foreignlyCollatedKey: try keyIndex.map { (index) throws(SQLiteError) in
        try foreignlyCollated(columnsOf: index, among: columns)
      } ?? []
    )
  }

  /// The columns of an index that it compares otherwise than the table does.
  private func foreignlyCollated(
    columnsOf index: String,
    among columns: [TableSchema.Column]
  ) throws(SQLiteError) -> [String] {
    let (names, collations) = try self.columns(ofIndex: index)
    return zip(names, collations)
      .compactMap { name, collation in
        let own = columns.first { $0.name == name }.map { $0.collation ?? "BINARY" }
        return own?.isSameName(as: collation) == false ? name : nil
      }
  }

  private func declarations(
    ofType types: [String],
    table: String
  ) throws(SQLiteError) -> [String] {
    let statement = try connection.prepare(
      """
      SELECT sql FROM main.sqlite_schema
      WHERE type IN (?2, ?3) AND tbl_name = ?1 COLLATE NOCASE AND sql IS NOT NULL ORDER BY rowid
      """
    )
    statement.bind(table, at: 1)
    for (index, type) in types.enumerated() { statement.bind(type, at: Int32(index + 2)) }
    var texts: [String] = []
    try statement.forEachRow { () throws(SQLiteError) in texts.append(statement.text(0) ?? "") }
    return texts
  }

  private func columns(
    of table: String,
    declaration: TableDeclaration?
  ) throws(SQLiteError) -> (columns: [TableSchema.Column], primaryKey: [String]) {
    let statement = try connection.prepare(
      """
      SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?1, 'main')
      WHERE hidden <> 1 ORDER BY cid
      """
    )
    statement.bind(table, at: 1)
    var columns: [TableSchema.Column] = []
    var key: [(place: Int64, name: String)] = []
    try statement.forEachRow { () throws(SQLiteError) in
      let name = statement.text(0) ?? ""
      let collation = try connection.collation(ofColumn: name, in: table)
      columns.append(
        TableSchema.Column(
          name: name,
          type: statement.text(1) ?? "",
          isNotNull: statement.integer(2) != 0,
          replacesNull: declaration?.replacesNull(name) ?? false,
          defaultSQL: statement.text(3),
          isGenerated: statement.integer(5) != 0,
          collation: collation.isSameName(as: "BINARY") ? nil : collation
        )
      )
      if statement.integer(4) > 0 { key.append((statement.integer(4), name)) }
    }
    return (columns, key.sorted { $0.place < $1.place }.map(\.name))
  }

  /// Foreign keys in the order of their declaration, which is the reverse of SQLite's numbers.
  private func foreignKeys(of table: String) throws(SQLiteError) -> [TableSchema.ForeignKey] {
    let statement = try connection.prepare(
      """
      SELECT id, "table", "from", "to", on_delete, on_update
      FROM pragma_foreign_key_list(?1, 'main') ORDER BY id DESC, seq
      """
    )
    statement.bind(table, at: 1)
    var keys: [TableSchema.ForeignKey] = []
    var last: Int64?
    try statement.forEachRow { () throws(SQLiteError) in
      if last != statement.integer(0) {
        last = statement.integer(0)
        keys.append(
          TableSchema.ForeignKey(
            columns: [],
            table: statement.text(1) ?? "",
            referencedColumns: [],
            onDelete: TableSchema.Action(rawValue: statement.text(4) ?? "") ?? .noAction,
            onUpdate: TableSchema.Action(rawValue: statement.text(5) ?? "") ?? .noAction
          )
        )
      }
      keys[keys.count - 1].columns.append(statement.text(2) ?? "")
      if let column = statement.text(3) { keys[keys.count - 1].referencedColumns.append(column) }
    }
    return keys
  }

  private func uniqueKeys(
    of table: String
  ) throws(SQLiteError) -> (keys: [TableSchema.UniqueKey], keyIndex: String?) {
    let statement = try connection.prepare(
      """
      SELECT name, origin, partial FROM pragma_index_list(?1, 'main') WHERE "unique"
      ORDER BY name COLLATE BINARY
      """
    )
    statement.bind(table, at: 1)
    var keys: [TableSchema.UniqueKey] = []
    var keyIndex: String?
    try statement.forEachRow { () throws(SQLiteError) in
      guard statement.text(1) != "pk" else {
        keyIndex = statement.text(0)
        return
      }
      let name = statement.text(0) ?? ""
      let (columns, collations) = try columns(ofIndex: name)
      keys.append(
        TableSchema.UniqueKey(
          name: name,
          columns: columns,
          collations: collations,
          isPartial: statement.integer(2) != 0,
          isConstraint: statement.text(1) == "u"
        )
      )
    }
    return (keys, keyIndex)
  }

  private func columns(
    ofIndex index: String
  ) throws(SQLiteError) -> (columns: [String?], collations: [String]) {
    let statement = try connection.prepare(
      """
      SELECT cid, name, coll FROM pragma_index_xinfo(?1, 'main') WHERE "key" ORDER BY seqno
      """
    )
    statement.bind(index, at: 1)
    var columns: [String?] = []
    var collations: [String] = []
    try statement.forEachRow { () throws(SQLiteError) in
      columns.append(statement.text(1))
      collations.append(statement.text(2) ?? "BINARY")
    }
    return (columns, collations)
  }
}
