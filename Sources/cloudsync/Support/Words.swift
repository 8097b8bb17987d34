import CloudSyncCore

/// Lines and columns.
enum Words {
  /// A text in one line, whatever is in it.
  static func line(_ text: String) -> String {
    shown(text.split(whereSeparator: \.isNewline).joined(separator: " "))
  }

  /// A text with signs for what would move a terminal's cursor, colour it or turn the direction of what follows: a line
  /// break is ␊.
  static func shown(_ text: String) -> String {
    let isPlain = text.unicodeScalars.allSatisfy { sign(for: $0) == nil }
    if isPlain { return text }
    return text.unicodeScalars.map { sign(for: $0) ?? String($0) }.joined()
  }

  /// A row by its table and its key, in one line: a key may be as long as a record.
  static func row(_ table: String, key: String) -> String {
    let limit = 200
    let name = shown(table)
    // A few characters more than a short key has tell nothing about it.
    if key.utf8.count <= limit { return "\(name) \(shown(key))" }
    return "\(name) \(shown(String(key.prefix(limit))))… (\(Phrase.count(key.count, "character")))"
  }

  private static func sign(for scalar: Unicode.Scalar) -> String? {
    switch scalar.value {
    case 0..<0x20: Unicode.Scalar(0x2400 + scalar.value).map { String($0) }
    case 0x7f: "␡"
    case 0x80..<0xa0, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069:
      "<U+\(String(scalar.value, radix: 16, uppercase: true))>"
    default: nil
    }
  }

  /// Rows in columns, the first to the left and the others, which are numbers, to the right.
  static func table(of rows: [[String]]) -> [String] {
    guard let first = rows.first else { return [] }
    let widths = first.indices.map { place in rows.reduce(0) { max($0, $1[place].count) } }
    return rows.map { row in
      zip(row, widths).enumerated()
        .map { place, cell in
          let blank = String(repeating: " ", count: cell.1 - cell.0.count)
          return place == 0 ? cell.0 + blank : blank + cell.0
        }
        .joined(separator: "  ")
    }
  }
}

extension Duration {
  /// The duration in seconds.
  var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
  /// The duration in words, without parts of a second.
  var inWords: String { Phrase.duration(clampedNanoseconds, decimals: 0) }
}

extension String {
  /// The text as a shell takes it as one argument, in commands that are suggested.
  var argument: String {
    let isPlain =
      !isEmpty
      && unicodeScalars.allSatisfy { scalar in
        scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
          || "_./:@%+=,-".unicodeScalars.contains(scalar)
      }
    if isPlain { return self }
    let parts = split(separator: "'", omittingEmptySubsequences: false)
    return "'" + parts.joined(separator: #"'\''"#) + "'"
  }
}
