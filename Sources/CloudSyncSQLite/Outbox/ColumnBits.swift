import CloudSyncSQLiteSupport

/// Which columns an update has changed, by their numbers.
struct ColumnBits: Sendable, Hashable {
  /// How many columns one integer tells of.
  static let perWord = 60

  private let words: [Int64]

  /// The bits as the outbox has them; nil if they are nothing of the kind.
  init?(_ value: SQLiteValue) {
    switch value {
    case .integer(let word) where word > 0: words = [word]
    case .text(let text):
      let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Int64($0) }
      words = parts.compactMap { $0 }
      if words.count != parts.count { return nil }
    default: return nil
    }
  }

  /// Whether no column was changed but those of some numbers.
  func isOnly(of numbers: [Int]) -> Bool {
    (0..<words.count * Self.perWord).allSatisfy { !contains($0) || numbers.contains($0) }
  }

  /// Whether the column of a number was changed.
  func contains(_ number: Int) -> Bool {
    let word = number / Self.perWord
    return word < words.count && words[word] & 1 << Int64(number % Self.perWord) != 0
  }
}
