extension String {
  /// The bytes of a name, with `A` to `Z` made small: what SQLite compares.
  package var foldedName: [UInt8] {
    var bytes = Array(utf8)
    for place in bytes.indices { bytes[place] = Self.folded(byte: bytes[place]) }
    return bytes
  }

  private static func folded(byte: UInt8) -> UInt8 {
    byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
  }

  /// Whether SQLite takes two names for one: it does not tell `A` to `Z` from `a` to `z`.
  package func isSameName(as other: String) -> Bool {
    var (bytes, others) = (utf8.makeIterator(), other.utf8.makeIterator())
    while true {
      let (byte, other) = (bytes.next(), others.next())
      guard let byte, let other else { return byte == other }
      if byte != other, Self.folded(byte: byte) != Self.folded(byte: other) { return false }
    }
  }
}

extension Sequence<String> {
  /// In the order of their bytes.
  package func sortedByBytes() -> [String] {
    sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
