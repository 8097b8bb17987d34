import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

/// The tables of a simulation's app, in two versions: drawn from the seed, the same on all devices.
///
/// ```
/// lists(id, a, b, c)               c since version 2
/// notes(id, list → lists, a, b, c) c since version 2
/// tags(list → lists, name, a, b)   a compound key; a foreign key where deletions cascade
/// marks(id, note → notes, a, b)    since version 2
/// ```
package struct SimulatedSchema: Sendable, Hashable {
  /// What becomes of a row whose parent is deleted.
  package enum Action: Sendable, Hashable {
    case cascade, setNull, noAction
    /// Foreign keys are neither declared nor enforced.
    case none
  }

  /// A column, and the SQL literal of its default.
  struct Column: Sendable, Hashable {
    var name: String
    var type: String
    var initial = "NULL"
    /// The table that it refers to.
    var parent: String?
  }

  /// A table in one version.
  struct Table: Sendable, Hashable {
    var name: String
    var key: [Column]
    var columns: [Column]

    func column(_ name: String) -> Column? { columns.first { $0.name == name } }
  }

  /// The version of the newest apps.
  package static let newest = 2

  let action: Action

  /// Draws a schema.
  package init(seed: UInt64) {
    var random = SeededRandom(seed: seed).fork(77)
    action = random.pick([.cascade, .cascade, .setNull, .noAction, .none])
  }

  package init(action: Action) { self.action = action }

  /// Whether connections are told to enforce foreign keys.
  var isEnforced: Bool { action != .none }

  /// The tables of a version, parents first.
  func tables(version: Int) -> [Table] {
    let key = Column(name: "id", type: "TEXT")
    let pair = [Column(name: "a", type: "INTEGER"), Column(name: "b", type: "TEXT")]
    func child(column: String, of table: String) -> Column {
      Column(name: column, type: "TEXT", parent: action == .none ? nil : table)
    }
    var lists = Table(name: "lists", key: [key], columns: pair)
    var notes = Table(
      name: "notes",
      key: [key],
      columns: [child(column: "list", of: "lists")] + pair
    )
    notes.columns[2].initial = "''"
    var list = Column(name: "list", type: "TEXT")
    if action == .cascade { list.parent = "lists" }
    let tags = Table(name: "tags", key: [list, Column(name: "name", type: "TEXT")], columns: pair)
    if version < 2 { return [lists, notes, tags] }
    lists.columns.append(Column(name: "c", type: "REAL", initial: "0.5"))
    notes.columns.append(Column(name: "c", type: "BLOB"))
    let marks = Table(
      name: "marks",
      key: [Column(name: "id", type: "INTEGER")],
      columns: [child(column: "note", of: "notes")] + pair
    )
    return [lists, notes, tags, marks]
  }

  /// The statements that make the tables of a version.
  func sql(version: Int) -> String { tables(version: version).map(sql).joined(separator: "\n") }

  /// The statements that make the newest version of the oldest.
  var migration: String {
    let marks = tables(version: 2).filter { $0.name == "marks" }.map(sql)
    return "ALTER TABLE lists ADD COLUMN c REAL DEFAULT 0.5; ALTER TABLE notes ADD COLUMN c BLOB;"
      + marks.joined()
  }

  private func sql(table: Table) -> String {
    var parts = (table.key + table.columns)
      .map { column in
        var text = "\(column.name) \(column.type)"
        if table.key.contains(column) || column.initial == "''" { text += " NOT NULL" }
        if column.initial != "NULL" { text += " DEFAULT \(column.initial)" }
        if let parent = column.parent { text += " REFERENCES \(parent)(id)\(clause)" }
        return text
      }
    parts.append("PRIMARY KEY(\(table.key.map(\.name).joined(separator: ", ")))")
    let isCompound = table.key.count > 1
    return "CREATE TABLE \(table.name)(\(parts.joined(separator: ", ")))"
      + (isCompound ? " WITHOUT ROWID;" : ";")
  }

  private var clause: String {
    switch action {
    case .cascade: " ON DELETE CASCADE"
    case .setNull: " ON DELETE SET NULL"
    case .noAction, .none: ""
    }
  }

  // MARK: Rows

  /// The row that a record of the workload stands for; its number is that of the record.
  func row(number: Int, version: Int) -> RowID {
    let place = number % 5
    let text = SQLiteValue.text("k\(number)")
    switch place {
    case 0: return RowID(table: "lists", key: [text])
    case 2:
      return RowID(table: "tags", key: [.text("k\(number - place)"), .text("x,é '\(number)")])
    case 3 where version >= 2: return RowID(table: "marks", key: [.integer(Int64(number))])
    default: return RowID(table: "notes", key: [text])
    }
  }
}

/// A row by its table and key.
package struct RowID: Sendable, Hashable, CustomStringConvertible {
  let table: String
  let key: [SQLiteValue]

  /// Both in a few words.
  package var description: String {
    "\(table)(\(key.map(\.literal).joined(separator: ", ")))"
  }

  /// The condition that finds it.
  func condition(table: SimulatedSchema.Table) -> String {
    zip(table.key, key).map { "\($0.name) = \($1.literal)" }.joined(separator: " AND ")
  }
}
