import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The triggers that do the actions of foreign keys where the engine's connection does not enforce them.
///
/// They are persistent like the triggers that capture edits, so everybody's edits have the same
/// consequences, which are captured in their turn. A connection that does enforce foreign keys has
/// done everything when they are called; they find nothing left to do.
///
/// RESTRICT refuses, in SQLite's words, and so does SET DEFAULT to a row that is not there. NO ACTION is
/// checked by SQL at the end of a transaction, where no trigger is called: the row is
/// remembered in `cloudsync_departed`, and the engine settles it by the policy for orphans.
struct ActionTriggers {
  static let prefix = "cloudsync_action_"

  let graph: ActionGraph
  let tables: [RecordTable]

  init(_ tables: [RecordTable], _ references: [TableReference]) {
    let names = Set(tables.map(\.name))
    self.tables = tables
    // SQLite does the actions of the foreign key that was declared last first.
    graph = ActionGraph(
      references.reversed()
        .filter { names.contains($0.parent.name) && names.contains($0.child.name) }
    )
  }

  /// Removes all of them, of whatever schema.
  static func remove(from connection: SQLiteConnection) throws(SQLiteError) {
    for name in try installed(on: connection).keys.sorted() {
      try connection.execute("DROP TRIGGER main.\(name.quotedName)")
    }
    try connection.execute("DROP TABLE IF EXISTS main.cloudsync_circle")
  }

  /// The triggers that are there, with the statements that made them, by name.
  private static func installed(
    on connection: SQLiteConnection
  ) throws(SQLiteError) -> [String: String] {
    let query =
      try connection.prepare(
        "SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger' AND substr(name, 1, ?2) = ?1"
      )
      .bind(prefix, at: 1).bind(Int64(prefix.utf8.count), at: 2)
    let triggers = try query.mapRows { query in (query.text(0) ?? "", query.text(1) ?? "") }
    return Dictionary(triggers, uniquingKeysWith: { first, _ in first })
  }

  /// Makes the triggers where they are not there to the byte: made again, they would have every connection
  /// prepare its statements again.
  ///
  /// - Parameters:
  ///   - connection: The connection.
  ///   - isEnforcing: Whether it enforces foreign keys, and needs none of them.
  /// - Throws: SQLite's reason.
  func install(on connection: SQLiteConnection, isEnforcing: Bool) throws(SQLiteError) {
    let wanted = isEnforcing ? [] : triggers
    let bytes = { (sql: String) in Array(sql.utf8) }
    let there = try Self.installed(on: connection).values.map(bytes)
    if there.count == wanted.count, Set(there) == Set(wanted.map(bytes)) { return }
    // Those of a former schema may name tables that are not there any more.
    try Self.remove(from: connection)
    guard !isEnforcing else { return }
    for statement in statements { try connection.execute(statement.ofMainTrigger) }
  }

  /// The statements that make the triggers.
  var triggers: [String] {
    tables.flatMap { table in
      deletion(of: table) + update(of: table)
        + ActionGraph.Event.allCases.flatMap { circles(of: table, after: $0) }
    }
  }

  /// The statements that make the triggers and the table that circles need.
  var statements: [String] {
    let triggers = triggers
    guard !triggers.isEmpty else { return [] }
    let keys = tables.map(\.schema.primaryKey.count).max() ?? 1
    let values = graph.references.map(\.key.columns.count).max() ?? 1
    let columns = (0..<keys).map { "k\($0)" } + (0..<values).map { "v\($0)" }
    return [
      "CREATE TABLE cloudsync_circle(circle INTEGER, place INTEGER, "
        + columns.joined(separator: ", ") + ")",
      "CREATE INDEX cloudsync_circle_rows ON cloudsync_circle(circle, place, k0)",
    ] + triggers
  }

  /// What is made in either mode: rows that left others behind without enforcement are settled later.
  static let departed = """
    CREATE TABLE cloudsync_departed(
      table_id INTEGER NOT NULL,
      key NOT NULL,
      place INTEGER NOT NULL,
      value,
      PRIMARY KEY(table_id, key, place)
    ) WITHOUT ROWID;
    """

  // MARK: One step

  private func references(to table: RecordTable) -> [TableReference] {
    graph.references.filter { $0.parent.name == table.name }
  }

  private func deletion(of table: RecordTable) -> [String] {
    let references = references(to: table)
    var body: [String] = []
    for reference in references where reference.key.onDelete == .restrict {
      body.append(refusal(by: reference, of: "old"))
    }
    for reference in references where graph.circle(of: reference, on: .delete) == nil {
      let child = reference.child.name.quotedName
      let match = reference.match(parent: "old", child: child)
      switch reference.key.onDelete {
      case .cascade: body.append("DELETE FROM \(child) WHERE \(match);")
      case .setNull: body.append(setting(reference, by: .setNull, where: match))
      case .setDefault:
        body += [missingDefault(reference), setting(reference, by: .setDefault, where: match)]
      case .noAction, .restrict: break
      }
    }
    let leaving = departure(of: table, by: references.filter { leavesRows($0) }, of: "delete")
    return trigger("delete", on: table, at: "AFTER DELETE", when: nil, body: body)
      + trigger("departure", on: table, at: "BEFORE DELETE", when: nil, body: leaving)
  }

  /// Whether a deletion may leave rows behind that refer to nobody, or takes along whoever would.
  ///
  /// Who comes back for them refers to the row in its turn.
  private func leavesRows(_ reference: TableReference) -> Bool {
    var seen: Set<String> = []
    var stack = [reference]
    while let one = stack.popLast() {
      if one.key.onDelete == .noAction { return true }
      guard one.key.onDelete == .cascade, seen.insert(one.child.name).inserted else { continue }
      stack += graph.references.filter { $0.parent.name == one.child.name }
    }
    return false
  }

  private func update(of table: RecordTable) -> [String] {
    let references = references(to: table)
    var body: [String] = []
    for reference in references where reference.key.onUpdate == .restrict {
      body.append(
        refusal(
          by: reference,
          of: "old",
          and: "NOT (\(reference.isSameKey(old: "old", new: "new")))"
        )
      )
    }
    for reference in references where graph.circle(of: reference, on: .update) == nil {
      let match = reference.match(parent: "old", child: reference.child.name.quotedName)
      if reference.key.onUpdate == .setDefault { body.append(missingDefault(reference)) }
      guard reference.values(of: reference.key.onUpdate, new: "new") != nil else { continue }
      let isChanged = "NOT (\(reference.isSameKey(old: "old", new: "new")))"
      body.append(
        setting(reference, by: reference.key.onUpdate, where: "\(isChanged) AND \(match)")
      )
    }
    let kept = references.filter {
      $0.key.onUpdate == .noAction && $0.key.referencedColumns == table.schema.primaryKey
    }
    body += departure(of: table, by: kept, of: "update")
    let changes = Set(references.map { "NOT (\($0.isSameKey(old: "old", new: "new")))" })
      .sortedByBytes()
    return trigger(
      "update",
      on: table,
      at: "AFTER UPDATE",
      when: changes.joined(separator: " OR "),
      body: body
    )
  }

  private func setting(
    _ reference: TableReference,
    by action: TableSchema.Action,
    where condition: String
  ) -> String {
    let values = reference.values(of: action, new: "new") ?? []
    let list = zip(reference.key.columns, values).map { "\($0.quotedName) = \($1)" }
    return "UPDATE \(reference.child.name.quotedName) SET \(list.joined(separator: ", "))"
      + " WHERE \(condition);"
  }

  private static let refusal = "SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed')"

  /// Refuses if any row refers to the old one.
  private func refusal(
    by reference: TableReference,
    of row: String,
    and condition: String = "1"
  ) -> String {
    "\(Self.refusal) FROM \(reference.child.name.quotedName) c"
      + " WHERE \(condition) AND \(reference.match(parent: row, child: "c"));"
  }

  /// Refuses if rows would get a default that refers to no row.
  private func missingDefault(_ reference: TableReference) -> String {
    let defaults = reference.defaults
    let match = zip(reference.key.referencedColumns, defaults)
      .map { "p.\($0.quotedName) = \($1)" }.joined(separator: " AND ")
    let isThere = "EXISTS(SELECT 1 FROM \(reference.parent.name.quotedName) p WHERE \(match))"
    let isNull = defaults.map { "\($0) IS NULL" }.joined(separator: " OR ")
    return refusal(by: reference, of: "old", and: "NOT (\(isNull) OR \(isThere))")
  }

  /// Remembers a row that others still refer to, value by value.
  private func departure(
    of table: RecordTable,
    by references: [TableReference],
    of event: String
  ) -> [String] {
    if references.isEmpty { return [] }
    let isReferred =
      references.map {
        let condition =
          event == "update" ? "NOT (\($0.isSameKey(old: "old", new: "new"))) AND " : ""
        return condition + "EXISTS(SELECT 1 FROM \($0.child.name.quotedName) c"
          + " WHERE \($0.match(parent: "old", child: "c")))"
      }
      .map { "(\($0))" }.joined(separator: " OR ")
    let key = CompoundKey.sql(of: table.captured.key, in: "old")
    return table.schema.writableColumns.enumerated()
      .map { place, column in
        "REPLACE INTO cloudsync_departed(table_id, key, place, value)"
          + " SELECT \(table.id), \(key), \(place), old.\(column.name.quotedName)"
          + " WHERE \(isReferred);"
      }
  }

  func trigger(
    _ name: String,
    on table: RecordTable,
    at moment: String,
    when condition: String?,
    body: [String]
  ) -> [String] {
    if body.isEmpty { return [] }
    // The engine sees to what follows from its own writes, and may take rows out of the table for a while.
    let isOwn = table.captured.isOwn("old")
    let filter = condition.map { "(\($0)) AND NOT \(isOwn)" } ?? "NOT \(isOwn)"
    return [
      """
      CREATE TRIGGER \(Self.prefix)\(name)_\(table.id) \(moment) ON \(table.name.quotedName)
      WHEN \(filter)
      BEGIN
        \(body.joined(separator: "\n  "))
      END
      """
    ]
  }
}
