/// Bytes as lower-case hexadecimal digits.
package enum Hexadecimal {
  package static func digits(of byte: UInt8) -> [UInt8] {
    [digit(of: byte >> 4), digit(of: byte & 15)]
  }

  /// The digit of a number below 16.
  private static func digit(of number: UInt8) -> UInt8 {
    number < 10 ? 0x30 + number : 0x61 - 10 + number
  }

  package static func text(of bytes: some Sequence<UInt8>) -> String {
    let bytes = Array(bytes)
    var digits = [UInt8](repeating: 0, count: 2 * bytes.count)
    var index = 0
    while index < bytes.count {
      digits[2 * index] = digit(of: bytes[index] >> 4)
      digits[2 * index + 1] = digit(of: bytes[index] & 15)
      index += 1
    }
    return String(decoding: digits, as: UTF8.self)
  }

  /// The byte of two digits; nil if they are none, or are in upper case.
  package static func byte(_ high: UInt8, _ low: UInt8) -> UInt8? {
    guard let high = value(of: high), let low = value(of: low) else { return nil }
    return high << 4 | low
  }

  package static func bytes(of text: some StringProtocol) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = byte(digits[index], digits[index + 1]) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x61...0x66: digit - 0x61 + 10
    default: nil
    }
  }
}
