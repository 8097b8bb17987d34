import CloudSyncCore
import CloudSyncSQLiteSupport

/// Deletes the records of rows that were deleted long ago.
struct TombstonePurge: TransactionPart {
  let transaction: SyncTransaction

  /// Takes up the tombstones that were there before they were to be purged.
  func adoptTombstones() throws(SQLiteError) {
    guard transaction.purgeAge != nil, let time = try facts.integer(.cloudTime) else { return }
    try stored.tombstones.adopt(at: time)
  }

  /// Marks tombstones that are old enough, and begins to delete those that this device has marked.
  ///
  /// The mark is sent as a save, so it shows whether anybody has made the row anew; while it is fresh nobody writes
  /// over it.
  ///
  /// - Parameter limit: How many tombstones are looked at.
  /// - Returns: The records that are to be deleted now, and whether others were marked.
  /// - Throws: SQLite's reason.
  func beginPurges(
    limit: Int
  ) throws(SQLiteError) -> (removals: [SentRemoval], hasMarked: Bool) {
    guard let purgeAge = transaction.purgeAge, let present = try facts.integer(.cloudTime) else {
      return ([], false)
    }
    var hasMarked = false
    let tombstones = stored.tombstones
    var removals: [SentRemoval] = []
    for rowKey in try tombstones.due(before: max(present, purgeAge) - purgeAge, limit: limit) {
      guard let row = try row(rowKey), row.isDeleted,
        let known = row.state.known
      else {
        try tombstones.remove(rowKey)
        continue
      }
      guard !row.state.isDirty, row.state.isSettled else { continue }
      let writer = tables.writer
      switch known.clock.purge {
      case let mark? where mark.writer == writer && mark.isUsable(at: present):
        try reduce(.purging, of: row.key, in: row.place)
        removals.append(SentRemoval(of: row))
      case let mark? where mark.writer != writer && mark.isValid(at: now):
        // Somebody else is at it; should that device be gone, this one does it.
        try tombstones.note(rowKey, at: mark.end - min(purgeAge, mark.end))
      case .some, nil:
        // By the server's time: one's own clock may be years ahead, so that the mark would be too old or too young for ever. Where
        // the server was not heard of for half a day, its answer tells the time, and the tombstone is marked once more.
        try reduce(.marked(PurgeMark(writer: writer, since: present)), of: row.key, in: row.place)
        hasMarked = true
      }
    }
    return (removals, hasMarked)
  }
}
