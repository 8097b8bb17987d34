import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The triggers that write a table's edits into the outbox, in the transaction of the edit.
///
/// They are persistent: whoever edits the table, another connection, another process, with the engine
/// stopped or absent, is captured. What the engine itself writes into a row is not, and what follows
/// from it, actions of foreign keys and the app's own triggers, is.
struct CaptureTriggers {
  let table: SyncTable

  /// The names of a table's triggers.
  private func name(_ event: String) -> String { "cloudsync_\(event)_\(table.id)" }

  /// The statements that remove the triggers, those of an earlier schema too.
  var removals: [String] {
    ["insert", "update", "rename", "delete", "replace", "displace"]
      .map { "DROP TRIGGER IF EXISTS \(name($0))" }
  }

  /// The statements that make the triggers.
  var statements: [String] {
    let schema = table.schema
    let (old, new) = (table.keySQL("old"), table.keySQL("new"))
    // A row with NULL in its key cannot be named.
    let (hasOld, hasNew) = (table.hasKeySQL("old"), table.hasKeySQL("new"))
    let changed = schema.writableColumns.map { Self.isChanged($0.name) }
    let bits = changed.map { "(\($0))" }.joined(separator: " || ")
    let isChanged = changed.joined(separator: " OR ")
    let isRenamed = "(\(old) IS NOT \(new) OR typeof(\(old)) IS NOT typeof(\(new)))"
    return replacements + [
      trigger("insert", "AFTER INSERT", when: hasNew, key: new, [add(new, "NULL")]),
      trigger("delete", "AFTER DELETE", when: hasOld, key: old, [add(old, "''")]),
      trigger(
        "update",
        "AFTER UPDATE",
        when: "(\(isChanged)) AND NOT \(isRenamed)" + (hasNew.map { " AND \($0)" } ?? ""),
        key: new,
        [add(new, bits)]
      ),
      trigger(
        "rename",
        "AFTER UPDATE",
        when: isRenamed,
        key: new,
        [add(old, "''", if: hasOld), add(new, "NULL", if: hasNew)]
      ),
    ]
  }

  /// The triggers that note which rows may be about to be replaced, by a unique key beside the primary one.
  ///
  /// SQLite calls no trigger for rows that `OR REPLACE` removes, and does not say in which way a
  /// statement deals with conflicts. So whether such a row is gone is looked at when the outbox is read.
  private var replacements: [String] {
    let columns = table.schema.writableColumns.map(\.name)
    let searches = table.searches.dropFirst()
      .filter { search in
        search.columns.allSatisfy { columns.contains($0) }
      }
    if searches.isEmpty { return [] }
    func notes(but row: String) -> [String] {
      let ownKey = table.schema.primaryKey
        .map { "\($0.quotedName) IS \(row).\($0.quotedName) COLLATE BINARY" }
        .joined(separator: " AND ")
      return searches.map { search in
        let candidate = columns.map { "new.\($0.quotedName)" }
        let found = search.sql(in: table.schema, candidate: candidate, ownKey: ownKey)
        return "INSERT INTO cloudsync_outbox(id, table_id, key, change)"
          + " SELECT (SELECT \(MetadataSchema.nextTime) FROM cloudsync_clock), \(table.id),"
          + " \(table.keySQL("t")), '\(OutboxEntry.replaced)' FROM (\(found)) AS t LIMIT 1;"
      }
    }
    let looked = columns.filter { name in searches.contains { $0.columns.contains(name) } }
    let list = looked.map(\.quotedName).joined(separator: ", ")
    let key = table.keySQL("new")
    return [
      trigger("replace", "BEFORE INSERT", when: nil, key: key, notes(but: "new")),
      trigger("displace", "BEFORE UPDATE OF \(list)", when: nil, key: key, notes(but: "old")),
    ]
  }

  /// Whether an update changes a column, to the byte: neither collations nor types may hide it.
  private static func isChanged(_ column: String) -> String {
    let name = column.quotedName
    return "old.\(name) IS NOT new.\(name) COLLATE BINARY"
      + " OR typeof(old.\(name)) IS NOT typeof(new.\(name))"
  }

  /// An edit for the outbox; with VALUES, since SQLite copies what INSERT … SELECT selects.
  private func add(_ key: String, _ change: String, if condition: String? = nil) -> String {
    let values =
      "(SELECT \(MetadataSchema.nextTime) FROM cloudsync_clock), \(table.id), \(key), \(change)"
    return "INSERT INTO cloudsync_outbox(id, table_id, key, change) "
      + (condition.map { "SELECT \(values) WHERE \($0);" } ?? "VALUES(\(values));")
  }

  private func trigger(
    _ event: String,
    _ moment: String,
    when condition: String?,
    key: String,
    _ body: [String]
  ) -> String {
    let isOwn =
      "EXISTS(SELECT 1 FROM cloudsync_clock WHERE applying_table = \(table.id)"
      + " AND (applying_all OR applying_key IS \(key)))"
    let filter = condition.map { "(\($0)) AND NOT \(isOwn)" } ?? "NOT \(isOwn)"
    return """
      CREATE TRIGGER \(name(event)) \(moment) ON \(table.name.quotedName)
      WHEN \(filter)
      BEGIN
        \(body.joined(separator: "\n  "))
      END
      """
  }
}
