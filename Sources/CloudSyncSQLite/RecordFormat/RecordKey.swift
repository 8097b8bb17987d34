import CloudSyncCore
import CloudSyncSQLiteSupport

/// How SQLite compares a column of a key.
enum KeyCollation: Sendable, Hashable {
  case binary
  /// ASCII letters are equal in both cases.
  case nocase
  /// Spaces at the end do not count.
  case rtrim

  /// The collation of a name, in either case; nil for those that an app has defined.
  init?(name: String) {
    switch name.uppercased() {
    case "BINARY": self = .binary
    case "NOCASE": self = .nocase
    case "RTRIM": self = .rtrim
    default: return nil
    }
  }

  /// The one spelling of all values that are equal to this one.
  func canonical(_ value: SQLiteValue) -> SQLiteValue {
    switch value {
    case .real(let number):
      // For a key SQLite holds 1 and 1.0 to be the same.
      Int64(exactly: number).map { .integer($0) } ?? value
    case .text(let text):
      self == .binary || UTF8Bytes.with(text) { isCanonical($0) }
        ? value : Self.text(of: canonical(Array(text.utf8)))
    case .malformedText(let bytes): Self.text(of: canonical(bytes))
    case .null, .integer, .blob: value
    }
  }

  private func isCanonical(_ bytes: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .binary: true
    case .nocase: !bytes.contains { $0 == 0 || Self.isUpper($0) }
    case .rtrim: bytes.last != 0x20
    }
  }

  private func canonical(_ bytes: [UInt8]) -> [UInt8] {
    switch self {
    case .binary: return bytes
    case .nocase:
      // Behind a NUL only the length is compared.
      let end = bytes.firstIndex(of: 0) ?? bytes.count
      return bytes[..<end].map { Self.isUpper($0) ? $0 | 0x20 : $0 }
        + Array(repeating: 0, count: bytes.count - end)
    case .rtrim:
      let end = bytes.lastIndex { $0 != 0x20 }.map { $0 + 1 } ?? 0
      return Array(bytes[..<end])
    }
  }

  private static func isUpper(_ byte: UInt8) -> Bool { byte &- 0x41 < 26 }

  private static func text(of bytes: [UInt8]) -> SQLiteValue {
    bytes.withUnsafeBytes { UTF8Bytes.text($0) }.map { .text($0) } ?? .malformedText(bytes)
  }
}

/// A row's key as it is compared: two keys that are one for SQLite are equal here, and have one name.
///
/// How a key is spelled is told by its columns alone.
struct RecordKey: Sendable, Hashable {
  /// The values of the key's columns, each as the one spelling that stands for all equal ones.
  let values: [SQLiteValue]
  /// The name of the row's record.
  let name: String

  /// Creates the key of a row.
  ///
  /// - Parameters:
  ///   - spelled: The values of the key's columns, in the key's order.
  ///   - collations: How these columns are compared.
  ///   - recordType: The type of the table's records.
  init(spelled: [SQLiteValue], collations: [KeyCollation], recordType: String) {
    values = zip(spelled, collations).map { $1.canonical($0) }
    name = RecordName.make(recordType: recordType, key: values)
  }

  init(values: [SQLiteValue], name: String) {
    self.values = values
    self.name = name
  }

  /// Whether a record's name tells no more of the key than its digest.
  static func isDigest(_ name: String) -> Bool { name.utf8.starts(with: "~h".utf8) }

  static func == (lhs: RecordKey, rhs: RecordKey) -> Bool {
    UTF8Bytes.equal(lhs.name, rhs.name) && lhs.values == rhs.values
  }

  func hash(into hasher: inout Hasher) { UTF8Bytes.with(name) { hasher.combine(bytes: $0) } }
}
