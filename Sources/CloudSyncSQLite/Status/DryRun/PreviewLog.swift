import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// What becomes of rows within a transaction that is undone, whoever changes them: temporary triggers note
/// each row as it was before.
struct PreviewLog {
  let connection: SQLiteConnection
  let tables: SyncTables

  /// A row that is not what it was.
  struct Entry {
    let place: Int
    let key: RowKey
    let action: SyncPreview.Action
  }

  /// Begins to note.
  func begin() throws(SQLiteError) {
    let width = tables.inOrder.map(\.columns.count).max() ?? 0
    let columns = (0..<width).map { ", v\($0)" }.joined()
    try connection.execute(
      """
      CREATE TEMP TABLE cloudsync_preview(
        id INTEGER PRIMARY KEY, place, key, is_there\(columns)
      );
      CREATE INDEX temp.cloudsync_preview_key ON cloudsync_preview(place, key);
      """
    )
    for (place, table) in tables.inOrder.enumerated() {
      try note(at: place, in: table, event: "INSERT", body: [absent(at: place, in: table)])
      try note(
        at: place,
        in: table,
        event: "UPDATE",
        body: [present(at: place, in: table), absent(at: place, in: table)]
      )
      try note(at: place, in: table, event: "DELETE", body: [present(at: place, in: table)])
    }
  }

  private func note(
    at place: Int,
    in table: RecordTable,
    event: String,
    body: [String]
  ) throws(SQLiteError) {
    try connection.execute(
      """
      CREATE TEMP TRIGGER cloudsync_preview_\(event)_\(place)
      AFTER \(event) ON main.\(table.name.quotedName) BEGIN \(body.joined(separator: " ")) END
      """
    )
  }

  /// Notes that there was no row of the key that there is now.
  private func absent(at place: Int, in table: RecordTable) -> String {
    let key = CompoundKey.sql(of: table.captured.key, in: "new")
    return "INSERT INTO cloudsync_preview(place, key, is_there) VALUES(\(place), \(key), 0);"
  }

  private func present(at place: Int, in table: RecordTable) -> String {
    let key = CompoundKey.sql(of: table.captured.key, in: "old")
    let names = table.columns.indices.map { ", v\($0)" }.joined()
    let values = table.columns.map { ", old.\($0.quotedName)" }.joined()
    return """
      INSERT INTO cloudsync_preview(place, key, is_there\(names)) VALUES(\(place), \(key), 1\(values));
      """
  }

  /// The rows that are not what they were, in the order in which they were changed first; what was noted is
  /// forgotten.
  func take() throws(SQLiteError) -> [Entry] {
    let query = try connection.statement(
      """
      SELECT * FROM temp.cloudsync_preview
      WHERE id IN (SELECT min(id) FROM temp.cloudsync_preview GROUP BY place, key) ORDER BY id
      """
    )
    var entries: [Entry] = []
    try query.forEachRow { () throws(SQLiteError) in
      let place = Int(query.integer(1))
      let table = tables[place]
      let rowKey = query.value(2)
      // A row without a whole key is none for others.
      if rowKey == .null { return }
      let before =
        query.integer(3) == 0 ? nil : table.columns.indices.map { query.value(Int32(4 + $0)) }
      let now = try table.rows(on: connection).values(of: table.key(rowKey).values)
      guard let action = table.action(from: before, to: now) else { return }
      let key = table.rowKey(of: try table.key(rowKey))
      entries.append(Entry(place: place, key: key, action: action))
    }
    try connection.execute("DELETE FROM temp.cloudsync_preview")
    return entries
  }
}

extension RecordTable {
  /// What has become of a row; nil if nothing.
  fileprivate func action(
    from before: [SQLiteValue]?,
    to now: [SQLiteValue]?
  ) -> SyncPreview.Action? {
    guard let now else { return before == nil ? nil : .delete }
    guard let before else { return .insert }
    let changed = zip(columns, zip(before, now)).filter { $1.0 != $1.1 }.map(\.0)
    return changed.isEmpty ? nil : .update(columns: changed)
  }
}
