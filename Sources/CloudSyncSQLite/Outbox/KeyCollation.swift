import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// How SQLite compares the text of a key's column.
///
/// Collations of the app's own cannot be compared here, so tables with them are not captured.
enum KeyCollation: String, Sendable, Hashable, Codable {
  case binary = "BINARY"
  case noCase = "NOCASE"
  case rightTrim = "RTRIM"

  /// The collation of a name; nil if it is the app's own.
  init?(name: String) {
    let known = [Self.binary, .noCase, .rightTrim].first { $0.rawValue.isSameName(as: name) }
    guard let known else { return nil }
    self = known
  }

  /// A value that is the same for all values which SQLite takes for one key.
  func identity(of value: SQLiteValue) -> SQLiteValue {
    switch value {
    case .real(let number): Int64(exactly: number).map { .integer($0) } ?? value
    case .text(let text): self == .binary ? value : .malformedText(folded(Array(text.utf8)))
    case .malformedText(let bytes): .malformedText(folded(bytes))
    case .null, .integer, .blob: value
    }
  }

  private func folded(_ bytes: [UInt8]) -> [UInt8] {
    switch self {
    case .binary: return bytes
    case .rightTrim:
      let count = bytes.reversed().prefix { $0 == UInt8(ascii: " ") }.count
      return Array(bytes.dropLast(count))
    case .noCase:
      // SQLite compares up to the first NUL, and then the lengths.
      let end = bytes.firstIndex(of: 0) ?? bytes.endIndex
      return bytes.indices.map { index in
        let byte = bytes[index]
        if index >= end { return 0 }
        return (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
      }
    }
  }
}

/// A column of a table's primary key.
struct KeyColumn: Sendable, Hashable, Codable {
  var name: String
  var collation: KeyCollation

  /// Whether two rows have the same value in it, as SQL.
  func isSame(_ row: String, _ other: String) -> String {
    "\(row).\(name.quotedName) IS \(other).\(name.quotedName) COLLATE \(collation.rawValue)"
  }

  /// Reads the key of a table, as SQLite keeps it unique; nil if it has a collation of the app's own.
  static func read(
    of schema: TableSchema,
    in connection: SQLiteConnection
  ) throws(SQLiteError) -> [KeyColumn]? {
    // The key's index may compare otherwise than its columns do.
    let query =
      try connection.prepare(
        """
        SELECT x.name, x.coll FROM pragma_index_list(?1, 'main') l
          JOIN pragma_index_xinfo(l.name, 'main') x
        WHERE l.origin = 'pk' AND x."key"
        """
      )
      .bind(schema.name, at: 1)
    var collations: [(column: String, name: String)] = []
    try query.forEachRow { collations.append((query.text(0) ?? "", query.text(1) ?? "")) }
    var columns: [KeyColumn] = []
    for name in schema.primaryKey {
      let own = collations.first { $0.column.isSameName(as: name) }?.name ?? "BINARY"
      guard let collation = KeyCollation(name: own) else { return nil }
      columns.append(KeyColumn(name: name, collation: collation))
    }
    return columns
  }
}
