/// A piece of SQL text.
package struct SQLToken: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    case space
    case comment
    /// A keyword or a name without quotes.
    case word
    /// A name in `""`, backquotes or brackets.
    case quotedName
    /// Text in single quotes, which SQLite also takes for a name.
    case string
    case number
    case blob
    case variable
    /// An operator, a parenthesis, a comma, a semicolon.
    case symbol
    /// What SQLite would refuse: a quote that does not end, an unknown character.
    case invalid
  }

  package var kind: Kind
  /// Where it lies, in UTF-8 bytes.
  package var range: Range<Int>
}
