import CloudSyncCore

/// Text as the key of a dictionary, compared by its bytes.
struct ByteKey: Hashable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (lhs: ByteKey, rhs: ByteKey) -> Bool { UTF8Bytes.equal(lhs.text, rhs.text) }

  func hash(into hasher: inout Hasher) {
    hasher.combine(UTF8Bytes.stableHash(text: text, seed: 0))
  }
}

extension RandomAccessCollection where Index == Int {
  /// The first place of a sorted collection whose element does not lie before something.
  func firstPlace(where isBefore: (Element) -> Bool) -> Int {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = low + (high - low) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
