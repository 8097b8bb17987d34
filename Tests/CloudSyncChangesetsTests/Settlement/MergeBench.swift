import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncChangesets

/// Commits of a schema, made by SQL on a plain database and merged with all that its tables demand.
final class MergeBench {
  let connection: HistoryConnection
  let tables: TrackedTables
  let memory = MemoryHistory()
  var rules = MergeRules()
  var handler: RowHandler?
  /// Whether SQL runs with foreign keys enforced.
  var enforces = true
  private(set) var conflicts: [MergeConflict] = []

  init(_ schema: String) throws {
    connection = HistoryConnection(sqlite: try SQLiteConnection(path: ":memory:"))
    try connection.execute(schema)
    let read = try DatabaseSchema.read(connection.sqlite)
    var tracked: [TrackedTable] = []
    for (number, table) in read.tables.enumerated() {
      tracked.append(try TrackedTable(number: Int64(number), schema: table, connection))
    }
    let description = SchemaDescription(tables: read.tables)
    tables = TrackedTables(
      tables: tracked.sorted { $0.name.precedesByBytes($1.name) },
      schema: read,
      description: description,
      id: description.id,
      version: 0
    )
  }

  // MARK: Commits

  /// Commits what SQL makes of a state.
  func commit(_ sql: String, on parent: ChangesetID? = nil, at time: Int) throws -> ChangesetID {
    try load(parent)
    let before = try state()
    try connection.execute("PRAGMA foreign_keys = \(enforces ? "ON" : "OFF")")
    try connection.execute(sql)
    try connection.execute("PRAGMA foreign_keys = OFF")
    let changes = try before.inverted(at: .zero).followed(by: state())
    return try memory.edit(parent, time: time, changes.at(HybridTime(rawValue: Int64(time))).tables)
  }

  /// Merges two commits, in either order, and checks that the tables can hold it.
  @discardableResult
  func merge(_ one: ChangesetID, _ other: ChangesetID) throws -> ChangesetID {
    let plan = try settled(one, other)
    let same = try settled(other, one)
    #expect(plan.changes == same.changes && plan.conflicts == same.conflicts)
    #expect(plan.questions.isEmpty)
    conflicts = plan.conflicts
    let id = try memory.merge(plan)
    try load(id)
    #expect(try state().tables.map(\.values) == memory.state(id).tables.map(\.values))
    #expect(StateHash.zero.adding(try state()) == (try memory.header(of: id).stateHash))
    return id
  }

  func settled(_ one: ChangesetID, _ other: ChangesetID) throws -> MergePlan {
    let plan = try MergeWork(memory, rules: rules, handler: handler).plan(one, other)
    try load(plan.parents[0])
    try connection.execute("BEGIN")
    let settled = try Settlement(plan, connection: connection, tables: tables).settled()
    try connection.execute("ROLLBACK")
    // Where nothing ties the sides there is nothing to settle.
    if !plan.needsSettlement(in: tables) {
      #expect(settled.changes == plan.changes && settled.conflicts == plan.conflicts)
    }
    return settled
  }

  /// Has the tables hold a state, and checks that they do.
  func load(_ id: ChangesetID?) throws {
    for table in tables.tables { try connection.execute("DELETE FROM \(table.name.quotedName)") }
    for change in try memory.state(id).tables {
      guard let tracked = tables.table(change.name) else { continue }
      for row in change.rows {
        try TableWriter(connection: connection, table: tracked).insert(row)
      }
    }
    if enforces {
      #expect(try connection.integer("SELECT count(*) FROM pragma_foreign_key_check") == 0)
    }
  }

  private func state() throws -> StateDelta {
    var result: [TableDelta] = []
    for table in tables.tables {
      var rows: [RowDelta] = []
      try TableRows(connection: connection, table: table).forEach { rows.append($0) }
      rows.sort { $0.key < $1.key }
      if !rows.isEmpty { result.append(TableDelta(table.name, rows: rows)) }
    }
    return StateDelta(tables: result)
  }

  // MARK: Looking

  /// The rows that a query gives, as literals.
  func rows(_ sql: String, at id: ChangesetID) throws -> [String] {
    try load(id)
    return try connection.rows(sql) { query in
      (0..<query.columnCount).map { query.value($0).literal }.joined(separator: " ")
    }
  }

  /// What was decided in the last merge, in words.
  var decisions: [String] { conflicts.map(\.text) }
}

extension MergeConflict {
  var text: String {
    let values = key.values.map(\.literal).joined(separator: ",")
    let words = "\(kind) \(table) \(values)\(isSetAside ? " aside" : "")"
    func list(_ cells: [Cell]) -> String {
      cells.map { "\($0.column)=\($0.value.literal)" }.joined(separator: " ")
    }
    return "\(words): \(list(kept)) | \(list(lost))"
  }
}

extension StateDelta {
  fileprivate func at(_ time: HybridTime) -> StateDelta {
    var delta = self
    for table in delta.tables.indices {
      for row in delta.tables[table].rows.indices {
        delta.tables[table].rows[row].time = time
        for cell in delta.tables[table].rows[row].cells.indices {
          delta.tables[table].rows[row].cells[cell].time = time
        }
      }
    }
    return delta
  }
}

extension TableDelta {
  /// The rows without times.
  fileprivate var values: [String] {
    rows.map { row in
      "\(name) \(row.key.values.map(\.literal)) \(row.cells.map { "\($0.column) \($0.new.literal)" })"
    }
  }
}
