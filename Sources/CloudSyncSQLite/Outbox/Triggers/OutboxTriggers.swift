import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The triggers that write a table's edits into the outbox, in the transaction of the edit.
///
/// They are persistent: whoever edits the table, another connection, another process, with the engine
/// stopped or absent, is captured. What the engine itself writes is not while it says so
/// (``CaptureSuppression``), and what follows from it is.
///
/// Nothing they do can meet a conflict, so no clause of an outer statement changes what they do.
/// SQLite looks for the tables they name in the main database alone.
///
/// SQL cannot see whether a zero in an untyped column became a negative one or back.
struct OutboxTriggers {
  let table: CapturedTable
  let clock: CaptureClock
  /// The columns that matter here and whose former values SQLite tells converted.
  private let converted: [String]

  init(table: CapturedTable, clock: CaptureClock = .system) {
    self.table = table
    self.clock = clock
    let names = Set(table.key.map(\.name) + table.keptColumns.map(\.name))
    converted = table.actions.convertedColumns.filter(names.contains)
  }

  var all: [CaptureTrigger] {
    let comparison = ColumnComparison(table: table)
    let isSame = isSameKey
    return replacements + mismatches + announcements + [
      trigger(
        "insert",
        at: "AFTER INSERT",
        named: "new",
        when: table.hasKey("new"),
        body: [insertion(when: nil)]
      ),
      trigger(
        "delete",
        at: "AFTER DELETE",
        named: "old",
        when: table.hasKey("old"),
        body: [ending(change: "-2")]
      ),
      trigger(
        "update",
        at: "AFTER UPDATE",
        named: "new",
        when: conditions(comparison.isAnyChanged, isSame, table.hasKey("new")),
        body: [entry(of: "new", change: comparison.bits, kept: ["o": Self.former, "n": "new"])]
      ),
      trigger(
        "rename",
        at: "AFTER UPDATE\(renames)",
        named: "new",
        when: "NOT (\(isSame))",
        body: [renaming, arrival, changesBesideKey]
      ),
    ]
  }

  /// Notes before a deletion that the row is not one of those that are sent: afterwards nobody can tell.
  ///
  /// The row itself is asked, since SQLite compares what a trigger is given without the columns' affinities and
  /// collations.
  private var mismatches: [CaptureTrigger] {
    guard let filter = table.filterSQL else { return [] }
    let isSame = table.isSameKey(table.name.quotedName, as: "old")
    let source = "FROM \(table.name.quotedName) WHERE \(isSame) AND \(filter) IS NOT TRUE LIMIT 1"
    let note = entry(of: "old", change: "-5", from: source)
    return [
      trigger(
        "mismatch",
        at: "BEFORE DELETE",
        named: "old",
        when: table.hasKey("old"),
        body: [note]
      )
    ]
  }

  /// Note before a row's key changes, or the row is deleted, that SQLite may write references to it.
  ///
  /// What is captured from then until the change itself is none of a user's edits. They note the row as it was too, where
  /// nobody is told that afterwards.
  private var announcements: [CaptureTrigger] {
    let note = entry(of: "old", change: "-7", kept: converted.isEmpty ? [:] : ["o": "old"])
    var triggers: [CaptureTrigger] = []
    let keys = converted.isEmpty ? [] : table.key.map(\.name)
    let columns = Set(table.actions.updatedColumns + converted + keys).sortedByBytes()
    if !columns.isEmpty {
      let isInKey = columns.contains { table.key.map(\.name).contains($0) }
      let list = table.schema.hasIntegerKey && isInKey ? "" : " OF \(names(columns))"
      let changes = columns.map { "NOT (old.\($0.quotedName) IS new.\($0.quotedName))" }
      triggers.append(
        trigger(
          "rekey",
          at: "BEFORE UPDATE\(list)",
          named: "old",
          when: conditions(changes.joined(separator: " OR "), table.hasKey("old")),
          body: [note]
        )
      )
    }
    if table.actions.followDeletions || !converted.isEmpty {
      triggers.append(
        trigger(
          "leave",
          at: "BEFORE DELETE",
          named: "old",
          when: table.hasKey("old"),
          body: [note]
        )
      )
    }
    return triggers
  }

  /// The columns that an update of the key names; an update may name an integer key `rowid`, which is none of its
  /// column's names for SQLite.
  private var renames: String {
    table.schema.hasIntegerKey ? "" : " OF \(names(table.key.map(\.name)))"
  }

  private func insertion(when condition: String?) -> String {
    entry(of: "new", change: "-1", kept: ["n": "new"], if: condition)
  }

  /// A deletion whose row goes on under another key, that of the next edit.
  private var renaming: String {
    let change = table.hasKey("new").map { "CASE WHEN \($0) THEN -4 ELSE -2 END" } ?? "-4"
    return ending(change: change, if: table.hasKey("old"))
  }

  /// The end of a row under its key, as its announcement tells it where nothing else does.
  private func ending(change: String, if condition: String? = nil) -> String {
    converted.isEmpty
      ? entry(of: "old", change: change, kept: ["o": "old"], if: condition)
      : entry(of: Self.note, change: change, kept: ["o": Self.note], from: openNote)
  }

  /// The row under its new key, as it was under the former one but for the key itself.
  private var arrival: String {
    let condition = table.hasKey("new")
    return entry(of: "new", change: "-1", kept: ["n": Self.former], keyOf: "new", if: condition)
  }

  /// What the update has changed beside the key: all else is as old as it was.
  private var changesBesideKey: String {
    let comparison = ColumnComparison(table: table, changesKey: true)
    let condition = [comparison.isAnyChanged, table.hasKey("new")].compactMap { $0 }
      .map { "(\($0))" }
    return entry(
      of: "new",
      change: comparison.bits,
      kept: ["o": Self.former, "n": "new"],
      if: condition.joined(separator: " AND ")
    )
  }

  // MARK: Converted values

  /// Whether an update has left the key as it was: where that is not told as it was, an announcement tells it.
  private var isSameKey: String {
    let isSame = table.isSameKey("old", as: "new")
    let conversions = table.key.filter { converted.contains($0.name) }
      .map { column in
        // A column of text holds no numbers.
        table.schema.column(named: column.name)?.affinity == .text
          ? "typeof(old.\(column.name.quotedName)) IN ('integer', 'real')" : "1"
      }
    if conversions.isEmpty { return isSame }
    return """
      CASE WHEN \(conversions.joined(separator: " OR ")) THEN NOT EXISTS(SELECT 1 \(openNote)) \
      ELSE \(isSame) END
      """
  }

  /// What an announcement is called where an edit takes the row from it.
  private static let note = "note"
  /// What a row is called as it was before an update, where its last announcement tells what nothing else does.
  private static let former = "former"

  /// The last announcement of the row, if that is gone, and its end was not captured: a trigger of the app's may keep a row
  /// that was announced.
  private var openNote: String {
    let name = table.name.quotedName
    let (keys, places) = (table.key, table.key.indices)
    let isThere = places.map {
      "\(name).\(keys[$0].name.quotedName) IS note.k\($0) COLLATE \(keys[$0].collation.rawValue)"
    }
    let isCaptured = places.map { "edit.k\($0) IS note.k\($0)" }
    let isOfRow = places.map { place in
      let (noted, told) = ("note.k\(place)", "old.\(keys[place].name.quotedName)")
      guard converted.contains(keys[place].name) else { return "\(noted) IS \(told)" }
      return """
        (\(noted) IS \(told) OR (typeof(\(noted)) = 'text') <> (typeof(\(told)) = 'text') \
        AND 'blob' NOT IN (typeof(\(noted)), typeof(\(told))) \
        AND CAST(\(noted) AS NUMERIC) IS CAST(\(told) AS NUMERIC))
        """
    }
    return """
      FROM cloudsync_outbox AS note WHERE note.table_id = \(table.id) AND note.change = -7 \
      AND \(isOfRow.joined(separator: " AND ")) \
      AND NOT EXISTS(SELECT 1 FROM \(name) WHERE \(isThere.joined(separator: " AND "))) \
      AND NOT EXISTS(SELECT 1 FROM cloudsync_outbox AS edit WHERE edit.id > note.id \
      AND edit.table_id = \(table.id) AND edit.change IN (-2, -4) \
      AND \(isCaptured.joined(separator: " AND "))) ORDER BY note.id DESC LIMIT 1
      """
  }

  /// What a column of a new row holds: while references are to be made good at the end of the transaction, SQLite
  /// converts what it tells of that too, which is in the table as it is.
  private func value(of column: String, in row: String) -> String {
    let (name, value) = (table.name.quotedName, "\(row).\(column.quotedName)")
    guard row == "new", converted.contains(column), let number = table.schema.rowNumberName else {
      return value
    }
    let stored = "SELECT \(column.quotedName) FROM \(name) WHERE \(number) = new.\(number)"
    return "coalesce((\(stored)), \(value))"
  }

  /// What a kept column held before an update, as its last announcement says.
  private func formerValue(of column: (place: Int, name: String)) -> String {
    let name = column.name.quotedName
    guard converted.contains(column.name) else { return "old.\(name)" }
    return """
      CASE WHEN old.\(name) IS new.\(name) THEN old.\(name) ELSE (SELECT o\(column.place) FROM cloudsync_outbox \
      WHERE table_id = \(table.id) AND change = -7 ORDER BY id DESC LIMIT 1) END
      """
  }

  // MARK: Replaced rows

  /// The triggers that note which rows may be about to be replaced.
  ///
  /// SQLite calls no trigger for rows that `OR REPLACE` removes, and does not say in which way a
  /// statement deals with conflicts. So whether such a row is gone is looked at when the outbox is read.
  /// The row of the same key is noted where its values are needed, and before a change of a key always: the row that has it
  /// is gone then, and the one that has it now is another.
  private var replacements: [CaptureTrigger] {
    let searches = table.schema.uniqueKeySearches.dropFirst()
      .map {
        ReplacedRowSearch(schema: table.schema, search: $0)
      }
    var triggers: [CaptureTrigger] = []
    let ofSameKey = table.keptColumns.isEmpty ? [] : [sameKeyNote]
    if !searches.isEmpty || !ofSameKey.isEmpty {
      let notes = ofSameKey + searches.map { note($0, but: "new") }
      triggers.append(trigger("replace", at: "BEFORE INSERT", named: "new", when: nil, body: notes))
    }
    if !searches.isEmpty {
      let notes = searches.map { note($0, but: "old") }
      let columns = searches.map(\.watchedColumns)
      let list = Set(columns.flatMap { $0 ?? [] }).sortedByBytes()
      let filter = columns.contains { $0 == nil } ? "" : " OF \(names(list))"
      triggers.append(
        trigger("displace", at: "BEFORE UPDATE\(filter)", named: "new", when: nil, body: notes)
      )
    }
    triggers += renumberings
    // The row whose key is taken may also take the one along that takes it: then the update is none, and tells nothing.
    triggers.append(
      trigger(
        "overwrite",
        at: "BEFORE UPDATE\(renames)",
        named: "new",
        when: "NOT (\(table.isSameKey("old", as: "new")))",
        body: [sameKeyNote]
      )
    )
    return triggers
  }

  /// The triggers that note which row may be about to be replaced because another one is given its `rowid`, where that is
  /// not the key.
  ///
  /// Before an insertion SQLite says -1 of one that it has still to choose.
  private var renumberings: [CaptureTrigger] {
    guard !table.schema.hasIntegerKey, let number = table.schema.rowNumberName else { return [] }
    let name = table.name.quotedName
    let isMeant = conditions("\(name).\(number) = new.\(number)", table.hasKey(name))
    let note = entry(of: name, change: replacement, from: "FROM \(name) WHERE \(isMeant) LIMIT 1")
    return [
      trigger("number", at: "BEFORE INSERT", named: "new", when: nil, body: [note]),
      trigger(
        "renumber",
        at: "BEFORE UPDATE",
        named: "new",
        when: "new.\(number) <> old.\(number)",
        body: [note]
      ),
    ]
  }

  private func note(_ search: ReplacedRowSearch, but row: String) -> String {
    let name = table.name.quotedName
    var isSame = table.isSameKey(name, as: row)
    // Before an insertion SQLite says -1 of a number that it has still to choose (https://sqlite.org/lang_createtrigger.html
    // calls it undefined); another row may have that one.
    if row == "new", table.schema.hasIntegerKey, let key = table.key.first {
      isSame += " AND new.\(key.name.quotedName) <> -1"
    }
    return entry(of: name, change: replacement, from: search.source(unless: isSame))
  }

  /// That a row may be about to be replaced.
  private var replacement: String {
    table.filterSQL.map { "CASE WHEN \($0) THEN -3 ELSE -6 END" } ?? "-3"
  }

  private var sameKeyNote: String {
    let name = table.name.quotedName
    let condition = table.key.map { column in
      let name = column.name.quotedName
      return "\(table.name.quotedName).\(name) = new.\(name) COLLATE \(column.collation.rawValue)"
    }
    let source = "FROM \(name) WHERE \(condition.joined(separator: " AND ")) LIMIT 1"
    return entry(of: name, change: replacement, kept: ["o": name], from: source)
  }

  // MARK: SQL

  /// An edit for the outbox: of the row of a name, with kept values of other names.
  private func entry(
    of row: String,
    change: String,
    kept: [String: String] = [:],
    keyOf keyRow: String? = nil,
    if condition: String? = nil,
    from source: String? = nil
  ) -> String {
    var columns = ["time", "table_id", "change"]
    var values = [clock.sql, "\(table.id)", change]
    for (place, column) in table.key.enumerated() {
      columns.append("k\(place)")
      values.append(row == Self.note ? "note.k\(place)" : value(of: column.name, in: row))
    }
    if !kept.isEmpty, !table.kept.isEmpty {
      columns.append("kept")
      values.append("\(table.kept.count)")
      for (prefix, row) in kept.sorted(by: { $0.key < $1.key }) {
        columns += table.keptColumns.map { "\(prefix)\($0.place)" }
        values += table.keptColumns.map { column in
          if row == Self.note { return "note.o\(column.place)" }
          let isOfKey = table.key.contains { $0.name == column.name }
          let source = isOfKey ? keyRow ?? row : row
          if source == Self.former { return formerValue(of: column) }
          return value(of: column.name, in: source)
        }
      }
    }
    let target = "INSERT INTO cloudsync_outbox(\(columns.joined(separator: ", ")))"
    let list = values.joined(separator: ", ")
    if let source { return "\(target) SELECT \(list) \(source);" }
    return condition.map { "\(target) SELECT \(list) WHERE \($0);" } ?? "\(target) VALUES(\(list));"
  }

  private func trigger(
    _ event: String,
    at moment: String,
    named row: String,
    when condition: String?,
    body: [String]
  ) -> CaptureTrigger {
    CaptureTrigger(
      event,
      of: table,
      definition: """
        \(moment) ON \(table.name.quotedName)
        WHEN \(conditions(condition, "NOT \(table.isOwn(row))"))
        BEGIN
          \(body.joined(separator: "\n  "))
        END
        """
    )
  }

  private func conditions(_ all: String?...) -> String {
    all.compactMap { $0 }.map { "(\($0))" }.joined(separator: " AND ")
  }

  private func names(_ columns: [String]) -> String {
    columns.map(\.quotedName).joined(separator: ", ")
  }
}
