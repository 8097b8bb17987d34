import CloudSyncSQLiteSupport

/// Finds the rows that hold a row's values of a unique key, as SQLite compares them.
struct UniqueKeySearch: Sendable {
  /// The columns that the key looks at, in the table's order.
  let columns: [String]
  /// What is compared, as SQL, with its collation; nil for the column's own.
  private let terms: [(sql: String, collation: String?)]
  /// Which rows the key is for, as SQL; nil for all.
  private let predicate: String?

  /// The search for a unique key; nil if its index cannot be read.
  init?(_ key: TableSchema.UniqueKey, of table: TableSchema) {
    let needsText = key.isPartial || key.columns.contains(nil)
    if !needsText {
      columns = key.columns.compactMap { $0 }
      terms = zip(columns, key.collations).map { ($0.quotedName, $1) }
      predicate = nil
      return
    }
    let sql = table.dependentSQL.first {
      TableMending.objectName($0)?.isSameName(as: key.name) == true
    }
    guard let sql, let parts = IndexDeclaration(sql), parts.terms.count == key.columns.count else {
      return nil
    }
    terms = parts.terms.indices.map { place in
      (key.columns[place]?.quotedName ?? "(\(parts.terms[place]))", key.collations[place])
    }
    predicate = parts.predicate
    columns = table.columns.map(\.name)
      .filter { name in
        key.columns.contains(name) || parts.names.contains { $0.isSameName(as: name) }
      }
  }

  /// The search by the primary key, which may hold text to be equal that differs in its bytes.
  init(primaryKeyOf table: TableSchema) {
    columns = table.primaryKey
    terms = columns.map { ($0.quotedName, nil) }
    predicate = nil
  }

  /// The query for the keys of such rows, but for the row itself.
  ///
  /// The candidate is the SQL of the row's value for every writable column.
  func sql(_ table: SyncTable, candidate: [String], ownKey: String) -> String {
    let name = table.name.quotedName
    let columns = zip(candidate, table.schema.writableColumns)
      .map { "\($0) AS \($1.name.quotedName)" }
    let row = "(SELECT \(columns.joined(separator: ", "))) AS \(name)"
    let filter = predicate.map { " WHERE (\($0))" } ?? ""
    let conditions =
      terms.map { term in
        let collation = term.collation.map { " COLLATE \($0.quotedName)" } ?? ""
        return "\(term.sql)\(collation) = (SELECT \(term.sql) FROM \(row)\(filter))"
      } + (predicate.map { ["(\($0))"] } ?? []) + ["NOT (\(ownKey))"]
    let key = table.schema.primaryKey.map(\.quotedName).joined(separator: ", ")
    return
      "SELECT \(key) FROM \(name) WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(key)"
  }
}

/// What the text of CREATE INDEX says.
struct IndexDeclaration {
  /// What is indexed, without the order.
  let terms: [String]
  /// Which rows are; nil if all.
  let predicate: String?
  /// Every name in both.
  let names: [String]

  init?(_ sql: String) {
    let text = SQLText(sql)
    let tokens = text.tokens.filter { $0.kind != .space && $0.kind != .comment }
    guard let on = tokens.firstIndex(where: { text.isWord($0, "ON") }),
      let open = tokens[on...].firstIndex(where: { text.isSymbol($0, "(") })
    else { return nil }
    var terms: [String] = []
    var depth = 0
    var start = open + 1
    var end = open
    for place in tokens.indices[open...] {
      if text.isSymbol(tokens[place], "(") { depth += 1 }
      if text.isSymbol(tokens[place], ")") { depth -= 1 }
      let ends = depth == 0 || depth == 1 && text.isSymbol(tokens[place], ",")
      guard ends else { continue }
      terms.append(Self.term(text, tokens[start..<place]))
      start = place + 1
      end = place
      if depth == 0 { break }
    }
    guard depth == 0, end > open else { return nil }
    self.terms = terms
    let rest = tokens[(end + 1)...]
    if let first = rest.first {
      guard text.isWord(first, "WHERE"), let last = rest.last, rest.count > 1 else { return nil }
      predicate = text.text(rest[rest.startIndex + 1].range.lowerBound..<last.range.upperBound)
    } else {
      predicate = nil
    }
    names = tokens[open...].filter { $0.kind != .string }.compactMap { text.name($0) }
  }

  private static func term(_ text: SQLText, _ tokens: ArraySlice<SQLToken>) -> String {
    var tokens = tokens
    if let last = tokens.last, text.isWord(last, "ASC") || text.isWord(last, "DESC") {
      tokens.removeLast()
    }
    guard let first = tokens.first, let last = tokens.last else { return "" }
    return text.text(first.range.lowerBound..<last.range.upperBound)
  }
}

extension SyncTable {
  /// The searches for all that SQLite keeps unique in a table, the primary key first.
  static func searches(_ schema: TableSchema) -> [UniqueKeySearch] {
    [UniqueKeySearch(primaryKeyOf: schema)]
      + schema.uniqueKeys.compactMap { UniqueKeySearch($0, of: schema) }
  }
}
