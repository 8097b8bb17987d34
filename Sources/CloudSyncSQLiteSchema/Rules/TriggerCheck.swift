import CloudSyncSQLiteSupport

/// Looks for triggers of the app's that write rows which are synchronized.
///
/// They run for what comes from other devices too, and what they write counts as an edit: each device makes it once more.
package struct TriggerCheck {
  private let table: TableSchema
  /// The names of the tables that are synchronized.
  private let synchronized: [String]

  package init(table: TableSchema, synchronized: [String]) {
    self.table = table
    self.synchronized = synchronized
  }

  /// A warning for each trigger that writes without asking whether it is the engine that writes.
  package func warnings() -> [SchemaViolation] {
    table.triggersOfTheApp.compactMap { sql in
      guard let name = CreateStatement.triggerName(of: sql) else { return nil }
      let text = SQLText(sql)
      let tokens = text.meaningfulTokens
      let asks = tokens.contains {
        text.name(of: $0)?.isSameName(as: "cloudsync_activity") == true
      }
      guard !asks, let target = writtenTable(in: text, tokens) else { return nil }
      return table.violation(
        .writingTrigger,
        reason:
          "Trigger \(name.quotedName) of \(table.name.quotedName) writes rows of \(target.quotedName) for what comes from"
          + " other devices too, and each device sends what it has written: rows come more than once, and counters count"
          + " again. Unless it only computes what is the same everywhere, have it ask WHEN NOT (SELECT is_synchronizing"
          + " FROM cloudsync_activity).",
        isWarning: true
      )
    }
  }

  /// The first synchronized table that the trigger's statements write, unless they change the trigger's own.
  private func writtenTable(in text: SQLText, _ tokens: [SQLToken]) -> String? {
    guard let start = tokens.firstIndex(where: { text.isWord("BEGIN", at: $0) }) else { return nil }
    for place in tokens.indices.dropFirst(start) {
      let isOther: Bool
      var next = place + 1
      if text.isWord("INTO", at: tokens[place]) {
        isOther = false
      } else if text.isWord("FROM", at: tokens[place]),
        text.isWord("DELETE", at: tokens[place - 1])
      {
        isOther = true
      } else if text.isWord("UPDATE", at: tokens[place]) {
        isOther = true
        // UPDATE OR IGNORE …
        if next < tokens.count, text.isWord("OR", at: tokens[next]) { next += 2 }
      } else {
        continue
      }
      guard next < tokens.count, let name = text.name(of: tokens[next]),
        let written = synchronized.first(where: { $0.isSameName(as: name) })
      else { continue }
      // The engine takes back what a trigger changes in the row that it writes.
      if !isOther || !written.isSameName(as: table.name) { return written }
    }
    return nil
  }
}

extension TableSchema {
  /// The statements that create the triggers beside the engine's.
  package var triggersOfTheApp: [String] {
    dependentSQL.filter { sql in
      CreateStatement.triggerName(of: sql).map { !$0.foldedName.starts(with: "cloudsync_".utf8) }
        ?? false
    }
  }
}
