import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Makes a user's edits within a transaction, and notes what became of them.
struct RowEditor {
  let connection: SQLiteConnection
  let schema: SimulatedSchema
  let version: SimulatedSchema.Version
  private(set) var edits: [RowEdit] = []
  /// What an engine's triggers have done wrong.
  var failures: [String] = []

  init(
    connection: SQLiteConnection,
    schema: SimulatedSchema,
    version: SimulatedSchema.Version
  ) {
    self.connection = connection
    self.schema = schema
    self.version = version
  }

  var tables: [SimulatedSchema.Table] { schema.tables(version: version) }

  func table(of row: RowID) -> SimulatedSchema.Table? { tables.first { $0.name == row.table } }

  // MARK: Edits

  /// Sets a column of a row, which is inserted if it is not there.
  mutating func set(field: String, of row: RowID, to number: Int64) throws(SQLiteError) {
    guard let table = table(of: row) else { return }
    let (column, value) = try value(of: field, number: number, table: table)
    guard let former = try values(of: row, in: table) else {
      return try insert(row, column: column, value: value, number: number, in: table)
    }
    if schema.isRestless ? number % 3 != 1 : column == "a" && number % 3 == 0,
      let counter = table.counter
    {
      let amount = number % 2 == 0 ? number : -number
      let name = counter.sql
      return try change(row, in: table, to: "\(name) = \(name) + \(amount)", from: former) {
        [.added(column: counter.name, amount: amount)]
      }
    }
    // What changes nothing is no edit.
    if former.contains(where: { $0.column == column && $0.value == value }) { return }
    try change(row, in: table, to: "\(table.sql(column)) = \(value.literal)", from: former) {
      [.set(column: column, value: value)]
    }
  }

  private mutating func insert(
    _ row: RowID,
    column: String,
    value: SQLiteValue,
    number: Int64,
    in table: SimulatedSchema.Table
  ) throws(SQLiteError) {
    guard try hasParents(of: row, table: table) else { return }
    var row = row
    let isGiven = schema.givesKeys(of: table.name)
    let key = isGiven ? [] : table.key.map(\.name)
    let columns = (key + ["born", table.sql(column)]).joined(separator: ", ")
    let values = ((isGiven ? [] : row.key) + [.integer(number), value]).map(\.literal)
      .joined(separator: ", ")
    guard try run("INSERT INTO \(table.name)(\(columns)) VALUES(\(values))") else { return }
    if isGiven {
      let key = SQLiteValue.integer(try connection.integer("SELECT last_insert_rowid()"))
      row = RowID(table: table.name, key: [key])
    }
    guard let made = try self.values(of: row, in: table) else { return }
    try note(row, .inserted(made), former: [])
  }

  /// Deletes a row that nothing keeps.
  mutating func delete(row: RowID) throws(SQLiteError) {
    guard let table = table(of: row), let former = try values(of: row, in: table) else { return }
    let children = schema.action == .cascade ? try descendants(of: row, having: former) : []
    guard try run("DELETE FROM \(table.name) WHERE \(row.condition(table: table))") else { return }
    for (child, former) in children { try note(child, .deletedWithParent, former: former) }
    try note(row, .deleted, former: former)
  }

  /// Gives a row another key; what refers to it follows, or keeps it from that.
  mutating func rename(
    _ row: RowID,
    to other: RowID,
    number: Int64
  ) throws(SQLiteError) {
    guard row != other, let table = table(of: row), row.table == other.table,
      table.key.count == 1, let former = try values(of: row, in: table)
    else { return }
    // One that has the key already may be written over, if nothing refers to it.
    let replaced = try values(of: other, in: table)
    if let replaced {
      let isAlone = try children(of: other, having: replaced).isEmpty
      guard number % 2 > 0, isAlone else { return }
    }
    // What refers to another column of the row has nothing to follow.
    let children =
      schema.followsKeys
      ? try self.children(of: row, having: former)
        .filter { refersToKey(of: table, $0.row, $0.column) }
      : []
    let key = "\(table.key[0].name) = \(other.key[0].literal), born = \(number)"
    let update = replaced == nil ? "UPDATE" : "UPDATE OR REPLACE"
    guard try run("\(update) \(table.name) SET \(key) WHERE \(row.condition(table: table))")
    else { return }
    if let replaced { try note(other, .deleted, former: replaced) }
    guard let made = try values(of: other, in: table) else { return }
    try note(row, .deleted, former: former)
    try note(other, .inserted(made), former: [], origin: row)
    for (child, column, former) in children {
      if let place = self.table(of: child)?.key.firstIndex(where: { $0.name == column }) {
        var key = child.key
        key[place] = other.key[0]
        try note(child, .deleted, former: former)
        let next = RowID(table: child.table, key: key)
        try note(next, .inserted(former), former: [], origin: child)
      } else {
        let change = RowEdit.Change.set(column: column, value: other.key[0])
        try note(child, change, former: former, isCascade: true)
      }
    }
  }

  private func refersToKey(
    of parent: SimulatedSchema.Table,
    _ child: RowID,
    _ column: String
  ) -> Bool {
    let columns = table(of: child).map { $0.key + $0.columns } ?? []
    return columns.first { $0.name == column }?.parentColumn == parent.key[0].name
  }

  /// Spells a row's key anew.
  mutating func respell(_ row: RowID, number: Int64) throws(SQLiteError) {
    guard let table = table(of: row), let former = try values(of: row, in: table),
      case .text(let text)? = row.key.first
    else { return }
    let spelling: String
    switch schema.collation {
    case "NOCASE": spelling = number % 2 == 0 ? text.uppercased() : text
    case "RTRIM": spelling = text + String(repeating: " ", count: Int(number % 3))
    default: return
    }
    let value = SQLiteValue.text(spelling)
    if former.contains(where: { $0.column == "id" && $0.value == value }) { return }
    try change(row, in: table, to: "id = \(value.literal)", from: former) {
      [.set(column: "id", value: value)]
    }
  }

  /// Has a row take the name of another one, which gets its own, or none.
  mutating func takeName(
    _ row: RowID,
    from other: RowID,
    isSwap: Bool
  ) throws(SQLiteError) -> Bool {
    guard row != other, let table = table(of: row), table.column("name") != nil,
      let mine = try values(of: row, in: table), let theirs = try values(of: other, in: table),
      let name = mine.first(where: { $0.column == "name" })?.value,
      let wanted = theirs.first(where: { $0.column == "name" })?.value, name != wanted
    else { return false }
    let given = isSwap ? name : .null
    func statement(giving row: RowID, _ value: SQLiteValue) -> String {
      "UPDATE \(table.name) SET name = \(value.literal) WHERE \(row.condition(table: table))"
    }
    // What refers to the name may keep it where it is.
    guard try run(statement(giving: other, .null)) else { return false }
    guard try run(statement(giving: row, wanted)) else {
      // That counts as an edit all the same.
      _ = try run(statement(giving: other, wanted))
      try note(other, .set(column: "name", value: wanted), former: theirs)
      return true
    }
    if given != .null { _ = try run(statement(giving: other, given)) }
    try note(other, .set(column: "name", value: given), former: theirs)
    try note(row, .set(column: "name", value: wanted), former: mine)
    return true
  }

  // MARK: Notes

  /// Notes an edit that a migration has made, which nobody has captured.
  mutating func noteUnseen(_ row: RowID, _ change: RowEdit.Change, former: [RowEdit.Value] = []) {
    let row = schema.identity(of: row, values: former)
    var edit = RowEdit(row: row, time: .zero.successor, change: change)
    edit.isCaptured = false
    edits.append(edit)
  }

  private mutating func change(
    _ row: RowID,
    in table: SimulatedSchema.Table,
    to assignment: String,
    from former: [RowEdit.Value],
    noting changes: () -> [RowEdit.Change]
  ) throws(SQLiteError) {
    let condition = row.condition(table: table)
    guard try run("UPDATE \(table.name) SET \(assignment) WHERE \(condition)") else { return }
    for change in changes() { try note(row, change, former: former) }
  }

  /// Runs a statement; returns whether no constraint has forbidden it.
  private func run(_ sql: String) throws(SQLiteError) -> Bool {
    do throws(SQLiteError) { try connection.execute(sql) } catch {
      if error.kind == .foreignKey || error.kind == .constraint { return false }
      throw error
    }
    return true
  }

  mutating func note(
    _ row: RowID,
    _ change: RowEdit.Change,
    former: [RowEdit.Value],
    origin: RowID? = nil,
    isCascade: Bool = false
  ) throws(SQLiteError) {
    var values = former
    if case .inserted(let made) = change { values = made }
    let identity = schema.identity(of: row, values: values)
    var edit = RowEdit(row: identity, time: .zero, change: change, former: former)
    (edit.origin, edit.isCascade) = (origin, isCascade)
    if case .set(let column, let value) = change, edit.former(of: column) == value {
      return
    }
    if case .integer(let life)? = former.first(where: { $0.column == "born" })?.value {
      edit.life = life
    }
    edit.referred = try referred(by: change, of: row)
    edit.isCaptured = try isCaptured(row: row, change: change)
    if !edit.isCaptured { edit.time = .zero.successor }
    edits.append(edit)
  }

  /// Which row an edit has a row refer to by its key.
  private func referred(
    by change: RowEdit.Change,
    of row: RowID
  ) throws(SQLiteError) -> (column: String, life: Int64)? {
    let column = table(of: row)?.columns.first { $0.parent != nil && $0.parentColumn == "id" }
    guard let column, let parent = column.parent,
      let value = RowEdit(row: row, time: .zero, change: change).value(of: column.name),
      value != .null
    else { return nil }
    let found = try connection.rows(
      sql: "SELECT born FROM \(parent) WHERE id = \(value.literal)"
    )
    guard case .integer(let life)? = found.first?.first else { return nil }
    return (column.name, life)
  }

  /// Whether the engine's triggers see an edit: not so in tables and columns that are newer than they.
  ///
  /// Nobody knows then when the edit was made, and it counts as older than all others.
  private func isCaptured(row: RowID, change: RowEdit.Change) throws(SQLiteError) -> Bool {
    var column = ""
    switch change {
    case .set(let name, _), .added(let name, _): column = name.quotedName
    case .inserted, .deleted, .deletedWithParent: break
    }
    return try connection.integer(
      """
      SELECT count(*) FROM sqlite_schema
      WHERE type = 'trigger' AND tbl_name = \(SQLiteValue.text(row.table).literal)
        AND name LIKE 'cloudsync\\_capture\\_update\\_%' ESCAPE '\\'
        AND instr(sql, \(SQLiteValue.text(column).literal))
      """
    ) > 0
  }

  /// Gives the edits that were made since the last time theirs: the engine's triggers have noted them in the outbox.
  mutating func stamp() throws(SQLiteError) {
    guard edits.contains(where: { $0.time == .zero }) else { return }
    var time = HybridTime(rawValue: try connection.integer("SELECT last FROM cloudsync_clock"))
    var (times, deletions): ([RowID: HybridTime], [RowID: HybridTime]) = ([:], [:])
    let key = schema.focus == .items ? "o.k0, NULL" : "o.k0, o.k1"
    let captured = try connection.rows(
      sql: "SELECT o.time, t.name, \(key), o.change FROM cloudsync_outbox o"
        + " JOIN cloudsync_tables t ON t.id = o.table_id ORDER BY o.id"
    )
    for row in captured {
      guard case .real(let day) = row[0], case .text(let table) = row[1] else { continue }
      // As the engine gives times when it reads them.
      time = .next(after: time, now: CaptureClock.milliseconds(ofJulianDay: day))
      let key = table == "tags" ? [row[2], row[3]] : [row[2]]
      let id = RowID.canonical(table: table, key: key)
      times[id] = time
      if case .integer(-4 ... -2) = row[4] { deletions[id] = time }
    }
    for place in edits.indices where edits[place].time == .zero {
      // A row that is written over goes when the other one leaves its former key.
      let writer = edits[place...].first { $0.row == edits[place].row && $0.origin != nil }
      let origin = edits[place].isDeletion ? writer?.origin : nil
      let row = origin ?? edits[place].row
      // A trigger may have put a row back that was deleted.
      let deletion = schema.hasTriggers && edits[place].isDeletion ? deletions[row] : nil
      edits[place].time = deletion ?? times[row] ?? time
    }
  }
}
