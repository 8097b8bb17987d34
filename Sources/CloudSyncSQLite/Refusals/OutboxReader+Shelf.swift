import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension OutboxReader {
  /// Brings an edit into what a row is to be that is not in the table so.
  func take(_ entry: OutboxEntry, into row: inout RowState, _ table: SyncTable) throws(SQLiteError)
  {
    guard case .updated(let bits) = entry.change,
      var shelf = row.shelf?.rowVersion
    else {
      // Its place in the table was taken by a row of the user's, or it is gone.
      row.unshelve()
      row.waitsFor = row.payload == nil ? nil : row.waitsFor
      return
    }
    if shelf.isDeleted {
      // Whoever edits what is gone elsewhere, and could not go here, makes it anew.
      row.unshelve()
      row.edits = [RowState.Edit(column: nil, time: entry.time)]
      row.createdAt = entry.time
      return
    }
    let key = try table.keyValues(of: entry.key, in: store.connection)
    let present = RowTable(table: table, connection: store.connection)
    guard let values = try present.values(of: key) else { return }
    for (name, isChanged) in zip(table.captured, bits) where isChanged {
      guard let place = table.schema.writableColumns.firstIndex(where: { $0.name == name }),
        case .field(let value) = ValueCodec.encode(values[place], assetThreshold: .max)
      else { continue }
      shelf[name] = VersionedColumn(name: name, value: value, time: entry.time)
    }
    guard let id = row.shelf?.recordID else { return }
    row.shelf = table.layout.record(shelf, recordID: id)
    // Whatever stood in the way may be mended by the edit.
    row.shelfCode = nil
  }
}
