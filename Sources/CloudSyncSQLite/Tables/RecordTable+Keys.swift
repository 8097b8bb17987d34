import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension RecordTable {
  /// The column of the key that would store another value than it is given, or must not have it.
  ///
  /// The row's key would then give another name than its record's.
  func columnRefusing(_ key: RecordKey) -> String? {
    for (name, value) in zip(self.key, key.values) {
      let isKept =
        switch (value, schema.column(named: name)?.affinity ?? .blob) {
        case (.null, _): false
        case (.integer, .text), (.real, .text): false
        case (.text(let text), .integer), (.text(let text), .real), (.text(let text), .numeric):
          !Self.looksLikeNumber(text)
        default: true
        }
      if !isKept { return name }
    }
    return nil
  }

  private static func looksLikeNumber(_ text: String) -> Bool {
    let bytes = text.utf8.drop { [32, 9, 10, 11, 12, 13].contains($0) }
    let end = bytes.lastIndex { ![32, 9, 10, 11, 12, 13].contains($0) }
    guard let end else { return false }
    let number = Substring(bytes[...end])
    // Swift also reads what SQLite does not.
    return number.utf8.allSatisfy { !($0 | 0x20 >= 0x66 && $0 | 0x20 <= 0x7a) }
      && Double(number) != nil
  }
}
