import CloudSyncSQLiteSupport

/// Where the columns of the outbox are, which are as many as the widest keys need.
struct OutboxLayout {
  private let keyCount: Int
  private let keptCount: Int

  init(_ connection: SQLiteConnection) throws(SQLiteError) {
    let columns = try OutboxSchema.columns(of: "cloudsync_outbox", on: connection)
    keyCount = (0...).prefix { columns.contains("k\($0)") }.count
    keptCount = (0...).prefix { columns.contains("o\($0)") }.count
  }

  /// The query for the edits after a place, in their order.
  var query: String {
    var columns = ["id", "time", "table_id", "change", keptCount == 0 ? "NULL" : "kept"]
    columns += (0..<keyCount).map { "k\($0)" }
    columns += (0..<keptCount).map { "o\($0)" } + (0..<keptCount).map { "n\($0)" }
    return "SELECT \(columns.joined(separator: ", ")) FROM main.cloudsync_outbox"
      + " WHERE id > ?1 ORDER BY id"
  }

  /// The time of the edit at which a query is, and whether it is given now: later than the last one then.
  func time(in query: SQLiteStatement, after last: HybridTime) -> (time: HybridTime, isNew: Bool) {
    switch query.value(1) {
    case .integer(let time): return (HybridTime(rawValue: time), false)
    case .real(let day):
      return (.next(after: last, now: CaptureClock.milliseconds(ofJulianDay: day)), true)
    default: return (last.successor, true)
    }
  }

  /// The edit at which a query is; nil if it is none.
  func edit(
    in query: SQLiteStatement,
    of table: CapturedTable,
    at time: HybridTime
  ) -> CapturedEdit? {
    guard let change = CapturedEdit.Change(query.value(3)) else { return nil }
    var edit = CapturedEdit(
      id: query.integer(0),
      table: table.id,
      time: time,
      change: change,
      key: table.key.indices.map { query.value(Int32(5 + $0)) }
    )
    edit.isRenaming = query.value(3) == .integer(CapturedEdit.Change.renaming)
    edit.isMismatching = query.value(3) == .integer(CapturedEdit.Change.mismatchingReplaced)
    let kept = (0..<min(Int(query.integer(4)), keptCount)).map { Int32(5 + keyCount + $0) }
    if change != .inserted { edit.former = kept.map { query.value($0) } }
    if change != .replaced { edit.values = kept.map { query.value($0 + Int32(keptCount)) } }
    return edit
  }
}
