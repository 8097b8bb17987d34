package import CloudSyncSQLiteSupport

/// Writes canonical bytes: of one content there is one form.
package struct ByteWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

  package mutating func write(byte: UInt8) { bytes.append(byte) }

  package mutating func write(raw: some Collection<UInt8>) { bytes.append(contentsOf: raw) }

  /// A number as minimal LEB128.
  package mutating func write(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  package mutating func write(count: Int) { write(UInt64(count)) }

  /// A signed number, small ones of either sign in few bytes.
  package mutating func write(signed number: Int64) {
    write(UInt64(bitPattern: (number << 1) ^ (number >> 63)))
  }

  /// Bytes with their count.
  package mutating func write(counted: some Collection<UInt8>) {
    write(count: counted.count)
    bytes.append(contentsOf: counted)
  }

  /// Text by its UTF-8, with the count.
  package mutating func write(_ text: String) {
    var text = text
    text.withUTF8 { write(counted: $0) }
  }

  /// A value with its kind.
  package mutating func write(_ value: SQLiteValue) {
    switch value {
    case .null: write(byte: ValueTag.null)
    case .integer(let number):
      write(byte: ValueTag.integer)
      write(signed: number)
    case .real(let number):
      write(byte: ValueTag.real)
      writeBigEndian(word: number.bitPattern)
    case .text(let text):
      write(byte: ValueTag.text)
      write(text)
    case .malformedText(let content):
      write(byte: ValueTag.text)
      write(counted: content)
    case .blob(let content):
      write(byte: ValueTag.blob)
      write(counted: content)
    }
  }

  package mutating func writeBigEndian(word: UInt64) {
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
    }
  }
}

/// The first byte of a coded value.
enum ValueTag {
  static let null: UInt8 = 0
  static let integer: UInt8 = 1
  static let real: UInt8 = 2
  static let text: UInt8 = 3
  static let blob: UInt8 = 4
}
