import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// What a column's type makes of a value that a column of another type holds as it is: SQLite stores '01067' as 1067 where
/// numbers are declared, and 5 as '5' where texts are.
///
/// Nobody has edited such a value, and the cloud has the original.
enum ColumnImage {
  typealias Affinity = TableSchema.Column.Affinity

  /// Whether a column that is given a value has another one then.
  ///
  /// - Parameters:
  ///   - value: What the column has.
  ///   - original: What it was given.
  ///   - affinity: How it stores values.
  /// - Returns: Whether the one is what SQLite makes of the other.
  static func isImage(
    _ value: FieldValue,
    of original: FieldValue,
    in affinity: Affinity
  ) -> Bool {
    guard let (value, original) = unlike(value, original), keeps(value, in: affinity) else {
      return false
    }
    return isMade(value, of: original, by: affinity)
  }

  /// Tells of a table's columns whether what one has is what its type makes of another value.
  static func check(
    of table: TableSchema
  ) -> @Sendable (_ column: String, _ value: FieldValue, _ original: FieldValue) -> Bool {
    let affinities = Dictionary(
      table.writableColumns.filter { !table.keepsValues(in: $0) }.map { ($0.name, $0.affinity) },
      uniquingKeysWith: { first, _ in first }
    )
    return { column, value, original in
      affinities[column].map { isImage(value, of: original, in: $0) } ?? false
    }
  }

  /// Whether a migration has made a column's value of the image that a column of a former type had, where the present type
  /// could hold the original.
  ///
  /// - Parameters:
  ///   - value: What the column has.
  ///   - original: What the cloud has.
  ///   - former: How the column stored values before.
  ///   - affinity: How it does now.
  /// - Returns: Whether it can take the original back.
  static func isConvertedImage(
    _ value: FieldValue,
    of original: FieldValue,
    from former: Affinity,
    to affinity: Affinity
  ) -> Bool {
    guard let (value, original) = unlike(value, original), keeps(original, in: affinity) else {
      return false
    }
    return isMade(value, of: original, by: former)
  }

  /// Whether a column makes a value of another one, which it cannot hold, be it that the value has been converted since.
  private static func isMade(
    _ value: SQLiteValue,
    of original: SQLiteValue,
    by affinity: Affinity
  ) -> Bool {
    if keeps(original, in: affinity) { return false }
    if affinity == .text { return isText(value, of: original) }
    guard let one = number(of: value), let other = number(of: original) else { return false }
    if affinity != .real, case .integer(let one) = one, case .integer(let other) = other {
      return one == other
    }
    return real(one) == real(other)
  }

  /// Whether a value is the text that SQLite writes for a number: a real has fifteen digits there, and always a point.
  private static func isText(_ value: SQLiteValue, of original: SQLiteValue) -> Bool {
    guard case .text(let text) = value else { return false }
    switch original {
    case .integer(let number): return text == "\(number)"
    case .real(let number):
      let digits = text.drop { $0 == "-" }
      guard text.contains("."), !text.contains(" "), digits.first?.isNumber ?? false,
        digits.first != "0" || digits.dropFirst().first == ".",
        case .real(let written)? = self.number(in: text)
      else { return false }
      return abs(written - number) <= 1e-14 * max(abs(written), abs(number))
    case .null, .text, .malformedText, .blob: return false
    }
  }

  /// What a table would hold for two values; nil if it is the same, or nothing that a column holds.
  private static func unlike(
    _ one: FieldValue,
    _ other: FieldValue
  ) -> (SQLiteValue, SQLiteValue)? {
    guard case .value(let one)? = ValueCodec.decode(one),
      case .value(let other)? = ValueCodec.decode(other), one != other
    else { return nil }
    return (one, other)
  }

  /// Whether a column stores a value as it is.
  private static func keeps(_ value: SQLiteValue, in affinity: Affinity) -> Bool {
    switch (affinity, value) {
    case (.blob, _), (_, .null), (_, .blob), (_, .malformedText): true
    case (.text, let value): if case .text = value { true } else { false }
    case (.real, .integer): false
    case (.integer, .real(let number)), (.numeric, .real(let number)):
      Int64(exactly: number) == nil
    case (_, .text(let text)): number(in: text) == nil
    case (_, .integer), (.real, .real): true
    }
  }

  private static func number(of value: SQLiteValue) -> SQLiteValue? {
    switch value {
    case .integer, .real: value
    case .text(let text): number(in: text)
    case .null, .malformedText, .blob: nil
    }
  }

  private static func real(_ value: SQLiteValue) -> Double {
    switch value {
    case .integer(let number): Double(number)
    case .real(let number): number
    case .null, .text, .malformedText, .blob: 0
    }
  }

  /// The number that SQLite reads in a text which is one as a whole, with spaces around it; nil for other texts.
  private static func number(in text: String) -> SQLiteValue? {
    let spaces: Set<UInt8> = [0x20, 0x09, 0x0a, 0x0b, 0x0c, 0x0d]
    let bytes = Array(text.utf8.drop { spaces.contains($0) })
    let count = bytes.count - bytes.reversed().prefix { spaces.contains($0) }.count
    let trimmed = bytes[..<count]
    // Swift reads more: hexadecimal numbers, infinity, and what is no number.
    let isPlain = trimmed.allSatisfy {
      (0x30...0x39).contains($0) || [0x2b, 0x2d, 0x2e, 0x45, 0x65].contains($0)
    }
    guard isPlain else { return nil }
    let text = String(decoding: trimmed, as: UTF8.self)
    if let whole = Int64(text) { return .integer(whole) }
    return Double(text).map { .real($0) }
  }
}
