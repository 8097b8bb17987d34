import CloudSyncCore
import CloudSyncSQLiteSupport

/// Rows of two databases that were given one key: a file was copied, or put back from a backup, and both have counted on
/// from the same key.
///
/// When they were inserted tells them apart. The one that the cloud has keeps the key; the other one, of which nobody else
/// knows yet, gets the next one, and what refers to it here follows.
struct KeySeparation: TransactionPart {
  let transaction: SyncTransaction

  /// Gives a row another key, if the cloud has another row under its key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - place: The place of its table.
  ///   - version: What the cloud has under it.
  /// - Returns: Whether it did: then nothing is known of the key here.
  /// - Throws: SQLite's reason.
  func separate(
    _ key: RecordKey,
    in place: Int,
    from version: RecordVersion
  ) throws(SQLiteError) -> Bool {
    let table = tables[place]
    guard table.countsKeys, case .integer(let number)? = key.values.first,
      IntegerKeyRanges.isGiven(number)
    else { return false }
    let row = try row(key, in: place)
    guard row.values != nil, row.state.cloud == .absent, let mine = row.state.row,
      mine.clock.isOfAnotherRow(than: version.clock),
      let next = try IntegerKeyRanges(connection: connection, writer: tables.writer)
        .take(in: table.name)
    else { return false }
    let made = table.format.key(spelled: [.integer(next)])
    try moveChildren(of: row, from: number, to: next)
    let blank = try self.row(made, in: place)
    try transaction.withoutCapture(of: blank) { () throws(SQLiteError) in
      try table.rows(on: connection)
        .update([.integer(number)], with: [(table.key[0], .integer(next))])
    }
    var gone = row.forgotten
    gone.values = nil
    keep(gone)
    let moved = try self.row(made, in: place)
    if let values = moved.values {
      let edits = table.edits(of: values)
      try reduce(.edited(.inserted(edits, at: mine.clock.created)), of: made, in: place)
      transaction.noteChange(.inserted, of: moved.rowKey, values: values, in: table)
    }
    transaction.hasSideEffects = true
    return true
  }

  /// Has rows refer to a row under its new key, but for those that the cloud has so: they refer to the other one.
  private func moveChildren(
    of parent: LoadedRow,
    from number: Int64,
    to next: Int64
  ) throws(SQLiteError) {
    for link in tables.links(to: parent.place) where link.refersToKey {
      guard let place = link.child else {
        let child = "main.\(link.reference.child.name.quotedName)"
        let column = link.columns[0].quotedName
        try connection.statement("UPDATE \(child) SET \(column) = ?1 WHERE \(column) = ?2")
          .bind(next, at: 1).bind(number, at: 2).run()
        continue
      }
      let child = tables[place]
      let rows = child.rows(on: connection)
      for key in try rows.keys(where: link.columns, are: [.integer(number)]) {
        let row = try transaction.row(spelled: key, in: place)
        if row.state.hasFromCloud(link.columns[0]) { continue }
        let change = [(column: link.columns[0], value: SQLiteValue.integer(next))]
        if link.isInKeyOfChild {
          // It is another row then, as for whoever changes its key.
          try rows.update(key, with: change)
          continue
        }
        try transaction.withoutCapture(of: row) { () throws(SQLiteError) in
          try rows.update(key, with: change)
        }
        if row.rowKey == parent.rowKey { continue }
        try transaction.set(link.columns, to: [.integer(next)], of: row.rowKey)
      }
    }
  }
}

extension RecordClock {
  /// Whether a row that was never deleted is not the one that the cloud has under its key: it was inserted at another time,
  /// and not in place of that one.
  fileprivate func isOfAnotherRow(than other: RecordClock) -> Bool {
    guard !hasEndedLives, created > Self.foundCreation, other.created > Self.foundCreation
    else {
      return false
    }
    // A later life of the same row begins after a deletion.
    return other.created < created || other.created > created && !other.hasEndedLives
  }

  private var hasEndedLives: Bool { lastDeletion > .zero || !moves.isEmpty }
}

extension RecordState {
  /// Whether a column has what the cloud has in it.
  fileprivate func hasFromCloud(_ column: String) -> Bool {
    guard let known, let time = row?.clock.time(of: column) else { return false }
    return known.clock.time(of: column) == time
      && !known.differing.contains { UTF8Bytes.equal($0, column) }
  }
}
