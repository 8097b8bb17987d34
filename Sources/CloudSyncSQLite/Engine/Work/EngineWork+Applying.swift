import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension EngineWork {
  /// A record that a page has brought, with its table.
  final class Incoming {
    let table: SyncTable
    let record: Record
    let row: RowState
    let key: [SQLiteValue]
    /// Whether nothing was known of the record.
    let isNew: Bool
    /// Set if the record is of a zone that may be gone, and waited here.
    var void: Int64?
    /// Whether it has waited for a parent.
    var hasWaited = false
    /// Whether the version is what has come of a merge with the row's own edits.
    var isMerged = false
    /// The row as it is to be: the record's, unless more is known.
    lazy var version = RowVersion(record: record) ?? .missing

    init(
      _ record: Record,
      of table: SyncTable,
      _ row: RowState,
      key: [SQLiteValue],
      isNew: Bool
    ) {
      self.table = table
      self.record = record
      self.row = row
      self.key = key
      self.isNew = isNew
    }
  }

  /// Stores a page, within the open transaction.
  func apply(_ page: FetchOperation.Response) throws(SQLiteError) {
    let number = Int64(page.page.number)
    // It is announced again after a crash.
    guard try store.lastPage() < number else { return }
    if page.isBeginning { try store.beginFullFetch(number) }
    try store.setFact("page", .integer(number))
    let isRebuilding = try store.info("rebuild") != nil
    tally.looksClosely = page.startedOver && isRebuilding
    var incoming: [Incoming] = []
    incoming.reserveCapacity(page.changedRecords.count)
    let refused = try store.refusedNames()
    for record in page.changedRecords {
      if refused.contains(record.recordID.name) {
        try store.forgetStranger(record.recordID.name)
      }
      let one = try self.incoming(record)
      if page.startedOver, one?.isNew != true { try store.markSeen(record.recordID.name) }
      if let one { incoming.append(one) }
    }
    tally.counts.received += page.changedRecords.count - tally.known
    var evidence = try store.zoneEvidence()
    evidence.consider(knownSince: tally.oldestKnown)
    for one in incoming { evidence.consider(one.row, one.record) }
    try apply(incoming)
    for recordID in page.deletedRecordIDs.reversed() {
      try store.forgetStranger(recordID.name)
      guard let row = try row(named: recordID.name) else { continue }
      tally.counts.received += 1
      evidence.consider(row)
      try takeDeletion(of: row)
    }
    if page.startedOver, evidence.isKnownZone { try store.noteKnownZone() }
    try store.noteNewest(of: page)
    if page.isLast {
      try endFetch(ofEverything: page.startedOver)
      // Somebody may have made their parents here.
      try adoptWaiting()
      try settleDeletions()
    }
    try retryShelved()
    try store.setFact("isComplete", .integer(page.isLast ? 1 : 0))
    try settleUniqueKeys()
    try store.setApplying(nil)
  }

  /// Stores what came for tables that this database did not have, and now has.
  func adoptStrangers() throws(SQLiteError) {
    for table in tables.inOrder {
      var records: [Incoming] = []
      for (record, void) in try store.takeStrangers(ofType: table.layout.recordType) {
        guard let one = try incoming(record) else { continue }
        one.void = void
        records.append(one)
      }
      try apply(records)
    }
    try store.setApplying(nil)
  }

  /// Sorts out whose a record is; one of a table that is not here is kept for later.
  ///
  /// - Returns: Nil if nothing is to be done, as for a version that is known; unless it is tried again.
  func incoming(_ record: Record, isRetry: Bool = false) throws(SQLiteError) -> Incoming? {
    let name = record.recordID.name
    guard record[RecordLayout.timeField]?.int64Value != nil else {
      try refuseWithoutTime(record)
      return nil
    }
    if let (table, key) = tables.place(ofPlainName: name) {
      let glance = try store.glance(at: table.id, key, tag: record.changeTag)
      if glance == .known, !isRetry, !tally.looksClosely {
        tally.noteKnown(record)
        return nil
      }
      let row = glance == .new ? nil : try store.row(table.id, key)
      if row == nil, try refuses([key], of: record, table) { return nil }
      let fresh = RowState(table: table.id, key: key, recordName: name)
      return Incoming(record, of: table, row ?? fresh, key: [key], isNew: row == nil)
    }
    guard let parsed = RecordName.parse(name) else {
      try refuse(record, Self.foreignName)
      return nil
    }
    guard let table = tables.table(named: parsed.table) else {
      try store.keepStranger(record)
      return nil
    }
    if let row = try row(named: name) {
      if row.isKnown(record), !isRetry, !tally.looksClosely {
        tally.noteKnown(record)
        return nil
      }
      let key = try table.keyValues(of: row.key, in: connection)
      return Incoming(record, of: table, row, key: key, isNew: false)
    }
    guard let key = key(of: parsed, record, table) else {
      try refuse(record, "its fields do not have the key of table \(table.name.quotedName)")
      return nil
    }
    if try refuses(key, of: record, table) { return nil }
    let stored = try table.key(of: key, in: connection)
    let fresh = RowState(table: table.id, key: stored, recordName: name)
    return Incoming(record, of: table, fresh, key: key, isNew: true)
  }

  /// The values of a new row's key: as its name tells them, or as the fields do.
  private func key(
    of name: RecordName,
    _ record: Record,
    _ table: SyncTable
  ) -> [SQLiteValue]? {
    if case .values(let values) = name.key {
      return values.count == table.schema.primaryKey.count ? values : nil
    }
    guard let version = RowVersion(record: record) else { return nil }
    var values: [SQLiteValue] = []
    for column in table.schema.primaryKey {
      guard let value = version[column]?.value, case .value(let stored)? = ValueCodec.decode(value)
      else { return nil }
      values.append(stored)
    }
    // A digest tells nothing, so somebody else's fields may have any key.
    let isOwn = UTF8Bytes.equal(table.layout.recordName(key: values), record.recordID.name)
    return isOwn ? values : nil
  }

  // MARK: Parents first

  /// Applies records: those whose parents are here or come along; the others wait.
  func apply(_ records: [Incoming]) throws(SQLiteError) {
    if records.isEmpty { return }
    // Rows that refer to each other in a circle are whole only when the last one is written. Nothing
    // is asked in vain: SQLite prepares all statements anew after it.
    if tables.enforcesForeignKeys, tables.inOrder.contains(where: \.refersToParents) {
      try connection.execute("PRAGMA defer_foreign_keys = ON")
    }
    let page = try store.lastPage()
    let times = records.compactMap { $0.record[RecordLayout.timeField]?.int64Value }
    try store.advanceClock(beyond: HybridTime(rawValue: times.max() ?? 0))
    var inserter = RowInserter(work: self, page: page)
    var queue = records
    while !queue.isEmpty {
      let (ready, waiting, expected) = try separate(queue)
      for (one, parent) in waiting where try isCurrent(one) { try wait(one, for: parent) }
      let isAwaited = try store.hasWaitingRows()
      var next: [Incoming] = []
      var coming = expected
      for one in inOrder(ready) {
        let name = one.record.recordID.name
        coming.remove(name)
        guard try isCurrent(one) else { continue }
        if one.table.refersToParents {
          // A parent that came before it may be deleted here.
          if let parent = try missingParent(of: one, coming) {
            try wait(one, for: parent)
            continue
          }
        }
        let isInserted = try inserter.insert(one)
        if !isInserted {
          inserter.end()
          try merge(one, page: page)
        }
        if isAwaited { next += try children(waitingFor: name) }
      }
      if isAwaited {
        for table in tables.inOrder where ready.contains(where: { $0.table.id == table.id }) {
          next += try children(waitingFor: table.anyRecord)
        }
      }
      // Who waits for another parent now waits on; who waits for the same one is not asked again.
      queue = ready.isEmpty ? [] : next
    }
    try restoreRetouched()
  }

  /// What is known of a row now: another row of the page may have taken its place.
  func present(_ one: Incoming) throws(SQLiteError) -> RowState {
    one.isNew ? one.row : try store.row(one.table.id, one.row.key) ?? one.row
  }

  /// Whether a record that has waited is still what is known: a newer version may have come with its
  /// parent.
  private func isCurrent(_ one: Incoming) throws(SQLiteError) -> Bool {
    if !one.hasWaited { return true }
    return try present(one).payload == one.record
  }

  func wait(_ one: Incoming, for parent: String) throws(SQLiteError) {
    var row = try present(one)
    row.waitsFor = parent
    row.payload = one.record
    if one.isNew { row.page = try store.lastPage() }
    row.void = one.void
    try store.save(row)
  }

  func children(waitingFor name: String) throws(SQLiteError) -> [Incoming] {
    var children: [Incoming] = []
    for row in try store.rows(waitingFor: name) {
      guard let payload = row.payload, let child = try incoming(payload) else { continue }
      child.hasWaited = true
      child.void = row.void
      children.append(child)
    }
    return children
  }

  private func inOrder(_ records: [Incoming]) -> [Incoming] {
    if records.count < 2 { return records }
    return tables.inOrder.flatMap { table in records.filter { $0.table.id == table.id } }
  }

  /// Tells records whose parents are here, or among them, from those that have to wait for one.
  private func separate(
    _ records: [Incoming]
  ) throws(SQLiteError) -> (
    ready: [Incoming], waiting: [(Incoming, parent: String)], coming: Set<String>
  ) {
    if !tables.enforcesForeignKeys || !records.contains(where: \.table.refersToParents) {
      return (records, [], [])
    }
    var coming: Set<String> = []
    for one in records where try isGoingToBe(one) { coming.insert(one.record.recordID.name) }
    var ready = records
    var waiting: [(Incoming, parent: String)] = []
    var hasChanged = true
    while hasChanged {
      hasChanged = false
      var rest: [Incoming] = []
      for one in ready {
        if let parent = try missingParent(of: one, coming) {
          waiting.append((one, parent))
          coming.remove(one.record.recordID.name)
          hasChanged = true
        } else {
          rest.append(one)
        }
      }
      ready = rest
    }
    return (ready, waiting, coming)
  }
}
