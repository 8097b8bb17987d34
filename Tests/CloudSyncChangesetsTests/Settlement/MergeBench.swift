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
  /// Whether rows are put into the tables from behind.
  private var isReversed = false
  /// Whether SQL runs with foreign keys enforced.
  var enforces = true
  private(set) var conflicts: [MergeConflict] = []
  /// What no merge may do, in words.
  private(set) var problems: [String] = []

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
    for table in tables.tables { rules.columns[table.name] = table.columns }
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

  /// Commits what those of some statements make of a state that the tables do not refuse; nil if they change nothing.
  func commit(
    trying statements: [String],
    on parent: ChangesetID?,
    at time: Int,
    replica: String
  ) throws -> ChangesetID? {
    try load(parent)
    let before = try state()
    try connection.execute("PRAGMA foreign_keys = \(enforces ? "ON" : "OFF")")
    for statement in statements {
      do throws(ChangesetError) { try connection.execute(statement) } catch {
        if connection.sqlite.isInTransaction { throw error }
      }
    }
    try connection.execute("PRAGMA foreign_keys = OFF")
    let changes = try before.inverted(at: .zero).followed(by: state())
    if changes.isEmpty { return nil }
    let tables = changes.at(HybridTime(rawValue: Int64(time))).tables
    return try memory.edit(parent, time: time, replica: replica, tables)
  }

  /// Merges two commits, in either order, and checks that the tables can hold it.
  @discardableResult
  func merge(_ one: ChangesetID, _ other: ChangesetID) throws -> ChangesetID {
    let plan = try settled(one, other)
    // Neither the order of the heads nor that of the rows on the disk may matter.
    isReversed = true
    try connection.execute("PRAGMA reverse_unordered_selects = ON")
    let same = try settled(other, one)
    isReversed = false
    try connection.execute("PRAGMA reverse_unordered_selects = OFF")
    #expect(plan.changes == same.changes && plan.conflicts == same.conflicts)
    #expect(plan.questions.isEmpty)
    conflicts = plan.conflicts
    problems += try plan.losses(in: memory)
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
      for row in isReversed ? change.rows.reversed() : change.rows {
        try TableWriter(connection: connection, table: tracked).insert(change: row)
      }
    }
    if enforces {
      let dangling = try connection.rows("SELECT * FROM pragma_foreign_key_check") { query in
        (0..<query.columnCount).map { query.value($0).literal }.joined(separator: " ")
      }
      problems += dangling.map { "nobody is referred to by \($0)" }
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

extension MergePlan {
  /// What either side has made of rows and the merge neither has nor tells of.
  fileprivate func losses(in memory: MemoryHistory) throws -> [String] {
    let state = try memory.state(parents[0]).followed(by: changes)
    var told: [String: [MergeConflict]] = [:]
    for conflict in conflicts {
      told["\(conflict.table) \(conflict.key)", default: []].append(conflict)
    }
    var losses: [String] = []
    for table in firstNet.tables + secondNet.tables {
      let rows = Dictionary(
        (state.table(table.name)?.rows ?? []).map { ($0.key, $0) },
        uniquingKeysWith: { one, _ in one }
      )
      for row in table.rows {
        let known = told["\(table.name) \(row.key)"] ?? []
        let now = rows[row.key]
        if row.kind == .delete {
          if now != nil, known.isEmpty { losses.append("\(table.name) \(row.key.values) is back") }
          continue
        }
        for cell in row.cells where (now?.cell(cell.column)?.new ?? .null) != cell.new {
          let isTold = known.contains { conflict in
            conflict.lost.contains { $0.column == cell.column && $0.value == cell.new }
              || cell.new == .null
          }
          if !isTold {
            losses.append("\(table.name) \(row.key.values) \(cell.column) \(cell.new.literal)")
          }
        }
      }
    }
    return losses
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
      let cells = row.cells.filter(\.isChange).map { "\($0.column) \($0.new.literal)" }
      return "\(name) \(row.key.values.map(\.literal)) \(cells)"
    }
  }
}
