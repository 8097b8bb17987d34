import CloudSyncCore
import CloudSyncSQLiteSupport

/// Whether a value is another one as a column of another type holds it: as a number or as text, as text or as BLOB.
///
/// A migration that gives a column another type changes the values of all rows, and nobody has edited them.
enum ValueConversion {
  /// Whether two values of different kinds are the same number or the same bytes.
  static func isConversion(_ one: FieldValue, of other: FieldValue) -> Bool {
    guard case .value(let one)? = ValueCodec.decode(one),
      case .value(let other)? = ValueCodec.decode(other)
    else { return false }
    return isConversion(one, of: other)
  }

  /// The same of values of a table, where equal ones count too.
  static func isSame(_ one: SQLiteValue, as other: SQLiteValue) -> Bool {
    one == other || isConversion(one, of: other)
  }

  private static func isConversion(_ one: SQLiteValue, of other: SQLiteValue) -> Bool {
    switch (one, other) {
    case (.integer, .real), (.real, .integer), (.integer, .text), (.text, .integer), (.real, .text),
      (.text, .real):
      if let number = whole(of: one), let former = whole(of: other) { return number == former }
      guard let number = real(of: one), let former = real(of: other) else { return false }
      return number == former
    case (.text(let text), .blob(let bytes)), (.blob(let bytes), .text(let text)):
      return text.utf8.elementsEqual(bytes)
    default: return false
    }
  }

  /// A number that a real need not hold exactly.
  private static func whole(of value: SQLiteValue) -> Int64? {
    switch value {
    case .integer(let number): number
    case .real(let number): Int64(exactly: number)
    case .text(let text): Int64(text)
    case .null, .malformedText, .blob: nil
    }
  }

  private static func real(of value: SQLiteValue) -> Double? {
    switch value {
    case .integer(let number): Double(exactly: number)
    case .real(let number): number
    case .text(let text): Double(text)
    case .null, .malformedText, .blob: nil
    }
  }
}
