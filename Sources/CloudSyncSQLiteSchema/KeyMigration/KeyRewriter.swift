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
