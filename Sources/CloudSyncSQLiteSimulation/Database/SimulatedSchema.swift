import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

/// The tables of a simulation's app, in several versions: drawn from the seed, the same on all devices.
///
/// ```
/// lists(id, born, a, b, n, c)              a family: n is a counter, c is added by a migration,
/// notes(id, list → lists, born, a, b, c)   which may drop a b
/// tags(list → lists, name, born, a, b)     a compound key; a foreign key where deletions cascade
/// marks(id, note → notes, born, a, b)      added by a migration
/// items(id, name, born, a, b, n, c)        a key with a collation; names may be unique
/// uses(id, item → items(name), born, a, b) refers by the unique key
/// ```
///
/// `born` is the number of the edit that inserted the row: whoever edits it later knows which life of it that is.
package struct SimulatedSchema: Sendable, Hashable {
  /// What becomes of a row whose parent is deleted.
  package enum Action: Sendable, Hashable {
    case cascade, setNull, noAction
    /// Foreign keys are neither declared nor enforced.
    case none
  }

  /// What becomes of two items of the same name.
  enum Uniqueness: Sendable, Hashable {
    /// They may have it both.
    case none
    case merged, renamed
    /// The older one waits beside its table.
    case parked
  }

  /// How texts are merged that several devices have changed; all but the first are the engine's own affair.
  enum TextMerge: Sendable, Hashable {
    case newest, client, server, maximum
    /// The longer one.
    case custom

    var policy: MergePolicy {
      switch self {
      case .newest: .newest
      case .client: .client
      case .server: .server
      case .maximum: .maximum
      case .custom:
        .custom { conflict in
          let sides = [conflict.local, conflict.server]
          let texts = sides.compactMap(\.stringValue)
          guard texts.count == 2 else { return texts.isEmpty ? .null : .string(texts[0]) }
          return .string(
            (texts[0].count, texts[0]) > (texts[1].count, texts[1]) ? texts[0] : texts[1]
          )
        }
      }
    }
  }

  /// Which tables there are.
  enum Focus: Sendable, Hashable { case family, items, all }

  /// A column, and the SQL literal of its default.
  struct Column: Sendable, Hashable {
    /// The same in all versions.
    var name: String
    var type: String
    var initial = "NULL"
    /// The table that it refers to, and the column there.
    var parent: String?
    var parentColumn = "id"
    /// What else its declaration says.
    var constraint = ""
    var isRequired = false
    /// Whether it is merged as a counter.
    var isCounter = false
    /// What the tables of a version call it, if they call it otherwise.
    var alias: String?

    /// Its name in statements.
    var sql: String { alias ?? name }

    /// Its default.
    var initialValue: SQLiteValue {
      if initial == "NULL" { return .null }
      if initial.hasPrefix("'") { return .text(String(initial.dropFirst().dropLast())) }
      if let number = Int64(initial) { return .integer(number) }
      return Double(initial).map { .real($0) } ?? .null
    }
  }

  /// A table in one version.
  struct Table: Sendable, Hashable {
    var name: String
    var key: [Column]
    var columns: [Column]
    /// Those that stay on the device.
    var locals: [Column] = []

    /// All columns, as the table declares them.
    var declared: [Column] { key + locals + columns }

    func column(_ name: String) -> Column? { columns.first { $0.name == name } }

    /// A column's name in statements.
    func sql(_ name: String) -> String { column(name)?.sql ?? name }

    var counter: Column? { columns.first(where: \.isCounter) }
  }

  /// A version of the app.
  package struct Version: Sendable, Hashable {
    /// Whether it has the table and the columns that came later.
    var hasAdditions = true
    /// Whether it has dropped a column.
    var hasDropped = false
    /// Whether it calls columns otherwise.
    var hasRenamed = false
    /// Whether a column of whole numbers is one of reals.
    var hasRetyped = false

    /// Who knows most has the greatest.
    var rank: Int { (hasAdditions ? 2 : 0) + (hasDropped ? 0 : 1) }
  }

  let action: Action
  var focus = Focus.family
  var uniqueness = Uniqueness.none
  /// Whether the key of a parent may change, and its children follow.
  var followsKeys = false
  /// The collation of the items' keys.
  var collation = "BINARY"
  var itemDeletes = DeletePolicy.deleteWins
  /// Whether keys are changed and counters added to all the time.
  var isRestless = false
  /// Whether every other device has the other policy.
  var hasMixedDeletes = false
  /// Whether its app has triggers.
  var hasTriggers = false
  /// Whether rows have a column that is not synchronized.
  var hasLocals = false
  /// Whether counters are among what came later.
  var addsCounters = false
  /// Whether SQLite gives the marks their keys, in a range of each device.
  var givesKeys = false
  /// How long the records of deleted rows stay in the cloud; for ever if there is none.
  var purgeAge: Duration?
  /// How every other device's database has its text.
  var encoding = "UTF-8"
  /// How the column `b` is merged.
  var textMerge = TextMerge.newest
  /// Whether there are uses.
  var hasUses = false
  /// Whether all databases have the same rows from the beginning.
  var isSeeded = false
  var orphans = OrphanPolicy.restoreParent
  /// What only one device's tags must hold, as SQL.
  var tagRule: String?
  var cascades = OrphanPolicy.deleteChildren
  /// What columns are called by the newest version, by table and name, where it calls them otherwise.
  var renames: [String: [String: String]] = [:]

  /// Whether one device's newest version has a column of reals where the others' have whole numbers.
  var isRetyped = false

  /// The type of the column that a migration adds with a default.
  var addedType = "REAL"
  /// That default; where it is a whole number, one device's type may make a real of it.
  var addedDefault = "0.5"

  /// Draws a schema.
  package init(seed: UInt64) {
    var random = SeededRandom(seed: seed).fork(77)
    action = random.pick([.cascade, .cascade, .setNull, .noAction, .none])
    focus = random.pick([.family, .family, .items, .items, .all])
    uniqueness = random.pick([.none, .none, .merged, .renamed])
    followsKeys = random.chance(1, in: 2) && action != .none
    collation = random.pick(["BINARY", "NOCASE", "RTRIM"])
    if random.chance(1, in: 3) { itemDeletes = .editWins }
    hasUses = random.chance(1, in: 2) && uniqueness != .none && action != .none
    isSeeded = random.chance(1, in: 4)
    orphans = random.pick([.restoreParent, .restoreParent, .deleteChildren, .detachChildren])
    if random.chance(1, in: 4) { cascades = .restoreParent }
    hasMixedDeletes = random.chance(1, in: 6)
    isRestless = random.chance(1, in: 6)
    var triggers = SeededRandom(seed: seed).fork(79)
    hasTriggers = triggers.chance(1, in: 4)
    var purges = SeededRandom(seed: seed).fork(80)
    if purges.chance(1, in: 5) { purgeAge = .seconds(purges.pick([1, 30, 300])) }
    var merges = SeededRandom(seed: seed).fork(81)
    // Where edits win, the times that policies give decide what lives.
    if itemDeletes == .deleteWins, !hasMixedDeletes, merges.chance(1, in: 4) {
      textMerge = merges.pick([.client, .server, .maximum, .custom])
    }
    var encodings = SeededRandom(seed: seed).fork(82)
    if encodings.chance(1, in: 6) { encoding = encodings.pick(["UTF-16le", "UTF-16be"]) }
    var collisions = SeededRandom(seed: seed).fork(87)
    if uniqueness != .none, collisions.chance(1, in: 3) { uniqueness = .parked }
  }

  package init(action: Action) { self.action = action }

  /// Whether connections are told to enforce foreign keys.
  var isEnforced: Bool { action != .none }

  /// Whether the deletion of a row may delete those that refer to it.
  var deletesChildren: Bool {
    action == .cascade || action == .noAction && orphans == .deleteChildren
  }

  // MARK: Tables

  /// The version that has everything.
  var newest: Version { Version(hasRenamed: !renames.isEmpty, hasRetyped: isRetyped) }

  /// The tables of a version, parents first.
  func tables(version: Version) -> [Table] {
    let tables =
      switch focus {
      case .family: family(version: version)
      case .items: items(version: version)
      case .all: family(version: version) + items(version: version)
      }
    guard version.hasRenamed || version.hasRetyped || hasLocals else { return tables }
    return tables.map { table in
      var table = table
      if hasLocals, table.key.map(\.name) == ["id"], table.column("a") != nil {
        table.locals = [Self.local]
      }
      for place in table.columns.indices {
        let name = table.columns[place].name
        if version.hasRenamed { table.columns[place].alias = renames[table.name]?[name] }
        if version.hasRetyped, name == "a" { table.columns[place].type = "REAL" }
      }
      return table
    }
  }

  /// What becomes of a table's rows that are deleted here and edited there; where devices do not agree edits may win.
  func deletes(of table: String) -> DeletePolicy {
    if table != "items" { return .deleteWins }
    return hasMixedDeletes ? .editWins : itemDeletes
  }

  /// The same as the items' policy of one device.
  func itemDeletes(onDevice number: Int) -> DeletePolicy {
    guard hasMixedDeletes, number % 2 == 1 else { return itemDeletes }
    return itemDeletes == .editWins ? .deleteWins : .editWins
  }

  /// The tables of which an engine may send some rows only: a collision of unique values ends otherwise where it does.
  func filteredTables(version: Version) -> [String] {
    tables(version: version).map(\.name)
      .filter { ["lists", "notes"].contains($0) || $0 == "items" && uniqueness == .none }
  }

  private static let key = Column(name: "id", type: "TEXT", isRequired: true)
  private static let common = [
    Column(name: "born", type: "INTEGER"), Column(name: "a", type: "INTEGER"),
    Column(name: "b", type: "TEXT"),
  ]
  private static let counter = Column(
    name: "n",
    type: "INTEGER",
    initial: "0",
    isRequired: true,
    isCounter: true
  )

  private static let givenKey = "PRIMARY KEY AUTOINCREMENT"
  private static let local = Column(name: "l", type: "TEXT")

  private func common(version: Version, canDrop: Bool) -> [Column] {
    canDrop && version.hasDropped ? Self.common.filter { $0.name != "b" } : Self.common
  }

  private func counters(version: Version) -> [Column] {
    addsCounters && !version.hasAdditions ? [] : [Self.counter]
  }

  private func child(_ column: String, of table: String, by key: String = "id") -> Column {
    Column(
      name: column,
      type: "TEXT",
      parent: action == .none ? nil : table,
      parentColumn: key
    )
  }

  private func family(version: Version) -> [Table] {
    var lists = Table(
      name: "lists",
      key: [Self.key],
      columns: common(version: version, canDrop: true) + counters(version: version)
    )
    var notes = Table(
      name: "notes",
      key: [Self.key],
      columns: [child("list", of: "lists")] + Self.common
    )
    notes.columns[3].initial = "''"
    notes.columns[3].isRequired = true
    var list = Column(name: "list", type: "TEXT", isRequired: true)
    if action == .cascade { list.parent = "lists" }
    let name = Column(name: "name", type: "TEXT", isRequired: true)
    let tags = Table(name: "tags", key: [list, name], columns: Self.common)
    guard version.hasAdditions else { return [lists, notes, tags] }
    lists.columns.append(Column(name: "c", type: addedType, initial: addedDefault))
    notes.columns.append(Column(name: "c", type: "BLOB"))
    var marks = Table(
      name: "marks",
      key: [Column(name: "id", type: "INTEGER", isRequired: true)],
      columns: [child("note", of: "notes")] + Self.common
    )
    if givesKeys { marks.key[0].constraint = Self.givenKey }
    return [lists, notes, tags, marks]
  }

  private func items(version: Version) -> [Table] {
    var key = Self.key
    if collation != "BINARY" { key.constraint = "COLLATE \(collation)" }
    var name = Column(name: "name", type: "TEXT")
    if uniqueness != .none { name.constraint = "COLLATE NOCASE UNIQUE" }
    var items = Table(
      name: "items",
      key: [key],
      columns: [name] + common(version: version, canDrop: true) + counters(version: version)
    )
    if version.hasAdditions {
      items.columns.append(Column(name: "c", type: addedType, initial: addedDefault))
    }
    guard hasUses else { return [items] }
    let uses = Table(
      name: "uses",
      key: [Self.key],
      columns: [child("item", of: "items", by: "name")] + Self.common
    )
    return [items, uses]
  }

  // MARK: SQL

  /// What a device's new database is told first.
  func preamble(onDevice number: Int) -> String {
    number % 2 == 1 ? "PRAGMA encoding = '\(encoding)';" : ""
  }

  /// The statements that make the tables of a version.
  func sql(version: Version) -> String {
    let tables = tables(version: version).map { sql(table: $0) }.joined(separator: "\n")
    return hasLocals ? tables + "\n" + LocalValue.table : tables
  }

  /// The statement that makes a table, if need be under another name.
  func sql(table: Table, named name: String? = nil) -> String {
    var parts = table.declared
      .map { column in
        var text = "\(column.sql) \(column.type)"
        if column.isRequired { text += " NOT NULL" }
        if column.initial != "NULL" { text += " DEFAULT \(column.initial)" }
        if !column.constraint.isEmpty { text += " \(column.constraint)" }
        if let parent = column.parent {
          text += " REFERENCES \(parent)(\(column.parentColumn))\(clause)"
        }
        return text
      }
    if table.key[0].constraint != Self.givenKey {
      parts.append("PRIMARY KEY(\(table.key.map(\.name).joined(separator: ", ")))")
    }
    if table.name == "tags", let tagRule { parts.append("CHECK(\(tagRule))") }
    let isCompound = table.key.count > 1
    return "CREATE TABLE \(name ?? table.name)(\(parts.joined(separator: ", ")))"
      + (isCompound ? " WITHOUT ROWID;" : ";")
  }

  private var clause: String {
    let follows = followsKeys ? " ON UPDATE CASCADE" : ""
    switch action {
    case .cascade: return " ON DELETE CASCADE" + follows
    case .setNull: return " ON DELETE SET NULL" + follows
    case .noAction, .none: return follows
    }
  }

  // MARK: Rows

  /// The tables of the rows, one after the other.
  private var pattern: [String] {
    switch focus {
    case .family: ["lists", "notes", "tags", "marks", "notes", "lists", "notes", "tags"]
    case .items: hasUses ? ["items", "uses", "items", "items"] : ["items"]
    case .all: ["lists", "items", "notes", "items", "tags", "items", "marks", "uses"]
    }
  }

  /// The row that a record of the workload stands for; its number is that of the record.
  func row(number: Int, version: Version) -> RowID {
    let pattern = pattern
    let place = number % pattern.count
    let text = SQLiteValue.text("k\(number)")
    switch pattern[place] {
    case "lists": return RowID(table: "lists", key: [text])
    case "tags":
      return RowID(table: "tags", key: [.text("k\(number - place)"), .text("x,é '\(number)")])
    case "marks" where version.hasAdditions:
      return RowID(table: "marks", key: [.integer(Int64(number))])
    case "items": return RowID(table: "items", key: [text])
    case "uses" where hasUses: return RowID(table: "uses", key: [text])
    case "uses": return RowID(table: "items", key: [text])
    default: return RowID(table: "notes", key: [text])
    }
  }
}
