import CloudSyncCore
import CloudSyncSQLiteSupport

/// Writes records of which nothing was known yet as new rows, which most are of a first fetch.
struct RowInserter {
  let work: EngineWork
  let page: Int64
  /// The table whose rows are the engine's to write.
  private var table: Int64?

  init(work: EngineWork, page: Int64) {
    self.work = work
    self.page = page
  }

  /// Forgets what the triggers were told, since somebody else may tell them something else now.
  mutating func end() { table = nil }

  /// Inserts a row; returns false, and has done nothing, if there is more to it than that.
  mutating func insert(_ one: EngineWork.Incoming) throws(SQLiteError) -> Bool {
    // What triggers of the app write is theirs, and has to be captured.
    guard one.isNew, one.void == nil, !one.table.hasTriggersOfTheApp,
      one.record[RecordLayout.deletedField] == nil,
      let values = one.table.layout.plainValues(of: one.record)
    else { return false }
    let rows = work.rows(of: one.table)
    if table != one.table.id {
      try work.store.setApplying(allOf: one.table.id)
      table = one.table.id
    }
    do throws(SQLiteError) {
      try rows.insert(one.key, values)
    } catch {
      guard error.isRefusal else { throw error }
      return false
    }
    try work.store.insertClean(one.row, one.record, page: page)
    return true
  }
}
