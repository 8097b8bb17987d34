import CloudSyncCore
import CloudSyncSQLiteSupport

/// Whether a value is another one as a column of another type holds it.
///
/// A migration that gives a column another type changes the values of all rows, and nobody has edited them.
enum ValueConversion {
  /// Whether two different values are the same number, as number or as text, or the same bytes, as text or as BLOB.
  static func isConversion(_ one: FieldValue, of other: FieldValue) -> Bool {
    guard case .value(let one)? = ValueCodec.decode(one),
      case .value(let other)? = ValueCodec.decode(other)
    else { return false }
    if let number = number(of: one), let former = self.number(of: other) { return number == former }
    guard let bytes = bytes(of: one), let former = self.bytes(of: other) else { return false }
    return bytes == former
  }

  private static func number(of value: SQLiteValue) -> Double? {
    switch value {
    case .integer(let number): Double(exactly: number)
    case .real(let number): number
    case .text(let text): Double(text)
    case .null, .malformedText, .blob: nil
    }
  }

  private static func bytes(of value: SQLiteValue) -> [UInt8]? {
    switch value {
    case .text(let text): Array(text.utf8)
    case .malformedText(let bytes), .blob(let bytes): bytes
    case .null, .integer, .real: nil
    }
  }
}
