#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A number in decimal, exact: its sign, its digits, and the power of ten of the last one.
///
/// Two are equal if they are the same number: there are no zeros at either end, and zero has no
/// digits and no sign.
struct DecimalDigits: Equatable {
  private(set) var isNegative = false
  /// Values from 0 to 9, the most significant first.
  private(set) var digits: [UInt8] = []
  private(set) var exponent = 0

  /// An exponent beyond this belongs to no number that is of use, and sums of it do not overflow.
  private static let largestExponent = 1_000_000

  /// Reads a sign, digits with a point or without one, and an exponent; nil for any other text.
  init?(_ text: String) {
    var rest = Substring(text).utf8[...]
    isNegative = Self.readSign(&rest)
    let whole = Self.readDigits(&rest)
    var fraction: [UInt8] = []
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      fraction = Self.readDigits(&rest)
    }
    guard !whole.isEmpty || !fraction.isEmpty else { return nil }
    if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
      rest.removeFirst()
      let isSmall = Self.readSign(&rest)
      let power = Self.readDigits(&rest)
      guard !power.isEmpty else { return nil }
      let amount = power.reduce(0) { min($0 * 10 + Int($1), Self.largestExponent) }
      exponent = isSmall ? -amount : amount
    }
    guard rest.isEmpty else { return nil }
    exponent -= fraction.count
    digits = whole + fraction
    normalize()
  }

  private mutating func normalize() {
    digits.removeFirst(digits.prefix { $0 == 0 }.count)
    while digits.last == 0 {
      digits.removeLast()
      exponent += 1
    }
    if digits.isEmpty { (isNegative, exponent) = (false, 0) }
  }

  private static func readSign(_ text: inout Substring.UTF8View) -> Bool {
    guard let first = text.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") else {
      return false
    }
    text.removeFirst()
    return first == UInt8(ascii: "-")
  }

  private static func readDigits(_ text: inout Substring.UTF8View) -> [UInt8] {
    let digits = text.prefix { $0 &- 0x30 < 10 }
    text.removeFirst(digits.count)
    return digits.map { $0 - 0x30 }
  }

  /// How many digits stand before the point; where it is zero or less, zeros follow the point.
  var pointPlace: Int { digits.count + exponent }

  /// The number without an exponent, and with no digit more than it needs.
  var plainText: String {
    (isNegative ? "-" : "") + Self.plain(digits, pointPlace: pointPlace)
  }

  /// Digits with a point at a place: before, among or behind them.
  static func plain(_ digits: [UInt8], pointPlace: Int) -> String {
    func text(_ digits: some Sequence<UInt8>) -> String {
      String(decoding: digits.map { $0 + 0x30 }, as: UTF8.self)
    }
    func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }
    if digits.isEmpty { return "0" }
    if pointPlace <= 0 { return "0." + zeros(-pointPlace) + text(digits) }
    if pointPlace >= digits.count { return text(digits) + zeros(pointPlace - digits.count) }
    return text(digits[..<pointPlace]) + "." + text(digits[pointPlace...])
  }

  /// The number as an integer; nil if it is none, or does not fit.
  func integer<Integer: FixedWidthInteger>(as type: Integer.Type) -> Integer? {
    // No integer of 128 bits has more digits.
    guard exponent >= 0, pointPlace <= 40 else { return nil }
    return Integer(plainText)
  }

  /// The number as a `Decimal`; nil if that cannot hold all of its digits.
  var decimal: Decimal? {
    // Beyond these a Decimal has neither digits nor an exponent.
    guard digits.count <= 39, abs(exponent) <= 165 else { return nil }
    guard let result = Decimal(string: plainText), DecimalDigits(result.description) == self else {
      return nil
    }
    return result
  }
}
