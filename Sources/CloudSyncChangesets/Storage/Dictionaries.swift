import CloudSyncSQLiteSupport

/// Names and schemas by the numbers that the log has in their place.
struct Dictionaries {
  let connection: HistoryConnection

  // MARK: Names of branches

  func number(ofName name: String) throws(ChangesetError) -> Int64? {
    try connection.integer("SELECT number FROM changesets_names WHERE name = ?1", .text(name))
  }

  /// The number of a name, which is given one if it has none.
  func number(forName name: String) throws(ChangesetError) -> Int64 {
    if let known = try number(ofName: name) { return known }
    try connection.run("INSERT INTO changesets_names(name) VALUES(?1)", .text(name))
    return try connection.integer("SELECT last_insert_rowid()") ?? 0
  }

  func name(number: Int64) throws(ChangesetError) -> String {
    let name = try connection.row(
      "SELECT name FROM changesets_names WHERE number = ?1",
      .integer(number)
    ) { $0.text(0) }
    guard let name, let name else { throw Self.missing(what: "a branch") }
    return name
  }

  // MARK: Schemas

  /// The number of a schema, which is given one if it has none.
  func number(for schema: SchemaDescription) throws(ChangesetError) -> Int64 {
    let id = SQLiteValue.blob(schema.id.digest.bytes)
    let known = try connection.integer("SELECT number FROM changesets_schemas WHERE id = ?1", id)
    if let known { return known }
    try connection.run(
      "INSERT INTO changesets_schemas(id, description) VALUES(?1, ?2)",
      id,
      .blob(schema.bytes)
    )
    return try connection.integer("SELECT last_insert_rowid()") ?? 0
  }

  /// Takes what somebody else tells of a schema's declarations: the last to tell is the nearest to the present.
  func keep(declarationsOf schema: SchemaDescription) throws(ChangesetError) {
    if schema.declarations.isEmpty { return }
    try connection.run(
      "UPDATE changesets_schemas SET description = ?2 WHERE id = ?1 AND description <> ?2",
      .blob(schema.id.digest.bytes),
      .blob(schema.bytes)
    )
  }

  func number(ofSchema id: SchemaID) throws(ChangesetError) -> Int64? {
    try connection.integer(
      "SELECT number FROM changesets_schemas WHERE id = ?1",
      .blob(id.digest.bytes)
    )
  }

  func schemaID(number: Int64) throws(ChangesetError) -> SchemaID {
    let bytes = try connection.row(
      "SELECT id FROM changesets_schemas WHERE number = ?1",
      .integer(number)
    ) { $0.bytes(0) }
    guard let bytes, let digest = Digest(bytes) else { throw Self.missing(what: "a schema") }
    return SchemaID(digest)
  }

  /// All schemas that commits have had.
  func schemas() throws(ChangesetError) -> [SchemaDescription] {
    let numbers = try connection.rows("SELECT number FROM changesets_schemas ORDER BY number") {
      $0.integer(0)
    }
    return try numbers.map { (number) throws(ChangesetError) in try schema(number: number) }
  }

  func schema(number: Int64) throws(ChangesetError) -> SchemaDescription {
    let bytes = try connection.row(
      "SELECT description FROM changesets_schemas WHERE number = ?1",
      .integer(number)
    ) { $0.bytes(0) }
    guard let bytes else { throw Self.missing(what: "a schema") }
    return try reading("a schema of the history") { () throws(ByteFault) in
      try SchemaDescription(bytes: bytes)
    }
  }

  private static func missing(what: String) -> ChangesetError {
    ChangesetError(
      .damaged,
      "the history lacks \(what) that its log names; restore a copy of the database"
    )
  }
}
