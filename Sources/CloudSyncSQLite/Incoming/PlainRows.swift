import CloudSyncCore
import CloudSyncSQLiteSupport

/// A record out of nothing unusual, which may be a row that is new here.
///
/// It is a class because many are sorted.
private final class PlainArrival {
  /// Its number among the records that have come together.
  let number: Int
  /// The place of its table.
  let place: Int
  let row: PlainRow
  let tag: String

  init(number: Int, place: Int, row: PlainRow, tag: String) {
    self.number = number
    self.place = place
    self.row = row
    self.tag = tag
  }

  /// The order in which rows are stored: parents first, and of a table in the order of the keys, so that neighbours
  /// are written together.
  func precedes(_ other: PlainArrival) -> Bool {
    if place != other.place { return place < other.place }
    if case .integer(let mine)? = row.key.values.first,
      case .integer(let theirs)? = other.row.key.values.first, mine != theirs
    {
      return mine < theirs
    }
    return UTF8Bytes.order(row.key.name, other.row.key.name) < 0
  }

  func isSameRow(as other: PlainArrival?) -> Bool {
    other.map { UTF8Bytes.equal(row.key.name, $0.row.key.name) } ?? false
  }
}

/// Stores records that are new rows and out of nothing unusual: many come together when a device is new.
struct PlainRows: TransactionPart {
  let transaction: SyncTransaction

  /// What became of a record that may be stored as it is.
  private enum PlainOutcome {
    case stored
    /// It refers to a row of the same table that has not come yet.
    case later
    /// It goes the way of all others.
    case unusual
  }

  /// What holds for all records that are stored together.
  private struct PlainFacts {
    /// Whether there are rows that are not clean.
    var hasPending: Bool
    /// Whether rows wait for parents.
    var hasWaiting: Bool
    /// Whether records are kept that no table can hold.
    var hasForeign: Bool
    /// Whether a fetch of everything notes what it has told about.
    var notesSeen: Bool
  }

  /// Stores those records of pages that are rows which are new here and out of nothing unusual.
  ///
  /// They are many when a device is new. No state is made of them, and each costs no more than its row and what
  /// is known of it; what is stored is the same as if they were taken one by one.
  ///
  /// - Parameter pages: Pages that have come one after the other.
  /// - Returns: For each record of the pages whether it is stored; the others are to be taken one by one.
  /// - Throws: SQLite's reason.
  func takePlainRows(
    of pages: [FetchOperation.Response]
  ) throws(SQLiteError) -> [Bool] {
    var isStored: [Bool] = []
    var arrivals: [PlainArrival] = []
    // Of what is told of otherwise too, the order counts.
    var others: Set<String> = []
    for page in pages {
      for record in page.changedRecords {
        if let arrival = arrival(of: record, number: isStored.count) {
          arrivals.append(arrival)
        } else {
          others.insert(record.recordID.name)
        }
        isStored.append(false)
      }
      for deleted in page.deletedRecords { others.insert(deleted.recordID.name) }
    }
    if arrivals.isEmpty { return isStored }
    arrivals.sort { $0.precedes($1) }
    let pending = stored.pending
    let facts = PlainFacts(
      hasPending: try pending.isEmpty() == false,
      hasWaiting: try transaction.awaiting.isEmpty ? pending.hasWaiting() : true,
      hasForeign: try stored.foreign.isEmpty() == false,
      notesSeen: try transaction.isNotingSeenRows()
    )
    var open: [PlainArrival] = []
    for (index, arrival) in arrivals.enumerated() {
      let isOnly =
        !arrival.isSameRow(as: index > 0 ? arrivals[index - 1] : nil)
        && !arrival.isSameRow(as: index + 1 < arrivals.count ? arrivals[index + 1] : nil)
      if isOnly, others.isEmpty || !others.contains(arrival.row.key.name) { open.append(arrival) }
      guard index + 1 == arrivals.count || arrivals[index + 1].place != arrival.place else {
        continue
      }
      for number in try store(open, of: arrival.place, facts: facts) { isStored[number] = true }
      open = []
    }
    return isStored
  }

  private func arrival(of record: Record, number: Int) -> PlainArrival? {
    guard let place = tables.place(ofType: record.recordType), tables.takesPlainRows(of: place),
      let tag = record.changeTag, let row = tables[place].format.plainRow(of: record),
      row.clock.missing.isEmpty, !row.key.values.contains(.null),
      tables[place].format.newlyEncryptedFields(of: record).isEmpty
    else { return nil }
    return PlainArrival(number: number, place: place, row: row, tag: tag)
  }

  /// Stores rows of one table; returns the numbers of those that are stored.
  private func store(
    _ arrivals: [PlainArrival],
    of place: Int,
    facts: PlainFacts
  ) throws(SQLiteError) -> [Int] {
    if arrivals.isEmpty { return [] }
    if try hasNewTriggers(on: tables[place]) { return [] }
    let captured = tables[place].captured
    return try CaptureSuppression(connection: connection)
      .withoutCapture(of: captured, mapping: { $0 }) { () throws(SQLiteError) in
        var stored: [Int] = []
        var open = arrivals
        while !open.isEmpty {
          var later: [PlainArrival] = []
          for arrival in open {
            switch try store(arrival, facts: facts) {
            case .stored: stored.append(arrival.number)
            case .later: later.append(arrival)
            case .unusual: break
            }
          }
          if later.count == open.count { break }
          open = later
        }
        return stored
      }
  }

  /// Whether a table has got a trigger of the app's since the engine was made, or for the connection alone.
  private func hasNewTriggers(on table: RecordTable) throws(SQLiteError) -> Bool {
    let query =
      try connection.fixedStatement(
        """
        SELECT 1 FROM (
          SELECT name, type, tbl_name FROM main.sqlite_schema
          UNION ALL SELECT name, type, tbl_name FROM temp.sqlite_schema)
        WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE
          AND name NOT LIKE 'cloudsync\\_%' ESCAPE '\\'
        """
      )
      .bind(table.name, at: 1)
    defer { query.reset() }
    return try query.step()
  }

  private func store(
    _ arrival: PlainArrival,
    facts: PlainFacts
  ) throws(SQLiteError) -> PlainOutcome {
    let table = tables[arrival.place]
    let row = arrival.row
    let key = table.rowKey(of: row.key)
    if !transaction.rows.isEmpty, transaction.rows[key] != nil { return .unusual }
    if facts.hasPending, try stored.pending.hasRow(key) { return .unusual }
    if let parent = try missingParent(of: arrival) {
      return parent == arrival.place ? .later : .unusual
    }
    let tableRows = table.rows(on: connection)
    let present = try tableRows.values(of: row.key.values)
    if let present, present != row.values { return .unusual }
    for value in row.values where try connection.keeps(value) == false { return .unusual }
    let known = stored.known
    let clean = KnownRow(
      tag: arrival.tag,
      clock: row.clock.bytes,
      digest: table.digest(of: row.values)
    )
    guard try known.insert(clean, of: key) else {
      // What this device has saved comes back.
      let isSame = present == nil ? false : try known.row(key) == clean
      if isSame { try note(arrival, as: key, facts: facts) }
      return isSame ? .stored : .unusual
    }
    if present == nil {
      guard try insert(row.values, of: row.key, into: tableRows) else {
        try known.remove(key)
        return .unusual
      }
      transaction.noteChange(.inserted, of: key, values: row.values, in: table)
      if !table.keepsValues(row.values), let stored = try tableRows.values(of: row.key.values) {
        try known.save(clean.with(digest: table.digest(of: stored)), of: key)
      }
      transaction.touched.insert(arrival.place)
      if facts.hasWaiting { _ = try transaction.writing.childrenWaiting(for: [row.key.name]) }
    }
    try stored.longKeys.note(key, named: row.key.name)
    transaction.counts.received += 1
    try note(arrival, as: key, facts: facts)
    return .stored
  }

  private func note(
    _ arrival: PlainArrival,
    as key: RowKey,
    facts: PlainFacts
  ) throws(SQLiteError) {
    if facts.notesSeen { try stored.seen.insert(key) }
    if facts.hasForeign {
      try stored.foreign.remove(named: arrival.row.key.name)
    }
    transaction.see(arrival.row.clock.latest)
  }

  /// Makes a row; false if SQLite refuses it.
  private func insert(
    _ values: [SQLiteValue],
    of key: RecordKey,
    into rows: TableRows
  ) throws(SQLiteError) -> Bool {
    do throws(SQLiteError) {
      try rows.insert(values)
      return true
    } catch {
      guard error.isRefusal, connection.isInTransaction else { throw error }
      return false
    }
  }

  /// The place of the table of a row that a row refers to and that is not there, is about to go, or has the key of another
  /// one.
  private func missingParent(of arrival: PlainArrival) throws(SQLiteError) -> Int? {
    for link in tables.links(from: arrival.place) {
      let table = tables[arrival.place]
      guard let values = table.values(of: link.columns, in: arrival.row.values) else { continue }
      let parent = tables[link.parent]
      let key = parent.format.key(spelled: values)
      // A row may refer to itself.
      if link.parent == arrival.place, UTF8Bytes.equal(key.name, arrival.row.key.name) { continue }
      if !transaction.unwritten.isEmpty {
        let rowKey = parent.rowKey(of: key)
        if transaction.unwritten.contains(rowKey) { return link.parent }
      }
      if try parent.rows(on: connection).hasRow(key.values) == false { return link.parent }
      // The row that has the key now need not be the one that is meant.
      if !link.own.isEmpty,
        try transaction.traces.hasFormerLives(key, in: link.parent, of: transaction)
      {
        return link.parent
      }
    }
    return nil
  }
}
