extension String {
  /// The bytes of a name, with `A` to `Z` made small: what SQLite compares.
  package var foldedName: [UInt8] {
    utf8.map(Self.folded(byte:))
  }

  private static func folded(byte: UInt8) -> UInt8 {
    byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
  }

  /// Whether SQLite takes two names for one: it does not tell `A` to `Z` from `a` to `z`.
  package func isSameName(as other: String) -> Bool {
    utf8.count == other.utf8.count
      && utf8.elementsEqual(other.utf8) {
        $0 == $1 || Self.folded(byte: $0) == Self.folded(byte: $1)
      }
  }
}

extension Sequence<String> {
  /// In the order of their bytes.
  package func sortedByBytes() -> [String] {
    sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
