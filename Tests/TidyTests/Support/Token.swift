/// A word, a literal or a punctuation mark of Swift source.
struct Token: Sendable, Equatable {
  /// The text as written; that of a stretch of a string is between plain quotation marks.
  var text: String
  /// The line on which the token begins, from 1.
  var line: Int
  /// Whether nothing stands between this token and the one before it.
  var isGlued: Bool

  /// Whether the token is an identifier, a keyword or a number.
  var isWord: Bool { text.utf8.first.map(Tokenizer.isWordByte) ?? false }
  /// Whether the token is a string literal or a piece of one.
  var isString: Bool { text.hasPrefix("\"") }
}

/// The part of a comment that stands on one line.
struct Comment: Sendable, Equatable {
  var text: String
  /// The line of the file, from 1.
  var line: Int
}
