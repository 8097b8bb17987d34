/// A value of SQLite's, exactly as it is stored.
package enum SQLiteValue: Sendable, Hashable {
  case null
  case integer(Int64)
  /// Never a NaN: SQLite stores NULL in its place.
  case real(Double)
  case text(String)
  /// Text whose bytes are not UTF-8.
  case malformedText([UInt8])
  case blob([UInt8])

  package static func == (lhs: SQLiteValue, rhs: SQLiteValue) -> Bool {
    switch (lhs, rhs) {
    case (.null, .null): true
    case (.integer(let one), .integer(let other)): one == other
    case (.real(let one), .real(let other)): one.bitPattern == other.bitPattern
    // By bytes: what Swift holds for equal text may differ for SQLite.
    case (.text(var one), .text(var other)):
      one.withUTF8 { one in
        other.withUTF8 { other in
          unsafe UnsafeRawBufferPointer(one).hasSameBytes(as: UnsafeRawBufferPointer(other))
        }
      }
    case (.malformedText(let one), .malformedText(let other)): one == other
    case (.blob(let one), .blob(let other)): one == other
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .integer(let value): hasher.combine(value)
    case .real(let value): hasher.combine(value.bitPattern)
    case .text(var value):
      value.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    case .malformedText(let value), .blob(let value): hasher.combine(value)
    }
  }

  /// The number; nil for a value of another kind.
  package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }

  /// The value as an SQL literal.
  package var literal: String {
    switch self {
    case .null: "NULL"
    case .integer(let value): "\(value)"
    case .real(let value):
      value.isInfinite ? (value < 0 ? "-9e999" : "9e999") : "\(value)"
    case .text(let value):
      value.utf8.contains(0)
        ? "CAST(\(Self.hexadecimal(Array(value.utf8))) AS TEXT)"
        : "'\(value.replacing("'", with: "''"))'"
    case .malformedText(let bytes): "CAST(\(Self.hexadecimal(bytes)) AS TEXT)"
    case .blob(let bytes): Self.hexadecimal(bytes)
    }
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    "x'\(Hexadecimal.text(of: bytes))'"
  }
}

extension String {
  /// The name in quotes, as SQL takes it whatever is in it.
  package var quotedName: String { "\"\(replacing("\"", with: "\"\""))\"" }
}

extension UnsafeRawBufferPointer {
  /// Whether another buffer has the same bytes: eight at a time, since it is asked for every text of every row.
  func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    var index = 0
    while index + 8 <= count {
      let mine = unsafe loadUnaligned(fromByteOffset: index, as: UInt64.self)
      if unsafe mine != other.loadUnaligned(fromByteOffset: index, as: UInt64.self) { return false }
      index += 8
    }
    while index < count {
      if unsafe self[index] != other[index] { return false }
      index += 1
    }
    return true
  }
}
