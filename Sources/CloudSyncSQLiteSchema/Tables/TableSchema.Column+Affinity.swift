extension TableSchema.Column {
  /// How SQLite stores what is put into a column.
  package enum Affinity: Sendable {
    case integer
    case text
    case blob
    case real
    case numeric
  }

  /// How the column does it, by the type that it was declared with.
  package var affinity: Affinity {
    let type = String(decoding: self.type.foldedName, as: UTF8.self)
    if type.contains("int") { return .integer }
    if ["char", "clob", "text"].contains(where: type.contains) { return .text }
    if type.isEmpty || type.contains("blob") { return .blob }
    if ["real", "floa", "doub"].contains(where: type.contains) { return .real }
    return .numeric
  }
}
