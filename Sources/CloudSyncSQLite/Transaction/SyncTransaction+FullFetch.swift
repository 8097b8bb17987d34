import CloudSyncSQLiteSupport

extension SyncTransaction {
  /// Whether a fetch of everything is under way.
  mutating func isFetchingAll() throws(SQLiteError) -> Bool {
    if let fetchesAll { return fetchesAll }
    let isUnderWay = try Facts(connection: connection).value(.fullFetch) != nil
    fetchesAll = isUnderWay
    return isUnderWay
  }

  /// Takes that a fetch of everything begins: what it tells about from now on is noted.
  mutating func beginFullFetch() throws(SQLiteError) {
    try SeenRows(connection: connection).removeAll()
    try Facts(connection: connection).set(.fullFetch, .integer(1))
    fetchesAll = true
  }

  /// Takes that the zone is another one than what is known is of: nothing that was acknowledged counts, but for
  /// what this fetch has told about, which is of the new one already.
  mutating func replaceZone() throws(SQLiteError) {
    try reduceUnseen(.zoneReplaced)
    try ForeignRecords(connection: connection).markUnsent()
  }

  /// Takes the end of a fetch of everything: what it has not told about is gone.
  ///
  /// - Parameter sweeps: Whether the fetch was of the zone that is known, from its first page on; else it says nothing
  ///   of what it has not told.
  /// - Throws: SQLite's reason.
  mutating func endFullFetch(sweeps: Bool) throws(SQLiteError) {
    if sweeps { try reduceUnseen(.vanished) }
    try SeenRows(connection: connection).removeAll()
    try Facts(connection: connection).set(.fullFetch, nil)
    fetchesAll = false
  }

  private mutating func reduceUnseen(_ event: RecordEvent) throws(SQLiteError) {
    for place in tables.indices {
      let keys = try SeenRows(connection: connection).unseen(in: tables[place].id)
      for key in keys { try reduce(event, try tables[place].key(key), in: place) }
    }
  }
}
