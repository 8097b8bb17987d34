import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Several values as one text, as the engine's tables have the key of more than one column.
///
/// Each value is followed by a semicolon, so that no two keys have one text:
///
/// | value | text |
/// |---|---|
/// | NULL | `n` |
/// | integer | `i` and the number |
/// | real | `r` and the number |
/// | text | `s` and the text, with `~0` for each tilde and `~1` for each semicolon |
/// | BLOB | `b` and its bytes as hexadecimal digits |
///
/// SQL makes the same text of the same key (``sql(of:in:)``), but for reals that are not whole. No length is in it: what SQLite
/// counts depends on the database's encoding.
enum CompoundKey {
  /// The text of values that stand for all equal ones.
  static func text(of values: [SQLiteValue]) -> SQLiteValue {
    var bytes: [UInt8] = []
    for value in values {
      switch value {
      case .null: bytes += "n".utf8
      case .integer(let number): bytes += "i\(number)".utf8
      case .real(let number): bytes += "r\(number)".utf8
      case .text(let text): append(text: text.utf8, to: &bytes)
      case .malformedText(let text): append(text: text, to: &bytes)
      case .blob(let blob): bytes += "b\(Hexadecimal.text(of: blob))".utf8
      }
      bytes.append(UInt8(ascii: ";"))
    }
    return bytes.withUnsafeBytes { UTF8Bytes.text($0) }.map { .text($0) } ?? .malformedText(bytes)
  }

  /// The values of a text; nil if it is none of a key's.
  static func values(of key: SQLiteValue) -> [SQLiteValue]? {
    var rest: ArraySlice<UInt8>
    switch key {
    case .text(let text): rest = Array(text.utf8)[...]
    case .malformedText(let bytes): rest = bytes[...]
    case .null, .integer, .real, .blob: return nil
    }
    var values: [SQLiteValue] = []
    while let kind = rest.popFirst() {
      guard let value = value(ofKind: kind, in: &rest), rest.popFirst() == UInt8(ascii: ";") else {
        return nil
      }
      values.append(value)
    }
    return values
  }

  private static func value(ofKind kind: UInt8, in rest: inout ArraySlice<UInt8>) -> SQLiteValue? {
    switch kind {
    case UInt8(ascii: "n"): return .null
    case UInt8(ascii: "i"): return Int64(word(of: &rest)).map { .integer($0) }
    case UInt8(ascii: "r"): return Double(word(of: &rest)).map { .real($0) }
    case UInt8(ascii: "b"): return Hexadecimal.bytes(of: word(of: &rest)).map { .blob($0) }
    case UInt8(ascii: "s"):
      let end = rest.firstIndex(of: UInt8(ascii: ";")) ?? rest.endIndex
      guard let bytes = unescaped(text: rest[..<end]) else { return nil }
      rest = rest[end...]
      return bytes.withUnsafeBytes { UTF8Bytes.text($0) }.map { .text($0) } ?? .malformedText(bytes)
    default: return nil
    }
  }

  private static func append(text: some Sequence<UInt8>, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "s"))
    for byte in text {
      switch byte {
      case UInt8(ascii: "~"): bytes += "~0".utf8
      case UInt8(ascii: ";"): bytes += "~1".utf8
      default: bytes.append(byte)
      }
    }
  }

  /// The text behind its escapes; nil if one is of no character.
  private static func unescaped(text: ArraySlice<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "~") else {
        bytes.append(byte)
        continue
      }
      switch rest.popFirst() {
      case UInt8(ascii: "0"): bytes.append(UInt8(ascii: "~"))
      case UInt8(ascii: "1"): bytes.append(UInt8(ascii: ";"))
      default: return nil
      }
    }
    return bytes
  }

  /// What comes before the next semicolon.
  private static func word(of rest: inout ArraySlice<UInt8>) -> String {
    let end = rest.firstIndex(of: UInt8(ascii: ";")) ?? rest.endIndex
    let word = String(decoding: rest[..<end], as: UTF8.self)
    rest = rest[end...]
    return word
  }

  /// The key of a row as the engine's tables have it, as SQL, of a row by that name.
  static func sql(of key: [KeyColumn], in row: String) -> String {
    if key.count == 1, let column = key.first {
      return column.canonicalSQL("\(row).\(column.name.quotedName)")
    }
    return "("
      + key.map { part(of: $0, value: "\(row).\($0.name.quotedName)") }.joined(separator: " || ")
      + ")"
  }

  private static func part(of column: KeyColumn, value: String) -> String {
    let text = column.canonicalSQL(value)
    return """
      CASE typeof(\(value)) WHEN 'integer' THEN 'i' || \(value)
      WHEN 'text' THEN 's' || replace(replace(\(text), '~', '~0'), ';', '~1')
      WHEN 'blob' THEN 'b' || lower(hex(\(value)))
      WHEN 'real' THEN CASE WHEN \(value) = CAST(\(value) AS INTEGER)
        THEN 'i' || CAST(\(value) AS INTEGER) ELSE 'r' || \(value) END
      ELSE 'n' END || ';'
      """
  }
}

extension CompoundKey {
  /// The key of a row as the engine's tables have it, as SQL that SQLite looks up.
  ///
  /// The key's own column would have SQLite convert what it is compared with, and then go through all rows.
  static func lookedUp(_ key: [KeyColumn], in row: String) -> String {
    "+(\(sql(of: key, in: row)))"
  }

  /// Whether nothing is known of a row of a table, as SQL.
  static func isUnknown(_ key: [KeyColumn], in row: String, ofTable id: Int64) -> String {
    let key = lookedUp(key, in: row)
    return ["known", "pending"]
      .map { "NOT EXISTS(SELECT 1 FROM cloudsync_\($0) WHERE table_id = \(id) AND key = \(key))" }
      .joined(separator: " AND ")
  }
}

extension CapturedTable {
  /// The key of a row as the engine's tables have it, as SQL that SQLite looks up.
  func lookedUpKey(_ row: String) -> String { CompoundKey.lookedUp(key, in: row) }

  /// Whether nothing is known of a row, as SQL.
  func isUnknown(_ row: String) -> String { CompoundKey.isUnknown(key, in: row, ofTable: id) }
}

extension KeyColumn {
  /// A text as the one spelling that stands for all equal ones, as SQL.
  fileprivate func canonicalSQL(_ value: String) -> String {
    let isText = "typeof(\(value)) = 'text'"
    return switch collation {
    case .binary: value
    case .nocase: "CASE WHEN \(isText) THEN lower(\(value)) ELSE \(value) END"
    case .rtrim: "CASE WHEN \(isText) THEN rtrim(\(value), ' ') ELSE \(value) END"
    }
  }
}
