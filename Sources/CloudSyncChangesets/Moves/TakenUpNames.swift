import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Which columns have only another name now, of tables that were changed without the history.
///
/// SQLite tells of those that were renamed in place: it writes the new name into the triggers of the history. Where a table
/// was made anew the rows tell, as they do of migrations: a column of the same declaration holds the same in all of them. Where
/// it does so only in some, others may have been edited since, and somebody has to say it.
struct TakenUpNames {
  let connection: HistoryConnection
  /// What triggers tell: present names by table and former name.
  let told: [String: [String: String]]
  /// Former names of tables by their present ones, as far as triggers tell: SQLite has these follow a table that is renamed.
  let formerTables: [String: String]
  /// What somebody has said; nil if nobody was asked.
  private let said: [String: [String: String]]?
  /// The tables as they were when the triggers were made; nil if nobody knows.
  let installed: SchemaDescription?

  /// Reads what triggers tell, before they are made anew.
  init(
    _ connection: HistoryConnection,
    said: [String: [String: String]]?
  ) throws(ChangesetError) {
    self.connection = connection
    self.said = said
    let triggers = try Self.triggers(connection)
    let installed = try Self.installed(connection)
    self.installed = installed
    told = installed.map { Self.told(by: triggers, $0) } ?? [:]
    var formerTables: [String: String] = [:]
    for trigger in triggers where !trigger.former.isSameName(as: trigger.name) {
      formerTables[trigger.name] = trigger.former
    }
    self.formerTables = formerTables
  }

  /// What a column is called now, as far as triggers and people tell.
  func presentName(of column: String, in table: String) -> String {
    said?[table]?[column] ?? told[table]?[column] ?? column
  }

  /// The present names of a table's columns, by their former ones.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - before: The same as the history has it.
  ///   - rows: Its rows as the history has them.
  /// - Returns: The names.
  /// - Throws: That somebody has to say it.
  func names(
    of table: TrackedTable,
    before: SchemaDescription.Table,
    rows: [RowDelta]
  ) throws(ChangesetError) -> [String: String] {
    let present = SchemaDescription.Table(table.schema)
    let gone = before.columns.filter { present.column($0.name) == nil }
    let added = present.columns.filter { before.column($0.name) == nil }
    var names = told[table.name] ?? [:]
    for (former, name) in said?[table.name] ?? [:] { names[former] = name }
    names = names.filter { former, name in
      gone.contains { $0.name.hasSameBytes(as: former) }
        && added.contains { $0.name.hasSameBytes(as: name) }
    }
    for (former, name) in said?[table.name] ?? [:] where names[former] != name {
      throw ChangesetError(
        .misuse,
        "column \(former.quotedName) of table \(table.name.quotedName) was not renamed to \(name.quotedName): the one must"
          + " be gone, and the other new"
      )
    }
    if said != nil { return names }
    let open = gone.filter { names[$0.name] == nil }
    let free = added.filter { column in !names.values.contains { $0.hasSameBytes(as: column.name) }
    }
    guard open.contains(where: { !$0.candidates(among: free).isEmpty }) else { return names }
    return try names.merging(seen(open, free, in: table, rows: rows)) { one, _ in one }
  }

  // MARK: Rows

  /// What rows tell.
  private func seen(
    _ gone: [SchemaDescription.Column],
    _ added: [SchemaDescription.Column],
    in table: TrackedTable,
    rows: [RowDelta]
  ) throws(ChangesetError) -> [String: String] {
    let pairs = try TableRows(connection: connection, table: table).pairs(with: rows)
    var names: [String: String] = [:]
    for former in gone {
      for column in former.candidates(among: added) {
        let fill = try ColumnDefault.value(of: column.name, in: table)
        let same = pairs.count { pair in
          (pair.old.cell(former.name)?.new ?? .null) == (pair.new.cell(column.name)?.new ?? .null)
        }
        let telling = pairs.count { pair in
          let value = pair.old.cell(former.name)?.new ?? .null
          return value != .null && value != fill && value == pair.new.cell(column.name)?.new
        }
        // Where nothing tells it nothing depends on it: the column had what the new one has.
        if telling == 0 { continue }
        guard same == pairs.count, names[former.name] == nil,
          !names.values.contains(where: { $0.hasSameBytes(as: column.name) })
        else {
          throw ChangesetError(
            .needsMigration,
            "column \(former.name.quotedName) of table \(table.name.quotedName) is gone, and \(column.name.quotedName) holds"
              + " the same in \(telling) of \(pairs.count) rows; say by “renamed” whether it is the same"
          )
        }
        names[former.name] = column.name
      }
    }
    return names
  }

  // MARK: Triggers

  /// A trigger of the history: the table's name when it was made, the present one, and the trigger's text.
  private typealias Trigger = (former: String, name: String, sql: String)

  private static func triggers(
    _ connection: HistoryConnection
  ) throws(ChangesetError) -> [Trigger] {
    try connection.rows(
      """
      SELECT t.name, s.tbl_name, s.sql FROM changesets_tables t
      JOIN main.sqlite_schema s ON s.type = 'trigger' AND s.name = 'changesets_update_' || t.number
      """
    ) { (former: $0.text(0) ?? "", name: $0.text(1) ?? "", sql: $0.text(2) ?? "") }
  }

  private static func installed(
    _ connection: HistoryConnection
  ) throws(ChangesetError) -> SchemaDescription? {
    guard let bytes = try Info(connection).bytes(name: .schema), let digest = Digest(bytes),
      let number = try Dictionaries(connection: connection).number(ofSchema: SchemaID(digest))
    else { return nil }
    return try Dictionaries(connection: connection).schema(number: number)
  }

  private static func told(
    by triggers: [Trigger],
    _ installed: SchemaDescription
  ) -> [String: [String: String]] {
    var told: [String: [String: String]] = [:]
    for (former, name, sql) in triggers {
      guard let table = installed.table(former) else { continue }
      let key = table.columns.filter { $0.keyPlace > 0 }
      let columns = table.columns.filter { $0.keyPlace == 0 && !$0.isGenerated }.map(\.name)
        .sortedByBytes()
      let present = columnsKept(by: sql).dropFirst(key.count)
      guard present.count == columns.count else { continue }
      for (former, present) in zip(columns, present) where !former.hasSameBytes(as: present) {
        told[name, default: [:]][former] = present
      }
    }
    return told
  }

  /// The columns that a trigger keeps of a row, in their order.
  private static func columnsKept(by sql: String) -> [String] {
    let text = SQLText(sql)
    let tokens = text.meaningfulTokens
    guard let start = tokens.lastIndex(where: { text.isWord("VALUES", at: $0) }) else { return [] }
    var names: [String] = []
    for place in tokens.indices.dropFirst(start) where text.isWord("OLD", at: tokens[place]) {
      guard place + 2 < tokens.count, let name = text.name(of: tokens[place + 2]) else { return [] }
      names.append(name)
    }
    return names
  }
}
