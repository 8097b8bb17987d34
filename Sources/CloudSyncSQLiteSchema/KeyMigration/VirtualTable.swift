import CloudSyncSQLiteSupport

/// A virtual table, as its declaration describes it.
struct VirtualTable {
  let name: String
  /// The module in small letters, such as `fts5`.
  let module: String
  /// The values of arguments such as `content = 'notes'`.
  private let settings: [(name: String, value: String)]

  /// Reads a declaration; nil if it cannot be read.
  init?(name: String, sql: String) {
    let text = SQLText(sql)
    let tokens = text.meaningfulTokens
    guard let using = tokens.firstIndex(where: { text.isWord("USING", at: $0) }),
      using + 1 < tokens.count, let module = text.name(of: tokens[using + 1])
    else { return nil }
    self.name = name
    self.module = module.lowercased()
    settings = tokens.indices.dropFirst(using + 2).dropLast(2)
      .compactMap { place in
        guard text.isSymbol("=", at: tokens[place + 1]),
          let name = text.name(of: tokens[place]), let value = text.name(of: tokens[place + 2])
        else { return nil }
        return (name, value)
      }
  }

  /// Whether it is an index of texts.
  var isTextIndex: Bool { ["fts3", "fts4", "fts5"].contains(module) }

  /// Whether its rows have numbers of their own, by which they are often bound to rows of a table.
  var hasRowNumbers: Bool { isTextIndex || ["rtree", "rtree_i32", "geopoly"].contains(module) }

  /// Whether an argument names something.
  func names(_ name: String) -> Bool { settings.contains { $0.value.isSameName(as: name) } }

  /// The table or view whose texts it indexes without keeping them; nil if it keeps its own.
  var content: String? {
    settings.first { $0.name.isSameName(as: "content") && !$0.value.isEmpty }?.value
  }

  /// The virtual tables of a connection's main database, by name.
  static func all(on connection: SQLiteConnection) throws(SQLiteError) -> [VirtualTable] {
    let query = try connection.prepare(
      """
      SELECT name, sql FROM main.sqlite_schema
      WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL %' ORDER BY name COLLATE BINARY
      """
    )
    return try query.mapRows { query in (name: query.text(0) ?? "", sql: query.text(1) ?? "") }
      .compactMap { VirtualTable(name: $0.name, sql: $0.sql) }
  }
}
