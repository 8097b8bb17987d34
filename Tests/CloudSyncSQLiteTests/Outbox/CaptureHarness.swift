import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncSQLite

/// A database whose edits are captured, and a plain copy of its rows that they are replayed over.
final class CaptureHarness {
  let connection: SQLiteConnection
  let names: [String]
  let kept: [String]
  private(set) var tables: [CapturedTable] = []
  /// The rows by their keys' identities, each with its columns.
  private(set) var copy: [Row: [String: FieldValue]] = [:]

  struct Row: Hashable {
    var table: String
    var key: [SQLiteValue]
  }

  init(_ schema: String, tables names: [String] = ["t"], kept: [String] = []) throws {
    connection = try SQLiteConnection(path: ":memory:")
    self.names = names
    self.kept = kept
    try connection.execute(schema)
    try OutboxSchema.prepare(on: connection)
    try setTime(1_000)
    try install()
  }

  /// Installs the triggers for the tables as they are now.
  func install(_ some: [String]? = nil) throws {
    let schema = try DatabaseSchema.read(connection)
    tables = try connection.transaction { () throws(SQLiteError) in
      let requests = (some ?? names).compactMap { schema.table(named: $0) }
        .map {
          let actions = ReferenceActions(on: $0, of: schema.references)
          return CaptureInstallation.Request(schema: $0, kept: kept, actions: actions)
        }
      return try CaptureInstallation(connection: connection, clock: .fixed).install(requests)
    }
  }

  func setTime(_ milliseconds: Int) throws {
    try connection.execute("UPDATE main.cloudsync_clock SET fixed = \(milliseconds)")
  }

  func execute(_ sql: String) throws { try connection.execute(sql) }

  /// What a query gives, a line for each row.
  func lines(_ sql: String) throws -> [String] {
    let query = try connection.prepare(sql)
    var lines: [String] = []
    try query.forEachRow {
      lines.append((0..<query.columnCount).map { query.value($0).literal }.joined(separator: "|"))
    }
    return lines
  }

  func reader(_ tables: [CapturedTable]? = nil) -> CapturedEditReader {
    let tables = CapturedEditReader.Tables(tables ?? self.tables)
    return CapturedEditReader(connection: connection, tables: tables) { _ in
      { _, value, _ in Self.field(value) }
    }
  }

  /// Reads all edits, and replays them over the copy.
  @discardableResult
  func read(limit: Int = 1_000) throws -> [CapturedRow] {
    var rows: [CapturedRow] = []
    let all = reader()
    try connection.transaction { () throws(SQLiteError) in
      try all.readAll(limit: limit) { rows += $0.rows }
    }
    for row in rows { replay(row) }
    return rows
  }

  private func replay(_ row: CapturedRow) {
    guard let table = tables.first(where: { $0.id == row.table }) else { return }
    let id = Row(table: table.name, key: table.identity(of: row.key))
    for edit in row.edits {
      switch edit {
      case .deleted: copy[id] = nil
      case .renamed, .moved, .handed, .withheld, .referred: break
      case .inserted(let columns, _), .found(let columns), .restored(let columns):
        var values: [String: FieldValue] = [:]
        for column in columns { values[column.name] = column.value }
        copy[id] = values
      case .updated(let columns, _):
        for column in columns { copy[id]?[column.name] = column.value }
      case .lost: Issue.record("nobody captures what goes unseen")
      case .settled: Issue.record("nobody captures what the engine settles")
      }
    }
  }

  /// Whether the copy has what the tables have, to the byte.
  func isSame() throws -> Bool {
    for table in tables {
      let columns = table.schema.writableColumns.map(\.name)
      let list = columns.map(\.quotedName).joined(separator: ", ")
      let condition = table.hasKey("t").map { " WHERE \($0)" } ?? ""
      let query = try connection.prepare(
        "SELECT \(list) FROM main.\(table.name.quotedName) AS t\(condition)"
      )
      var count = 0
      var isSame = true
      try query.forEachRow {
        count += 1
        let values = columns.indices.map { query.value(Int32($0)) }
        let key = table.key.map { key in
          columns.firstIndex(of: key.name).map { values[$0] } ?? .null
        }
        let known = copy[Row(table: table.name, key: table.identity(of: key))] ?? [:]
        for (column, value) in zip(columns, values)
        where known[column]?.codedBytes != Self.field(value).codedBytes { isSame = false }
      }
      let known = copy.keys.filter { $0.table == table.name }
      if !isSame || known.count != count { return false }
    }
    return true
  }

  static func field(_ value: SQLiteValue) -> FieldValue {
    if case .field(let field) = ValueCodec.encode(value, assetThreshold: .max) {
      field
    } else {
      .null
    }
  }

  /// Edits as short lines: `+id,title@1000.0`.
  static func text(_ rows: [CapturedRow]) -> [String] {
    rows.map { row in
      let key = row.key.map(\.literal).joined(separator: ",")
      return key + " " + row.edits.map(text).joined(separator: " ")
    }
  }

  private static func text(_ edit: RowEdit) -> String {
    func list(_ columns: [ColumnEdit]) -> String {
      columns.map { column in
        let former = column.former.map { "(\(text($0)))" } ?? ""
        return "\(column.name)=\(former)\(text(column.value))"
      }
      .joined(separator: ",")
    }
    return switch edit {
    case .inserted(let columns, let time): "+\(list(columns))@\(time)"
    case .updated(let columns, let time): "~\(list(columns))@\(time)"
    case .deleted(let columns, let time): "-\(list(columns))@\(time)"
    case .lost(let names, let time): "-\(names)@\(time)"
    case .found(let columns): "?\(list(columns))"
    case .settled(let columns, let time): "=\(columns.map(\.name))@\(time)"
    case .restored(let columns): "!\(list(columns))"
    case .renamed(let moves): ">\(moves.map(\.name))"
    case .moved(let columns, _, let time): "<\(list(columns))@\(time)"
    case .withheld(let hand): "%\(hand.version.columns.map(\.name))"
    case .handed(let hand): "&\(hand.version.columns.map(\.name))@\(hand.version.created)"
    case .referred(let references): "^\(references.map(\.column))"
    }
  }

  private static func text(_ value: FieldValue) -> String {
    switch value {
    case .null: "NULL"
    case .int64(let number): "\(number)"
    case .double(let number): "\(number)"
    case .string(let text): text
    default: "…"
    }
  }
}
