import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The triggers that keep a row as it was when it is first touched after HEAD.
///
/// They are persistent: edits of any connection and process are seen. They run before the row is changed, and
/// before triggers that were made earlier, so that nothing can change it first. The guard is a condition:
/// `OR IGNORE` would give way to the conflict clause of the app's statement.
struct CaptureTriggers {
  struct Trigger: Sendable, Hashable {
    var name: String
    private var definition: String

    init(_ event: String, _ table: TrackedTable, _ definition: String) {
      name = "changesets_\(event)_\(table.number)"
      self.definition = definition
    }

    var creation: String { "CREATE TRIGGER main.\(name) \(definition)" }
    /// Its text as SQLite keeps it.
    var storedText: String { "CREATE TRIGGER \(name) \(definition)" }
  }

  let table: TrackedTable

  var all: [Trigger] {
    let isNew = "NOT \(table.isMirrored(row: "new"))"
    let keyColumns = table.schema.hasIntegerKey ? "" : " OF \(names(columns: table.key))"
    let isMoved = "NOT (\(isSameKeyExactly))"
    return renumberings + replacements + [
      // The last that is made runs first.
      trigger(event: "inserted", at: "AFTER INSERT", when: isNew, do: [noteAbsence]),
      trigger(
        event: "insert",
        at: "BEFORE INSERT",
        when: isNew,
        do: [keepSameKey, noteAbsenceBefore]
      ),
      trigger(
        event: "delete",
        at: "BEFORE DELETE",
        when: "NOT \(table.isMirrored(row: "old"))",
        do: [keep]
      ),
      trigger(
        event: "moved",
        at: "AFTER UPDATE\(keyColumns)",
        when: "\(isMoved) AND \(isNew)",
        do: [noteAbsence]
      ),
      trigger(
        event: "move",
        at: "BEFORE UPDATE\(keyColumns)",
        when: "\(isMoved) AND \(isNew)",
        do: [keepSameKey, noteAbsenceBefore]
      ),
      trigger(
        event: "update",
        at: "BEFORE UPDATE",
        when: HistoryMutant.unguarded.isPresent ? nil : "NOT \(table.isMirrored(row: "old"))",
        do: [keep]
      ),
    ]
  }

  private var isSameKeyExactly: String {
    table.key.map { "old.\($0.quotedName) IS new.\($0.quotedName) COLLATE BINARY" }
      .joined(separator: " AND ")
  }

  /// Keeps the row that is about to change.
  private var keep: String {
    "INSERT\(HistoryMutant.unguarded.isPresent ? " OR IGNORE" : "") INTO \(table.mirror)(\(table.mirrorColumns)) VALUES(\(table.preimage(of: "old")));"
  }

  /// Keeps the row that has the new one's key already: it may be replaced.
  private var keepSameKey: String {
    let name = table.name.quotedName
    return keep(from: "FROM \(name) WHERE \(table.isSameKey(name, as: "new"))")
  }

  /// Keeps the rows of the table that SQL finds, from FROM on.
  private func keep(from source: String) -> String {
    let row = table.preimage(of: table.name.quotedName)
    return "INSERT INTO \(table.mirror)(\(table.mirrorColumns)) SELECT \(row) \(source);"
  }

  private var keyColumnsOfMirror: String {
    (table.key.indices.map { "k\($0)" } + ["was"]).joined(separator: ", ")
  }

  private var newKey: String {
    table.key.map { "new.\($0.quotedName)" }.joined(separator: ", ")
  }

  /// Notes before the row is there that there was none of its key.
  ///
  /// A key that SQLite gives is not known then: it is -1, and NULL where a default is to come. The mirror itself is
  /// not asked, for SQLite would make a temporary table each time.
  private var noteAbsenceBefore: String {
    let name = table.name.quotedName
    var conditions = ["NOT EXISTS(SELECT 1 FROM \(name) WHERE \(table.isSameKey(name, as: "new")))"]
    conditions += table.key.map { "new.\($0.quotedName) IS NOT NULL" }
    return """
      INSERT INTO \(table.mirror)(\(keyColumnsOfMirror)) SELECT \(newKey), 0 \
      WHERE \(conditions.joined(separator: " AND "));
      """
  }

  /// Notes when the row is there that there was none of its key.
  private var noteAbsence: String {
    "INSERT INTO \(table.mirror)(\(keyColumnsOfMirror)) VALUES(\(newKey), 0);"
  }

  // MARK: Replaced rows

  /// The triggers that keep rows which `OR REPLACE` may remove by a unique key: for those SQLite calls none.
  private var replacements: [Trigger] {
    var searches = table.schema.uniqueKeySearches
    // The primary key finds rows of other spellings only if it does not compare bytes.
    if table.hasBinaryKey { searches.removeFirst() }
    if searches.isEmpty || HistoryMutant.unseenReplace.isPresent { return [] }
    let rows = searches.map { ReplacedRowSearch(schema: table.schema, search: $0) }
    let columns = rows.map(\.watchedColumns)
    let list = Set(columns.flatMap { $0 ?? [] }).sortedByBytes()
    let filter = columns.contains { $0 == nil } ? "" : " OF \(names(columns: list))"
    return [
      trigger(event: "replace", at: "BEFORE INSERT", when: nil, do: rows.map { keep(found: $0) }),
      trigger(
        event: "displace",
        at: "BEFORE UPDATE\(filter)",
        when: nil,
        do: rows.map { keep(found: $0) }
      ),
    ]
  }

  /// The triggers that keep rows which `OR REPLACE` may remove because others are given their `rowid`, where that is not the
  /// key.
  ///
  /// Before an insertion SQLite says -1 of one that it has still to choose.
  private var renumberings: [Trigger] {
    guard !table.schema.hasIntegerKey, let number = table.schema.rowNumberName,
      !HistoryMutant.unseenReplace.isPresent
    else { return [] }
    let name = table.name.quotedName
    let isOther = "\(name).\(number) = new.\(number) AND NOT (\(table.isMirrored(row: name)))"
    let body = keep(from: "FROM \(name) WHERE \(isOther)")
    return [
      trigger(event: "number", at: "BEFORE INSERT", when: nil, do: [body]),
      trigger(
        event: "renumber",
        at: "BEFORE UPDATE",
        when: "new.\(number) <> old.\(number)",
        do: [body]
      ),
    ]
  }

  private func keep(found search: ReplacedRowSearch) -> String {
    keep(from: search.source(unless: table.isMirrored(row: table.name.quotedName)))
  }

  private func trigger(
    event: String,
    at moment: String,
    when condition: String?,
    do body: [String]
  ) -> Trigger {
    let filter = condition.map { "WHEN \($0)\n" } ?? ""
    return Trigger(
      event,
      table,
      """
      \(moment) ON \(table.name.quotedName)
      \(filter)BEGIN
        \(body.joined(separator: "\n  "))
      END
      """
    )
  }

  private func names(columns: [String]) -> String {
    columns.map(\.quotedName).joined(separator: ", ")
  }
}
