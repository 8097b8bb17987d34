import CloudSyncCore
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
    tally.counts.received += page.changedRecords.count + page.deletedRecordIDs.count
    if page.isBeginning { try store.forgetSeen() }
    try store.setInfo("page", .integer(number))
    var incoming: [Incoming] = []
    incoming.reserveCapacity(page.changedRecords.count)
    let refused = try store.refusedNames()
    for record in page.changedRecords {
      if refused.contains(record.recordID.name) {
        try store.forgetStranger(record.recordID.name)
      }
      if page.startedOver { try store.markSeen(record.recordID.name) }
      if let one = try self.incoming(record) { incoming.append(one) }
    }
    try apply(incoming)
    for recordID in page.deletedRecordIDs.reversed() {
      try store.forgetStranger(recordID.name)
      if let row = try row(named: recordID.name) { try takeDeletion(of: row) }
    }
    if page.isLast, page.startedOver {
      // After a fetch of everything, what was in no page is gone.
      for name in try store.unseenNames() {
        if let row = try row(named: name) { try takeDeletion(of: row) }
      }
      try store.forgetSeen()
    }
    if page.isLast {
      // Somebody may have made their parents here.
      try adoptWaiting()
      try settleDeletions()
    }
    try retryShelved()
    try store.setInfo("isComplete", .integer(page.isLast ? 1 : 0))
    try settleUniqueKeys()
    try store.setApplying(nil)
  }

  /// Stores what came for tables that this database did not have, and now has.
  func adoptStrangers() throws(SQLiteError) {
    for table in tables.inOrder {
      var records: [Incoming] = []
      for record in try store.takeStrangers(ofType: table.layout.recordType) {
        if let one = try incoming(record) { records.append(one) }
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
      if glance == .known, !isRetry { return nil }
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
    // Rows that refer to each other in a circle are whole only when the last one is written.
    try connection.execute("PRAGMA defer_foreign_keys = ON")
    let page = try store.lastPage()
    let times = records.compactMap { $0.record[RecordLayout.timeField]?.int64Value }
    try store.advanceClock(beyond: HybridTime(rawValue: times.max() ?? 0))
    var inserter = RowInserter(work: self, page: page)
    var queue = records
    while !queue.isEmpty {
      let (ready, waiting, expected) = try separate(queue)
      for (one, parent) in waiting { try wait(one, for: parent) }
      let isAwaited = try store.hasWaitingRows()
      var next: [Incoming] = []
      var coming = expected
      for one in inOrder(ready) {
        let name = one.record.recordID.name
        coming.remove(name)
        // A newer version may have come with its parent.
        if one.hasWaited, try present(one).payload != one.record { continue }
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
  }

  /// What is known of a row now: another row of the page may have taken its place.
  func present(_ one: Incoming) throws(SQLiteError) -> RowState {
    one.isNew ? one.row : try store.row(one.table.id, one.row.key) ?? one.row
  }

  func wait(_ one: Incoming, for parent: String) throws(SQLiteError) {
    var row = try present(one)
    row.waitsFor = parent
    row.payload = one.record
    try store.save(row)
  }

  func children(waitingFor name: String) throws(SQLiteError) -> [Incoming] {
    var children: [Incoming] = []
    for row in try store.rows(waitingFor: name) {
      guard let payload = row.payload, let child = try incoming(payload) else { continue }
      child.hasWaited = true
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

extension MetadataStore {
  // MARK: A fetch of everything

  func forgetSeen() throws(SQLiteError) { try connection.execute("DELETE FROM cloudsync_seen") }

  func markSeen(_ name: String) throws(SQLiteError) {
    try connection.fixedStatement("INSERT OR IGNORE INTO cloudsync_seen VALUES(?1)")
      .bind(name, at: 1).run()
  }

  // MARK: Records of unknown tables

  func keepStranger(_ record: Record, error: String? = nil) throws(SQLiteError) {
    try connection.fixedStatement(
      """
      REPLACE INTO cloudsync_strangers(record_name, record_type, record, error)
      VALUES(?1, ?2, ?3, ?4)
      """
    )
    .bind(error.map { .text($0) } ?? .null, at: 4)
    .bind(record.recordID.name, at: 1).bind(record.recordType, at: 2)
    .bind(record.codedBytes, at: 3).run()
  }

  func forgetStranger(_ name: String) throws(SQLiteError) {
    try connection.fixedStatement("DELETE FROM cloudsync_strangers WHERE record_name = ?1")
      .bind(name, at: 1).run()
  }

  /// The records of a table that was unknown when they came; they are here no more then.
  func takeStrangers(ofType type: String) throws(SQLiteError) -> [Record] {
    let query =
      try connection.prepare(
        "SELECT record FROM cloudsync_strangers WHERE record_type = ?1 ORDER BY record_name"
      )
      .bind(type, at: 1)
    var records: [Record] = []
    try query.forEachRow { () throws(SQLiteError) in
      do throws(CodedError) { records.append(try Record(codedBytes: query.bytes(0))) } catch {
        throw SQLiteError(code: 11, message: "a record of type \(type) is damaged: \(error)")
      }
    }
    try connection.prepare("DELETE FROM cloudsync_strangers WHERE record_type = ?1")
      .bind(type, at: 1).run()
    return records
  }
}
