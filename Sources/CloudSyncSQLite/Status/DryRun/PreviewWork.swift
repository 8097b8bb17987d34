import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Does what an engine would do, within a transaction that is undone, and notes what it was.
struct PreviewWork {
  private let transaction: SyncTransaction
  private let zoneID: ZoneID
  private var preview: SyncPreview
  /// The rows that nobody knew before the cloud told of them.
  private var found: Set<RowKey> = []

  private var connection: SQLiteConnection { transaction.connection }

  /// How many rows are looked at in one piece.
  private static let piece = 2_000

  /// Creates the work.
  ///
  /// - Parameters:
  ///   - transaction: A transaction that will be undone.
  ///   - zoneID: The zone.
  ///   - begun: What is known already.
  init(_ transaction: SyncTransaction, zoneID: ZoneID, _ begun: SyncPreview) {
    self.transaction = transaction
    self.zoneID = zoneID
    preview = begun
  }

  /// Takes what the cloud has, and tells what has become of it and what would be sent then.
  mutating func run(_ fetched: SessionlessFetch.Fetched) throws(SQLiteError) -> SyncPreview {
    preview.hasZone = fetched.hasZone
    try transaction.readOutbox()
    try transaction.cloud.adoptForeignRecords()
    try transaction.finish()
    let log = PreviewLog(connection: connection, tables: transaction.tables)
    try log.begin()
    for page in fetched.pages {
      try noteFound(page)
      let absences = try transaction.absences()
      try PageApplier(transaction: transaction)
        .take([FetchedPage(response: page, absencesBefore: absences)])
      try transaction.finish()
    }
    // A zone that is lost is made again with everything.
    if !fetched.hasZone { try FetchOfEverything(transaction: transaction).replaceZone() }
    try reconcile()
    try noteApplied(try log.take())
    let refused = try noteSent()
    try noteHeld(refused)
    // Those that turned out to stay while they were to be sent are stored first.
    try transaction.finish()
    preview.localRows = try transaction.stored.pending.filteredCount()
    preview.united = transaction.united
    return preview
  }

  /// Compares what nobody captured, and takes what the cloud's rows have caused.
  private mutating func reconcile() throws(SQLiteError) {
    let reconciliation = Reconciliation(transaction: transaction)
    while try reconciliation.step(limit: Self.piece) { try transaction.finish() }
    try transaction.finish()
    try transaction.readOutbox()
    try transaction.finish()
  }

  // MARK: What would be stored

  private mutating func noteFound(_ page: FetchOperation.Response) throws(SQLiteError) {
    for record in page.changedRecords {
      guard let place = transaction.tables.place(ofType: record.recordType),
        let key = key(of: record, in: transaction.tables[place].format)
      else { continue }
      let row = try transaction.row(key, in: place)
      if row.values != nil, row.state.row == nil { found.insert(row.rowKey) }
    }
  }

  /// The key that a record tells, in its name or in its fields; nil if it cannot be read, and is put into no row.
  private func key(of record: Record, in format: RecordFormat) -> RecordKey? {
    do throws(CodedError) { return try format.row(of: record).key } catch { return nil }
  }

  private mutating func noteApplied(_ entries: [PreviewLog.Entry]) throws(SQLiteError) {
    for entry in entries {
      let table = transaction.tables[entry.place]
      let name = try table.key(entry.key.key).name
      preview.applied.append(change(of: entry.key, in: table, named: name, action: entry.action))
      if entry.action == .delete, found.contains(entry.key) { preview.endedRows += 1 }
    }
  }

  private func change(
    of key: RowKey,
    in table: RecordTable,
    named name: String,
    action: SyncPreview.Action
  ) -> SyncPreview.Change {
    SyncPreview.Change(
      table: table.name,
      key: CompoundKey.literals(of: key.key, isCompound: table.key.count > 1),
      recordName: name,
      action: action
    )
  }

  // MARK: What would be sent

  /// Notes every row that would be sent; returns those that break a rule of the cloud's.
  private mutating func noteSent() throws(SQLiteError) -> [SyncPreview.Refusal] {
    var refused: [SyncPreview.Refusal] = []
    let pending = transaction.stored.pending
    let builder = BatchBuilder(transaction: transaction, zoneID: zoneID)
    let places = transaction.tables.inOrder.indices.flatMap { [($0, false), ($0, true)] }
    for (place, isDeleted) in places {
      let table = transaction.tables[place]
      var last: SQLiteValue?
      while true {
        let keys = try pending.sendable(
          in: table.id,
          after: last,
          tombstones: isDeleted,
          limit: Self.piece
        )
        for key in keys {
          guard let sent = try builder.row(try table.key(key.key), in: place, now: transaction.now)
          else { continue }
          let known = try transaction.row(sent.key, in: place).state.known
          let action = table.action(from: known, to: sent.version)
          let one = change(of: key, in: table, named: sent.key.name, action: action)
          if let reason = brokenRule(by: sent.record) {
            refused.append(
              SyncPreview.Refusal(
                table: one.table,
                key: one.key,
                recordName: one.recordName,
                reason: reason
              )
            )
          } else {
            preview.sent.append(one)
          }
        }
        guard keys.count == Self.piece else { break }
        last = keys.last?.key
      }
    }
    return refused
  }

  private func brokenRule(by record: Record) -> String? {
    do throws(RecordRuleViolation) {
      try RecordRules.check(record, zone: zoneID)
      return nil
    } catch { return error.description }
  }

  // MARK: What would not

  private mutating func noteHeld(_ refused: [SyncPreview.Refusal]) throws(SQLiteError) {
    let reading = MetadataReading(connection: connection)
    let parked = try reading.held(where: "p.error_code IS NOT NULL")
    let waiting = try reading.held(where: "p.error_code IS NULL AND p.waits_for IS NOT NULL")
    let reasons = HeldReasons(parked: parked, waiting: waiting)
    preview.refused = refusals(of: parked, because: reasons) + refused
    preview.waiting = refusals(of: waiting, because: reasons)
    preview.unknownRecords = Int(
      clamping: try transaction.stored.foreign.unknownCount()
    )
  }

  private func refusals(
    of held: [SyncMetadata.HeldRecord],
    because reasons: HeldReasons
  ) -> [SyncPreview.Refusal] {
    held.map { one in
      SyncPreview.Refusal(
        table: one.table,
        key: one.key,
        recordName: one.recordName,
        reason: reasons.reason(for: one)
      )
    }
  }
}

extension RecordTable {
  /// What a save would do to the record.
  fileprivate func action(
    from known: CloudRecord?,
    to version: RecordVersion
  ) -> SyncPreview.Action {
    if version.clock.isDeleted { return .delete }
    guard let known, !known.clock.isDeleted else { return .insert }
    return .update(columns: columns.filter { version.differs(from: known, in: $0) })
  }
}
