import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// A migration may not give a name anew that it has freed itself: the cloud knows tables and columns by their names, so
/// what is there of the former one would be taken for the new one's, on every device.
///
/// What the new one holds tells whether it stands for the former one: a migration may also set a table or a column aside
/// and put another one in its place that holds the same.
struct ReusedNameCheck {
  let search: SchemaRenamingSearch

  /// How many rows are looked at.
  private static let limit = 1_000

  /// Throws if one of the tables, or a column of one, has the name of another one that is there under a new name.
  func check(_ names: [String]) throws(SyncEngineError) {
    let found = try sqlite { () throws(SQLiteError) -> String? in try reason(in: names) }
    if let found { throw SyncEngineError(.schema, found) }
  }

  private func reason(in names: [String]) throws(SQLiteError) -> String? {
    for former in search.registered where !former.triggers.isEmpty {
      guard let table = search.schema.table(named: former.name),
        names.contains(where: table.name.isSameName)
      else { continue }
      if let moved = movedTable(of: former) {
        // With triggers it is a table that had another name itself.
        let isCaptured = search.installed.values.contains { $0.table.isSameName(as: former.name) }
        if !isCaptured, try search.stands(table, for: former) { continue }
        return Self.reason(table: former.name, since: moved)
      }
      let told = search.renamesInTriggers(of: former, named: table.name) ?? [:]
      for (old, new) in told.sorted(by: { $0.key < $1.key })
      where try isReused(old, since: new, in: table, renamed: told) {
        return Self.reason(column: old, of: table.name, since: new)
      }
    }
    return try reasonOfEarlierNames(in: names)
  }

  private static func reason(table: String, since present: String) -> String {
    """
    Table \(table.quotedName) has the name of another one, which is \(present.quotedName) now. The cloud knows tables by their \
    names: give the new table one that nothing had, with ALTER TABLE … RENAME TO. Nothing was changed or sent.
    """
  }

  private static func reason(column: String, of table: String, since present: String) -> String {
    """
    Column \(column.quotedName) of table \(table.quotedName) has the name of another one, which is \(present.quotedName) now. \
    The cloud knows columns by their names: give the new column one that nothing had, with ALTER TABLE … RENAME COLUMN. \
    Nothing was changed or sent.
    """
  }

  /// The same for names that an earlier migration has freed, which was synchronized since.
  private func reasonOfEarlierNames(in names: [String]) throws(SQLiteError) -> String? {
    let earlier = try FormerNames(connection: search.connection)
    if earlier.isEmpty { return nil }
    let renamings = try search.renamings(of: names)
    let present = search.registered.map { table in
      renamings.first { $0.present.id == table.id }?.present ?? table
    }
    // One that an engine has taken for another table stays that.
    for name in names where !search.registered.contains(where: { $0.name.isSameName(as: name) }) {
      guard let id = earlier.table(called: name),
        let holder = present.first(where: { $0.id == id }), !holder.name.isSameName(as: name),
        search.schema.table(named: holder.name) != nil, let table = search.schema.table(named: name)
      else { continue }
      let isNew = !present.contains { $0.name.isSameName(as: name) }
      if isNew, try search.stands(table, for: holder) { continue }
      return Self.reason(table: name, since: holder.name)
    }
    for (known, holder) in zip(search.registered, present) {
      guard let table = search.schema.table(named: holder.name),
        names.contains(where: table.name.isSameName)
      else { continue }
      for (old, number) in earlier.columns(of: holder.id)
      where holder.columns.indices.contains(number) && !known.columns.contains(old) {
        let now = holder.columns[number]
        let renamed = holder.columns.contains(old) ? [old: old] : [:]
        if now != old, try isReused(old, since: now, in: table, renamed: renamed) {
          return Self.reason(column: old, of: table.name, since: now)
        }
      }
    }
    return nil
  }

  /// The table that has a registered one's triggers, if that is another one: it was renamed.
  private func movedTable(of former: RegisteredTable) -> String? {
    let tables = search.tables(withTriggersOf: former)
    guard tables.count == 1, let moved = tables.first, !moved.isSameName(as: former.name),
      search.schema.table(named: moved) != nil
    else { return nil }
    return moved
  }

  /// Whether a column that is called as another one was holds something else than that.
  private func isReused(
    _ old: String,
    since new: String,
    in table: TableSchema,
    renamed: [String: String]
  ) throws(SQLiteError) -> Bool {
    let isThere = { (name: String) in table.writableColumns.contains { $0.name == name } }
    guard isThere(old), isThere(new) else { return false }
    if renamed.values.contains(old) { return true }
    let (former, present) = ("t.\(new.quotedName)", "t.\(old.quotedName)")
    let query = try search.connection.prepare(
      """
      SELECT \(former), \(present) FROM main.\(table.name.quotedName) t
      WHERE \(former) IS NOT NULL LIMIT \(Self.limit)
      """
    )
    var (same, others) = (0, 0)
    try query.forEachRow {
      if ValueConversion.isSame(query.value(1), as: query.value(0)) {
        same += 1
      } else {
        others += 1
      }
    }
    return others > same
  }
}
