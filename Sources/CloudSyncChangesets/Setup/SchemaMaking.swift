import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Makes and drops all that a database has beside its history.
struct SchemaMaking {
  let connection: HistoryConnection

  /// Drops everything that is not the history's own, SQLite's or an engine's.
  func dropAll() throws(ChangesetError) {
    let foreign =
      "name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'changesets\\_%' ESCAPE '\\'"
    let kinds: [(kind: String, condition: String)] = [
      ("trigger", "type = 'trigger'"), ("view", "type = 'view'"),
      ("table", "type = 'table' AND sql LIKE 'CREATE VIRTUAL%'"), ("table", "type = 'table'"),
    ]
    for (kind, condition) in kinds {
      let names = try connection.rows(
        "SELECT name FROM main.sqlite_schema WHERE \(condition) AND \(foreign) ORDER BY rowid"
      ) { $0.text(0) ?? "" }
      for name in names { try connection.execute("DROP \(kind) main.\(name.quotedName)") }
    }
  }

  /// Makes the tables of a schema as they were declared, or as it describes them.
  func make(_ schema: SchemaDescription) throws(ChangesetError) {
    if !schema.declarations.isEmpty {
      return try Declarations(connection: connection).make(schema.declarations)
    }
    for table in schema.tables { try connection.execute(try TableMaking(table: table).sql()) }
  }
}

/// The declaration of a table that a commit describes.
struct TableMaking {
  let table: SchemaDescription.Table

  /// Nothing of it is SQL of others: names are quoted, types are words, defaults are literals.
  func sql() throws(ChangesetError) -> String {
    var parts: [String] = []
    let key = table.columns.filter { $0.keyPlace > 0 }.sorted { $0.keyPlace < $1.keyPlace }
    for column in table.columns { parts.append(try declaration(column: column)) }
    if !table.hasIntegerKey, !key.isEmpty {
      parts.append("PRIMARY KEY(\(names(names: key.map(\.name))))")
    }
    for unique in table.uniqueKeys {
      guard !unique.isPartial, !unique.columns.contains(nil) else {
        throw unknown(what: "a unique key on expressions or on some rows")
      }
      let terms = zip(unique.columns, unique.collations)
        .map { column, collation in
          "\((column ?? "").quotedName) COLLATE \(collation.quotedName)"
        }
      parts.append("UNIQUE(\(terms.joined(separator: ", ")))")
    }
    for foreign in table.foreignKeys {
      parts.append(
        "FOREIGN KEY(\(names(names: foreign.columns))) REFERENCES"
          + " \(foreign.table.quotedName)(\(names(names: foreign.referencedColumns)))"
          + " ON DELETE \(foreign.onDelete.rawValue) ON UPDATE \(foreign.onUpdate.rawValue)"
      )
    }
    let marks = [table.isWithoutRowID ? "WITHOUT ROWID" : nil, table.isStrict ? "STRICT" : nil]
    return "CREATE TABLE main.\(table.name.quotedName)(\(parts.joined(separator: ", ")))"
      + " \(marks.compactMap { $0 }.joined(separator: ", "))"
  }

  private func declaration(column: SchemaDescription.Column) throws(ChangesetError) -> String {
    if column.isGenerated { throw unknown(what: "the computed column \(column.name.quotedName)") }
    let isWords = column.type.unicodeScalars.allSatisfy {
      $0.isASCII && ($0.properties.isAlphabetic || "0123456789_ (),".unicodeScalars.contains($0))
    }
    guard isWords else { throw unknown(what: "the type of column \(column.name.quotedName)") }
    var text = "\(column.name.quotedName) \(column.type)"
    if table.hasIntegerKey, column.keyPlace == 1 { text += " PRIMARY KEY" }
    if column.isNotNull { text += " NOT NULL" }
    if let sql = column.defaultSQL {
      guard SQLText(sql).isLiteral else {
        throw unknown(what: "the computed default of column \(column.name.quotedName)")
      }
      text += " DEFAULT \(sql)"
    }
    return text
  }

  private func names(names: [String]) -> String {
    names.map(\.quotedName).joined(separator: ", ")
  }

  private func unknown(what: String) -> ChangesetError {
    ChangesetError(
      .schema,
      "table \(table.name.quotedName) has \(what), which commits do not describe; let the app make the"
        + " tables, and sync"
    )
  }
}
