/// A number as JSON writes it, digit by digit: `Double` would round what needs more than 53 bits.
struct WireDecimal {
  private let isNegative: Bool
  /// All digits, without the zeros in front.
  private let digits: ArraySlice<UInt8>
  /// How many of the digits are behind the point; negative if zeros follow.
  private let scale: Int

  /// Reads a number; nil if the text is none.
  init?(_ text: String) {
    var rest = Array(text.utf8)[...]
    isNegative = rest.first == UInt8(ascii: "-")
    if isNegative { rest = rest.dropFirst() }
    let whole = rest.prefix { $0 &- 0x30 < 10 }
    rest = rest.dropFirst(whole.count)
    var fraction: ArraySlice<UInt8> = []
    if rest.first == UInt8(ascii: ".") {
      fraction = rest.dropFirst().prefix { $0 &- 0x30 < 10 }
      guard !fraction.isEmpty else { return nil }
      rest = rest.dropFirst(fraction.count + 1)
    }
    var exponent = 0
    if let mark = rest.first {
      guard mark | 0x20 == UInt8(ascii: "e"),
        let number = Int(String(decoding: rest.dropFirst(), as: UTF8.self))
      else { return nil }
      exponent = number
    }
    guard !whole.isEmpty else { return nil }
    digits = (whole + fraction).drop { $0 == 0x30 }
    let (scale, isFar) = fraction.count.subtractingReportingOverflow(exponent)
    guard !isFar else { return nil }
    self.scale = scale
  }

  /// The number, if it is whole and has 64 bits.
  var whole: Int64? {
    if digits.isEmpty { return 0 }
    let (length, isFar) = digits.count.subtractingReportingOverflow(scale)
    // 19 digits are all that fit.
    guard !isFar, length <= 19 else { return nil }
    let kept = digits.prefix(min(digits.count, max(0, length)))
    guard digits[kept.endIndex...].allSatisfy({ $0 == 0x30 }) else { return nil }
    let zeros = String(repeating: "0", count: max(0, -scale))
    let text = String(decoding: kept, as: UTF8.self) + zeros
    return Int64(isNegative ? "-\(text)" : text)
  }
}
