import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension EngineSetup {
  /// Whether the triggers are there already, to the byte: made again, they would have every connection
  /// prepare its statements again.
  func hasTriggers(
    _ names: [String],
    _ schema: DatabaseSchema,
    _ former: [SyncTable],
    isEnforcing: Bool
  ) throws(SQLiteError) -> Bool {
    let tables = names.compactMap { name in
      schema.table(named: name).flatMap { table in former.first { $0.name == table.name } }
    }
    guard tables.count == names.count,
      tables.allSatisfy({ $0.captured == $0.schema.writableColumns.map(\.name) })
    else { return false }
    var wanted = tables.flatMap { CaptureTriggers(table: $0).statements }
    if !isEnforcing { wanted += ActionTriggers(tables, schema.references).triggers }
    let bytes = { (sql: String) in Array(sql.utf8) }
    let there = try store.triggers(where: "name LIKE 'cloudsync\\_%' ESCAPE '\\'").map(\.sql)
    return there.count == wanted.count && Set(there.map(bytes)) == Set(wanted.map(bytes))
  }
}
