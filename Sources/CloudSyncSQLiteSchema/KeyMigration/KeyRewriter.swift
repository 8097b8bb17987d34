import CloudSyncSQLiteSupport

/// Rewrites a table's declaration for new keys.
struct KeyRewriter {
  let table: MigrationPlan.Table
  let domains: [MigrationPlan.Domain]
  let uuids: DerivedUUID
  let keyDefault: String

  private var newKey: String {
    "TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (\(keyDefault))"
  }

  /// The new declaration.
  func sql() throws(KeyMigrationError) -> String {
    guard let declaration = TableDeclaration(table.schema.sql) else {
      throw KeyMigrationError.schema(
        "The declaration of table \(table.schema.name.quotedName) cannot be read: \(table.schema.sql)"
      )
    }
    var edits = DeclarationEdits(declaration)
    var keyName: String?
    if case .integer(let name) = table.key { keyName = name }
    for (name, domain) in table.columns {
      guard let column = declaration.column(named: name) else { continue }
      if name == keyName {
        rewriteKey(column, edits: &edits)
      } else {
        rewriteReference(column, to: domains[domain], in: declaration, edits: &edits)
      }
    }
    if case .autoincrement(let name) = table.key {
      Self.addAutoincrement(to: name, of: declaration, edits: &edits)
    }
    if let name = table.oldKeyColumn { addOldKey(name, to: declaration, edits: &edits) }
    if keyName != nil { edits.removeConstraints { $0.kind == .primaryKey } }
    if case .added(let name) = table.key { addKey(name, to: declaration, edits: &edits) }
    edits.removeUniqueConstraints(of: table.uniqueKeys)
    return edits.result()
  }

  private func rewriteKey(_ column: TableDeclaration.Column, edits: inout DeclarationEdits) {
    // A key that is its parent's has no value of its own to begin with.
    let isReference = table.schema.foreignKeys.contains { $0.columns.contains(column.name) }
    edits.replace(column.type, with: isReference ? "TEXT PRIMARY KEY NOT NULL" : newKey)
    for constraint in column.constraints {
      switch constraint.kind {
      case .primaryKey, .notNull, .null, .defaultValue: edits.remove(constraint.tokens)
      default: break
      }
    }
  }

  private func rewriteReference(
    _ column: TableDeclaration.Column,
    to domain: MigrationPlan.Domain,
    in declaration: TableDeclaration,
    edits: inout DeclarationEdits
  ) {
    if column.type.isEmpty {
      edits.insert(" TEXT", after: column.nameToken)
    } else {
      edits.replace(column.type, with: "TEXT")
    }
    // A default is a key like any other.
    guard let constraint = column.constraint(.defaultValue),
      let value = table.schema.column(named: column.name)?.defaultSQL.flatMap({ Int64($0) })
    else { return }
    let uuid = uuids.text(table: domain.table, key: "\(value)")
    let word = constraint.tokens.first {
      declaration.text.isWord("DEFAULT", at: declaration.tokens[$0])
    }
    guard let word else { return }
    edits.replace(word + 1..<constraint.tokens.upperBound, with: "'\(uuid)'")
  }

  /// Has SQLite remember the greatest key, wherever the declaration makes the column the key.
  private static func addAutoincrement(
    to name: String,
    of declaration: TableDeclaration,
    edits: inout DeclarationEdits
  ) {
    if let constraint = declaration.column(named: name)?.constraint(.primaryKey) {
      return edits.insert(" AUTOINCREMENT", after: constraint.tokens.upperBound - 1)
    }
    for constraint in declaration.constraints where constraint.kind == .primaryKey {
      if let column = constraint.columns.first { edits.insert(" AUTOINCREMENT", after: column) }
    }
  }

  /// Puts a column for the old key behind the last column.
  private func addOldKey(
    _ name: String,
    to declaration: TableDeclaration,
    edits: inout DeclarationEdits
  ) {
    guard let last = declaration.columns.last else { return }
    let start = declaration.tokens[declaration.body.lowerBound].range.upperBound
    let end = declaration.tokens[declaration.body.lowerBound + 1].range.lowerBound
    let space = declaration.text.text(start..<end)
    let gap = space.allSatisfy(\.isWhitespace) && !space.isEmpty ? space : " "
    edits.insert(",\(gap)\(name.quotedName) INTEGER", after: last.tokens.upperBound - 1)
  }

  /// Puts a key before the first column, on a line of its own if that has one.
  private func addKey(
    _ name: String,
    to declaration: TableDeclaration,
    edits: inout DeclarationEdits
  ) {
    let open = declaration.body.lowerBound
    let start = declaration.tokens[open].range.upperBound
    let end = declaration.tokens[open + 1].range.lowerBound
    var space = declaration.text.text(start..<end)
    if !space.allSatisfy(\.isWhitespace) { space = " " }
    let gap = space.isEmpty ? " " : space
    let needsSpace = start == end || !space.allSatisfy(\.isWhitespace)
    edits.insert("\(space)\(name.quotedName) \(newKey),\(needsSpace ? gap : "")", after: open)
  }
}
