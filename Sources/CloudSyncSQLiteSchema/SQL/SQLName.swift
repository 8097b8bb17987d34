extension String {
  /// The bytes of a name, with `A` to `Z` made small: what SQLite compares.
  package var foldedName: [UInt8] {
    utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
  }

  /// Whether SQLite takes two names for one: it does not tell `A` to `Z` from `a` to `z`.
  package func isSameName(as other: String) -> Bool {
    utf8.count == other.utf8.count && foldedName == other.foldedName
  }
}

extension Sequence<String> {
  /// In the order of their bytes.
  package func sortedByBytes() -> [String] {
    sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
