/// A digest of lines, taken one after the other: of all their bytes and their order.
///
/// It finds what was changed by mistake or by hand; it does not resist somebody who computes it anew.
struct LineDigest {
  private var state: UInt64 = 0x2d35_8dcc_aa6c_78a5

  /// The digest of the lines that were added.
  var value: UInt64 { state }

  /// Adds a line, without its line feed.
  mutating func add(line bytes: UnsafeRawBufferPointer) {
    var state = state ^ UInt64(bytes.count)
    var index = 0
    // Two words for each multiplication, which is what takes the time.
    while index + 16 <= bytes.count {
      state = Self.mixed(state ^ Self.word(bytes, at: index), with: Self.word(bytes, at: index + 8))
      index += 16
    }
    var rest: (UInt64, UInt64) = (0, 0)
    for place in index..<bytes.count {
      let byte = UInt64(bytes[place])
      if place - index < 8 { rest.0 = rest.0 << 8 | byte } else { rest.1 = rest.1 << 8 | byte }
    }
    self.state = Self.mixed(state ^ rest.0, with: rest.1)
  }

  private static func word(_ bytes: UnsafeRawBufferPointer, at index: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
  }

  private static func mixed(_ first: UInt64, with second: UInt64) -> UInt64 {
    let product = (first ^ 0xa076_1d64_78bd_642f)
      .multipliedFullWidth(by: second ^ 0xe703_7ed1_a0b4_28db)
    return (product.high ^ product.low) &+ first
  }
}
