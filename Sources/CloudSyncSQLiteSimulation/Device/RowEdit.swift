import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Something that a user has done with a row, as the database took it.
struct RowEdit: Sendable {
  /// What was done.
  enum Change: Sendable {
    /// The row was inserted, with these values.
    case inserted([(column: String, value: SQLiteValue)])
    /// A column was given another value.
    case set(column: String, value: SQLiteValue)
    /// The row was deleted.
    case deleted
    /// The row was deleted with its parent.
    case deletedWithParent
  }

  var row: RowID
  /// When it was done, as the database's clock has it.
  var time: HybridTime
  var change: Change

  var isDeletion: Bool {
    switch change {
    case .deleted, .deletedWithParent: true
    case .inserted, .set: false
    }
  }
}

/// Makes a user's edits within a transaction, and notes what became of them.
struct RowEditor {
  let connection: SQLiteConnection
  let schema: SimulatedSchema
  let version: Int
  private(set) var edits: [RowEdit] = []

  init(_ connection: SQLiteConnection, _ schema: SimulatedSchema, _ version: Int) {
    self.connection = connection
    self.schema = schema
    self.version = version
  }

  private var tables: [SimulatedSchema.Table] { schema.tables(version: version) }

  /// Sets a column of a row, which is inserted if it is not there.
  mutating func set(field: String, of row: RowID, to number: Int64) throws(SQLiteError) {
    guard let table = tables.first(where: { $0.name == row.table }) else { return }
    guard let (column, value) = try value(field, number: number, table: table) else { return }
    let condition = row.condition(table: table)
    let query = "SELECT \(column) FROM \(table.name) WHERE \(condition)"
    if let present = try connection.value(query) {
      // What changes nothing is no edit.
      if present == value { return }
      try connection.execute(
        "UPDATE \(table.name) SET \(column) = \(value.literal) WHERE \(condition)"
      )
      try note(row, .set(column: column, value: value))
    } else {
      guard try hasParents(of: row, table: table) else { return }
      let columns = (table.key.map(\.name) + [column]).joined(separator: ", ")
      let values = (row.key + [value]).map(\.literal).joined(separator: ", ")
      try connection.execute("INSERT INTO \(table.name)(\(columns)) VALUES(\(values))")
      let names = table.columns.map(\.name)
      let list = names.joined(separator: ", ")
      let made = try connection.rows(sql: "SELECT \(list) FROM \(table.name) WHERE \(condition)")
      guard let made = made.first else { return }
      try note(row, .inserted(Array(zip(names, made).map { (column: $0, value: $1) })))
    }
  }

  /// Deletes a row that nothing keeps.
  mutating func delete(row: RowID) throws(SQLiteError) {
    guard let table = tables.first(where: { $0.name == row.table }) else { return }
    let condition = row.condition(table: table)
    let query = "SELECT count(*) FROM \(table.name) WHERE \(condition)"
    guard try connection.integer(query) == 1 else { return }
    let children = schema.action == .cascade ? try descendants(of: row) : []
    do throws(SQLiteError) {
      try connection.execute("DELETE FROM \(table.name) WHERE \(condition)")
    } catch {
      if error.kind == .foreignKey { return }
      throw error
    }
    for child in children { try note(child, .deletedWithParent) }
    try note(row, .deleted)
  }

  private mutating func note(_ row: RowID, _ change: RowEdit.Change) throws(SQLiteError) {
    let time = try isCaptured(row: row, change: change) ? HybridTime.zero : .zero.successor
    edits.append(RowEdit(row: row, time: time, change: change))
  }

  /// Whether the engine's triggers see an edit: not so in tables and columns that are newer than they.
  ///
  /// Nobody knows then when the edit was made, and it counts as older than all others.
  private func isCaptured(row: RowID, change: RowEdit.Change) throws(SQLiteError) -> Bool {
    var column = ""
    if case .set(let name, _) = change { column = name.quotedName }
    return try connection.integer(
      """
      SELECT count(*) FROM sqlite_schema
      WHERE type = 'trigger' AND tbl_name = \(SQLiteValue.text(row.table).literal)
        AND name LIKE 'cloudsync\\_capture\\_update\\_%' ESCAPE '\\'
        AND instr(sql, \(SQLiteValue.text(column).literal))
      """
    ) > 0
  }

  /// Gives the edits of one statement their time.
  mutating func stamp() throws(SQLiteError) {
    var time = HybridTime(rawValue: try connection.integer("SELECT last FROM cloudsync_clock"))
    // As the engine gives times when it reads them.
    for row in try connection.rows(sql: "SELECT time FROM cloudsync_outbox ORDER BY id") {
      guard case .real(let day)? = row.first else { continue }
      time = .next(after: time, now: CaptureClock.milliseconds(ofJulianDay: day))
    }
    for place in edits.indices where edits[place].time == .zero { edits[place].time = time }
  }

  /// The rows that are deleted with a row.
  private func descendants(of row: RowID) throws(SQLiteError) -> [RowID] {
    guard row.key.count == 1, let key = row.key.first else { return [] }
    var found: [RowID] = []
    for table in tables {
      for column in table.key + table.columns where column.parent == row.table {
        let list = table.key.map(\.name).joined(separator: ", ")
        let children = try connection.rows(
          sql: "SELECT \(list) FROM \(table.name) WHERE \(column.name) = \(key.literal) ORDER BY 1"
        )
        for child in children {
          let child = RowID(table: table.name, key: child)
          found += try descendants(of: child) + [child]
        }
      }
    }
    return found
  }

  /// Whether the parents are there that the key of a new row refers to.
  private func hasParents(
    of row: RowID,
    table: SimulatedSchema.Table
  ) throws(SQLiteError) -> Bool {
    for (column, value) in zip(table.key, row.key) {
      guard let parent = column.parent else { continue }
      guard try isThere(key: value, in: parent) else { return false }
    }
    return true
  }

  private func isThere(key: SQLiteValue, in table: String) throws(SQLiteError) -> Bool {
    try connection.integer("SELECT count(*) FROM \(table) WHERE id = \(key.literal)") > 0
  }

  /// The column that a field stands for, and the value that an edit gives it.
  private func value(
    _ field: String,
    number: Int64,
    table: SimulatedSchema.Table
  ) throws(SQLiteError) -> (column: String, value: SQLiteValue)? {
    if field == "b" {
      let isNull = number % 7 == 0 && table.column("b")?.initial == "NULL"
      return ("b", isNull ? .null : .text("é\(number)'"))
    }
    if field == "c" {
      let parent = table.columns.first { $0.name == "list" || $0.name == "note" }
      if let parent, number % 3 > 0 {
        return (parent.name, try reference(column: parent, number: number))
      }
      switch table.column("c")?.type {
      case "REAL": return ("c", .real(Double(number) + 0.25))
      case "BLOB": return ("c", .blob([0, 255] + "\(number)".utf8))
      default: break
      }
    }
    return ("a", .integer(number))
  }

  /// A row that is there to refer to, or none.
  private func reference(
    column: SimulatedSchema.Column,
    number: Int64
  ) throws(SQLiteError) -> SQLiteValue {
    let candidates: [Int64] = column.name == "list" ? [0, 5] : [1, 4, 6]
    let key = SQLiteValue.text("k\(candidates[Int(number % Int64(candidates.count))])")
    let table = column.name == "list" ? "lists" : "notes"
    return try isThere(key: key, in: table) ? key : .null
  }
}
