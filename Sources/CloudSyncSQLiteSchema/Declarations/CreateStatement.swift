/// What the first words of CREATE INDEX and CREATE TRIGGER say.
package enum CreateStatement {
  /// The name of the index that a statement creates.
  static func indexName(of sql: String) -> String? { name(in: sql, after: "INDEX") }

  /// The name of the trigger that a statement creates.
  package static func triggerName(of sql: String) -> String? { name(in: sql, after: "TRIGGER") }

  /// The name of the index or trigger that a statement creates.
  static func objectName(of sql: String) -> String? { indexName(of: sql) ?? triggerName(of: sql) }

  private static func name(in sql: String, after word: StaticString) -> String? {
    // The word is one of the first three: what follows the name may be a long trigger.
    let text = SQLText(beginningOf: sql, meaningfulTokens: 4)
    let tokens = text.meaningfulTokens
    guard let place = tokens.firstIndex(where: { text.isWord(word, at: $0) }),
      place + 1 < tokens.count
    else { return nil }
    return text.name(of: tokens[place + 1])
  }
}
