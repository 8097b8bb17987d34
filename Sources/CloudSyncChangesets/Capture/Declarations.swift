import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The statements that have made a database: its tables, indexes, triggers and views.
///
/// They travel with commits, so that a clone has all that its original has: checks, collations, computed columns,
/// indexes, triggers. What comes from elsewhere is nobody's to run: each statement may make one thing, in the main
/// database, that is stored as it was told, and nothing else.
struct Declarations {
  let connection: HistoryConnection

  /// The longest that one may be.
  private static let longest = 1_000_000
  private static let most = 10_000
  /// What begins the names of tables that are made by those whom they belong to.
  private static let foreignPrefixes = ["sqlite_", "cloudsync_", "changesets_"]
  /// The modules of virtual tables that read nothing but their own tables.
  private static let modules = ["fts3", "fts4", "fts5", "rtree", "rtree_i32", "geopoly"]

  // MARK: Reading

  /// The statements in the order in which they were run, without those of SQLite, of histories and of engines.
  func read(of schema: DatabaseSchema) throws(ChangesetError) -> [String] {
    let objects = try connection.rows(
      "SELECT name, tbl_name, sql FROM main.sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid"
    ) { (name: $0.text(0) ?? "", table: $0.text(1) ?? "", sql: $0.text(2) ?? "") }
    return
      objects.filter { object in
        // A virtual table makes these itself.
        !Self.isForeign(name: object.name) && !Self.isForeign(name: object.table)
          && schema.kind(ofObjectNamed: object.table) != .shadowTable
      }
      .map(\.sql)
  }

  private static func isForeign(name: String) -> Bool {
    foreignPrefixes.contains { name.foldedName.starts(with: $0.utf8) }
  }

  // MARK: Making

  /// Makes what the statements declare, all of it or nothing if the caller undoes a failure.
  func make(_ statements: [String]) throws(ChangesetError) {
    guard statements.count <= Self.most else {
      throw ChangesetError(.schema, "the schema has more than \(Self.most) declarations")
    }
    for sql in statements { try make(statement: sql) }
  }

  private func make(statement sql: String) throws(ChangesetError) {
    let text = SQLText(sql)
    guard sql.utf8.count <= Self.longest, let kind = Self.kind(of: text) else {
      throw Self.refused(text, "is no plain CREATE of a table, an index, a trigger or a view")
    }
    let last = try connection.integer("SELECT max(rowid) FROM main.sqlite_schema") ?? 0
    do throws(SQLiteError) {
      // The first statement alone: whatever followed it would show in what is stored.
      try connection.sqlite.prepare(sql).run()
    } catch { throw Self.refused(text, "cannot be made here (\(error.message))") }
    // The first table with AUTOINCREMENT has SQLite make one of its own beside it.
    let made = try connection.rows(
      """
      SELECT type, name, tbl_name, sql FROM main.sqlite_schema
      WHERE rowid > ?1 AND sql IS NOT NULL AND name <> 'sqlite_sequence'
      ORDER BY rowid
      """,
      .integer(last)
    ) { row in
      (
        type: row.text(0) ?? "", name: row.text(1) ?? "", table: row.text(2) ?? "",
        sql: row.text(3) ?? ""
      )
    }
    let own = made.first { SQLText($0.sql).words == text.words }
    guard let own, own.type == kind.type, !Self.isForeign(name: own.name),
      !Self.isForeign(name: own.table), kind.isVirtual || made.count == 1
    else { throw Self.refused(text, "does not make what it says") }
  }

  /// What a statement makes; nil if it is not for a clone to make.
  private static func kind(of text: SQLText) -> (type: String, isVirtual: Bool)? {
    let tokens = text.meaningfulTokens
    guard tokens.count > 3, text.isWord("CREATE", at: tokens[0]) else { return nil }
    if text.isWord("TABLE", at: tokens[1]) {
      // What is filled as it is made would run a query.
      return text.isSymbol("(", at: tokens[3]) ? ("table", false) : nil
    }
    if text.isWord("VIRTUAL", at: tokens[1]) {
      guard tokens.count > 5, text.isWord("USING", at: tokens[4]),
        let module = text.name(of: tokens[5]),
        modules.contains(where: { $0.isSameName(as: module) })
      else { return nil }
      return ("table", true)
    }
    if text.isWord("INDEX", at: tokens[1]) { return ("index", false) }
    if text.isWord("UNIQUE", at: tokens[1]), text.isWord("INDEX", at: tokens[2]) {
      return ("index", false)
    }
    if text.isWord("TRIGGER", at: tokens[1]) { return ("trigger", false) }
    return text.isWord("VIEW", at: tokens[1]) ? ("view", false) : nil
  }

  private static func refused(_ text: SQLText, _ what: String) -> ChangesetError {
    let words = text.words.prefix(3).joined(separator: " ")
    return ChangesetError(
      .schema,
      "“\(words.prefix(80)) …” \(what); let the app make the tables, begin a history of them, and sync"
    )
  }
}

extension SQLText {
  /// What counts of it, token by token, without semicolons at the end.
  fileprivate var words: [String] {
    var words = meaningfulTokens.map { text($0.range) }
    while words.last == ";" { words.removeLast() }
    return words
  }
}
