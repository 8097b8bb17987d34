import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension SyncEngineOptions {
  /// Why the condition of a table's rows that are sent cannot be used; nil if it can, or there is none.
  func rowFilterViolation(in table: TableSchema) -> SchemaViolation? {
    guard let (condition, check) = rowFilterCheck(of: table),
      let reason = check.reason(against: condition)
    else { return nil }
    return SchemaViolation(
      .rowFilter,
      table: table.name,
      reason:
        "The row filter “\(condition)” of \(table.name.quotedName) cannot be used: \(reason)."
    )
  }

  /// For which rows conditions fail: it is of use to whoever writes them, and not to an engine that starts.
  func rowFilterHazards(in schema: DatabaseSchema, tables: [String]) -> [SchemaViolation] {
    tables.compactMap { schema.table(named: $0) }
      .compactMap { table in
        guard let (condition, check) = rowFilterCheck(of: table),
          let reason = check.hazard(of: condition)
        else { return nil }
        return SchemaViolation(
          .rowFilter,
          table: table.name,
          reason:
            "The row filter “\(condition)” of \(table.name.quotedName) fails for some rows, which can"
            + " not be deleted then: \(reason).",
          isWarning: true
        )
      }
  }

  /// What follows from conditions for rows of other tables.
  func rowFilterWarnings(in schema: DatabaseSchema, tables: [String]) -> [SchemaViolation] {
    let present = tables.compactMap { schema.table(named: $0) }
    let filtered = present.filter { table($0.name).rowFilter != nil }
    return present.flatMap { child in
      filtered.filter { parent in
        child.foreignKeys.contains { $0.table.isSameName(as: parent.name) }
      }
      .map { parent in
        SchemaViolation(
          .rowFilter,
          table: child.name,
          reason:
            "Rows of \(child.name.quotedName) stay on this device while they refer to a row of"
            + " \(parent.name.quotedName) that does not match its row filter and is not in the cloud.",
          isWarning: true
        )
      }
    }
  }

  /// The condition of a table's rows that are sent, and what checks it; nil if there is none.
  private func rowFilterCheck(
    of table: TableSchema
  ) -> (condition: String, check: RowFilterCheck)? {
    self.table(table.name).rowFilter
      .map { ($0, RowFilterCheck(table: synchronizedTable(table), whole: table)) }
  }

  private func synchronizedTable(_ table: TableSchema) -> TableSchema {
    synchronized(DatabaseSchema(tables: [table])).tables.first ?? table
  }
}

/// Whether the condition of a table's rows that are sent tells of a row by itself, always the same.
struct RowFilterCheck {
  /// The table as others see it.
  let table: TableSchema
  /// The table with columns that stay on this device.
  let whole: TableSchema

  /// Why a condition cannot be used; nil if it can.
  func reason(against condition: String) -> String? {
    let text = SQLText(condition)
    if text.meaningfulTokens.isEmpty { return "it is empty" }
    if let reason = reason(againstTokensOf: text) { return reason }
    do throws(SQLiteError) { _ = try tableOfMatches(of: condition) } catch { return error.message }
    return nil
  }

  /// For which rows a condition fails that can be used, and what to do; nil if none was found.
  func hazard(of condition: String) -> String? {
    // What cannot be used at all is told otherwise.
    guard reason(against: condition) == nil,
      let (connection, key) = try? tableOfMatches(of: condition)
    else { return nil }
    do throws(SQLiteError) { try tryRows(of: condition, numbered: key, on: connection) } catch {
      return error.message
    }
    return nil
  }

  // MARK: Tokens

  private func reason(againstTokensOf text: SQLText) -> String? {
    var depth = 0
    for token in text.meaningfulTokens {
      if token.kind == .invalid { return "\(text.text(token.range)) is no SQL" }
      if token.kind == .variable {
        return "it has a parameter, \(text.text(token.range)): write the value"
      }
      if text.isSymbol("(", at: token) { depth += 1 }
      if text.isSymbol(")", at: token) { depth -= 1 }
      if depth < 0 || text.isSymbol(";", at: token) { return "it is not one expression" }
      if let reason = reason(againstName: token, in: text) { return reason }
    }
    if depth > 0 { return "it is not one expression" }
    return text.readsClock
      ? "it depends on the time or the time zone, so that a row may match at one moment and not at another"
      : nil
  }

  private func reason(againstName token: SQLToken, in text: SQLText) -> String? {
    guard token.kind == .word || token.kind == .quotedName, let name = text.name(of: token) else {
      return nil
    }
    if table.column(named: name) != nil { return nil }
    if whole.column(named: name) != nil {
      return "column \(name.quotedName) stays on this device, so that its edits are not noticed"
    }
    // SQLite takes such a name for a text.
    if token.kind == .quotedName, !name.isSameName(as: table.name) {
      return "there is no column \(name.quotedName); a text is written in single quotes"
    }
    return nil
  }

  // MARK: SQLite

  /// Has SQLite make an index of the rows that match, of a table with these columns.
  ///
  /// An index allows neither other tables nor functions whose results differ from time to time. The connection has no
  /// functions of the app's: triggers run on connections that lack them.
  ///
  /// - Parameter condition: The condition.
  /// - Returns: The connection, and the name of the table's own key.
  /// - Throws: What SQLite has against the condition.
  private func tableOfMatches(
    of condition: String
  ) throws(SQLiteError) -> (SQLiteConnection, key: String) {
    let connection = try SQLiteConnection(path: ":memory:")
    var columns: [String] = []
    for column in table.columns {
      columns.append("\(column.name.quotedName) \(column.isGenerated ? "" : column.type)")
    }
    // Without a number of the row, which is another one on each device.
    var unused = "cloudsync_key"
    while table.column(named: unused) != nil { unused += "_" }
    columns.append("\(unused.quotedName) INTEGER PRIMARY KEY NOT NULL")
    let name = table.name.quotedName
    try connection.execute(
      "CREATE TABLE main.\(name)(\(columns.joined(separator: ", "))) WITHOUT ROWID"
    )
    var index = "matching"
    while index.isSameName(as: table.name) { index += "_" }
    try connection.execute(
      "CREATE INDEX main.\(index.quotedName) ON \(name)(\(unused.quotedName)) WHERE (\(condition)\n)"
    )
    return (connection, unused)
  }

  /// Values for which functions fail that want a number, a text of some kind or a sum within limits.
  private static let samples = [
    "NULL", "0", "-9223372036854775808", "9223372036854775807", "1e308", "''", "'x'", "'{'",
    "x'ff00'",
  ]

  /// Has SQLite look at rows with odd values: where the condition fails the app could not delete such a row, nor the engine
  /// read it, whoever has made it.
  private func tryRows(
    of condition: String,
    numbered key: String,
    on connection: SQLiteConnection
  ) throws(SQLiteError) {
    var number = 0
    let text = SQLText(condition)
    let names = text.meaningfulTokens.compactMap { text.name(of: $0) }
    let columns = table.columns.map(\.name)
      .filter { column in names.contains { $0.isSameName(as: column) } }
    for column in columns {
      for sample in Self.samples {
        for other in ["NULL", "1", "'x'", sample] {
          number += 1
          let list = ([key] + columns).map(\.quotedName).joined(separator: ", ")
          let values = ["\(number)"] + columns.map { $0 == column ? sample : other }
          do throws(SQLiteError) {
            try connection.execute(
              "INSERT INTO main.\(table.name.quotedName)(\(list)) VALUES(\(values.joined(separator: ", ")))"
            )
          } catch {
            throw SQLiteError(
              code: error.code,
              message:
                "it fails for a row whose \(column.quotedName) is \(sample): \(error.message);"
                + " have it ask first, as json_valid(\(column)) does for JSON"
            )
          }
        }
      }
    }
  }
}

extension SQLText {
  private static let clockFunctions = [
    "date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff",
  ]

  /// Whether it reads the clock or the time zone, as far as its own text tells.
  fileprivate var readsClock: Bool {
    guard Self.clockFunctions.contains(where: calls) else { return false }
    let words = ["now", "localtime", "utc"]
    let tokens = meaningfulTokens
    let hasWord = tokens.contains { token in
      token.kind == .string
        && name(of: token).map { text in words.contains { $0.isSameName(as: text) } } ?? false
    }
    // Without an argument they tell what time it is.
    let isBare = tokens.indices.dropFirst(2)
      .contains { place in
        isSymbol("(", at: tokens[place - 1]) && isSymbol(")", at: tokens[place])
          && name(of: tokens[place - 2])
            .map { text in Self.clockFunctions.contains { $0.isSameName(as: text) } } ?? false
      }
    return hasWord || isBare
  }
}
