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
    try retryShelved()
    try store.setInfo("isComplete", .integer(page.isLast ? 1 : 0))
    try settleUniqueKeys()
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
      let (ready, waiting) = try separate(queue)
      for (one, parent) in waiting { try wait(one, for: parent) }
      let isAwaited = try store.hasWaitingRows()
      var next: [Incoming] = []
      var coming = tables.enforcesForeignKeys ? Set(ready.map(\.record.recordID.name)) : []
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
  ) throws(SQLiteError) -> (ready: [Incoming], waiting: [(Incoming, parent: String)]) {
    if !tables.enforcesForeignKeys || !records.contains(where: \.table.refersToParents) {
      return (records, [])
    }
    var ready = records
    var waiting: [(Incoming, parent: String)] = []
    var hasChanged = true
    while hasChanged {
      hasChanged = false
      let names = Set(ready.map(\.record.recordID.name))
      var rest: [Incoming] = []
      for one in ready {
        if let parent = try missingParent(of: one, names) {
          waiting.append((one, parent))
          hasChanged = true
        } else {
          rest.append(one)
        }
      }
      ready = rest
    }
    return (ready, waiting)
  }

  /// The record that a row refers to and that is neither here nor among those that come.
  func missingParent(
    of one: Incoming,
    _ coming: Set<String>,
    isBack: Bool = false
  ) throws(SQLiteError) -> String? {
    if !tables.enforcesForeignKeys || !one.table.refersToParents || one.version.isDeleted {
      return nil
    }
    // A row that is deleted here refers to nothing, unless the merge brings it back.
    if one.row.isDeleted, !isBack { return nil }
    for key in one.table.schema.foreignKeys {
      guard let parent = tables.table(named: key.table) else { continue }
      // What it refers to here is another row perhaps, as the merge will tell.
      if !isBack, !one.isMerged, key.columns.contains(where: { one.row.editTime(of: $0) != nil }) {
        continue
      }
      var values: [SQLiteValue] = []
      for column in key.columns {
        guard let value = one.version[column]?.value,
          case .value(let stored)? = ValueCodec.decode(value), stored != .null
        else { break }
        values.append(stored)
      }
      // A part that is NULL or unknown refers to nothing.
      guard values.count == key.columns.count else { continue }
      if try rows(of: parent).hasRow(where: key.referencedColumns, values) { continue }
      // Which record has another key than the primary one is not known: any of that table may.
      guard key.referencedColumns == parent.schema.primaryKey else { return parent.anyRecord }
      let name = parent.layout.recordName(key: values)
      if !coming.contains(name) { return name }
    }
    return nil
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
