import CloudSyncCore

/// Writes the parts of a coded clock.
///
/// Numbers are of variable length, seven bits a byte, the lowest first; signed ones have their sign in the
/// lowest bit. A time is the difference of its milliseconds to those of another one, doubled, plus one if its
/// counter is not 0 and follows: most counters are, and most times are close to each other.
struct ClockWriter {
  private(set) var bytes: [UInt8] = []

  init(reserving capacity: Int = 64) { bytes.reserveCapacity(capacity) }

  mutating func write(byte: UInt8) { bytes.append(byte) }

  mutating func write(bytes more: some Collection<UInt8>) { bytes.append(contentsOf: more) }

  @inline(__always)
  mutating func write(unsigned value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  mutating func write(count: Int) { write(unsigned: UInt64(count)) }

  mutating func write(signed value: Int64) { write(unsigned: Self.folded(value)) }

  mutating func write(bits value: UInt64) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }

  mutating func write(text: String) {
    write(count: text.utf8.count)
    bytes.append(contentsOf: text.utf8)
  }

  /// Writes a bit for each element, the first one as the lowest of the first byte.
  mutating func write(bitmap: some Collection<Bool>) {
    var byte: UInt8 = 0
    var count = 0
    for bit in bitmap {
      if bit { byte |= 1 << UInt8(count % 8) }
      count += 1
      if count % 8 == 0 {
        bytes.append(byte)
        byte = 0
      }
    }
    if count % 8 != 0 { bytes.append(byte) }
  }

  @inline(__always)
  mutating func write(time: HybridTime, from base: HybridTime) {
    let counter = UInt64(time.rawValue & HybridTime.counterMask)
    let difference = Self.folded(time.milliseconds - base.milliseconds) << 1
    write(unsigned: difference | (counter == 0 ? 0 : 1))
    if counter != 0 { write(unsigned: counter) }
  }

  @inline(__always)
  private static func folded(_ value: Int64) -> UInt64 {
    UInt64(bitPattern: (value << 1) ^ (value >> 63))
  }
}

extension HybridTime {
  /// The bits of the counter.
  static let counterMask: Int64 = 0xffff
  /// The milliseconds that a time can have.
  static let millisecondRange = (Int64.min >> 16)...(Int64.max >> 16)
}
