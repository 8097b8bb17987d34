import CloudSyncCore
import CloudSyncSQLiteSupport

/// What one look at the database has found to do.
struct FeedStep: Sendable {
  var batch = SentBatch()
  /// Whether as much is on its way as may be, or a fetch has to come first, so that no more was looked for.
  var isFull = false
  /// How many rows wait to be sent, those that are on their way among them.
  var pending = 0
  /// The same, counted to the end; nil if it was not.
  var allPending: Int?
  /// Whether there is more to compare, and how far that has come.
  var comparesMore = false
  var comparedTo: Reconciliation.Position?
  /// Whether something is to be sent that the next look finds.
  var goesOn = false
  var isFetchAllDue = false
  /// Records that pages could not bring, to be looked up now.
  var lookups: [LookUp] = []
  /// In how many milliseconds something that was refused may be sent again.
  var next: Int64?
}

/// Looks what is to be done next, in one transaction.
struct FeedSearch: TransactionPart {
  let transaction: SyncTransaction
  let zoneID: ZoneID
  let limits: RequestLimits
  /// Whether the zone's record may be sent.
  let mayMakeZone: Bool
  /// The number of the zone that is made if there is none.
  let incarnation: Int64
  /// What is on its way, and how far tables were compared.
  var cursor: UploadCursor
  private var step = FeedStep()

  init(
    in transaction: SyncTransaction,
    zoneID: ZoneID,
    limits: RequestLimits,
    mayMakeZone: Bool,
    incarnation: Int64,
    cursor: UploadCursor
  ) {
    self.transaction = transaction
    self.zoneID = zoneID
    self.limits = limits
    self.mayMakeZone = mayMakeZone
    self.incarnation = incarnation
    self.cursor = cursor
  }

  /// Looks for what is to be sent, in the order in which it goes.
  mutating func run(isFull: Bool, countsAll: Bool) throws(SQLiteError) -> FeedStep {
    step.batch.zoneChanges = try transaction.zoneChanges()
    // What was captured may have others to be written first.
    try transaction.finish()
    let fetchesFirst = try isFetchFirst()
    step.isFetchAllDue = try transaction.isFetchAllDue()
    step.isFull = isFull || fetchesFirst || step.isFetchAllDue
    let count = PendingCount(transaction: transaction)
    step.pending = try count.upToLimit()
    if countsAll, step.pending == PendingCount.limit { step.allPending = try count.all() }
    if step.isFull { return step }
    if try facts.value(.erases) != nil {
      // Nobody may upload again what was erased on purpose: this comes before anything else.
      step.batch.zone = try missingZone()
      return step
    }
    try addRows()
    if !step.batch.isEmpty || step.comparesMore { return step }
    try addOthers()
    // They do not count as pending any more.
    step.goesOn = step.goesOn || transaction.hasStoppedRows
    try noteWhatFollows()
    return step
  }

  /// Whether nothing is sent before a fetch has told what the cloud has.
  ///
  /// What is uploaded again may have been changed unseen. And of what is on its way when the very first page comes nobody
  /// knows which zone it is for: its answer would not count, and it would be sent twice. That a zone was erased on purpose
  /// is told before that all the same.
  private func isFetchFirst() throws(SQLiteError) -> Bool {
    switch try transaction.fullFetch() {
    case .uploads: return true
    case nil:
      guard try facts.value(.token) == nil else { return false }
      return try facts.value(.erases) == nil
    default: return false
    }
  }

  /// Rows, and those that were there before anybody captured them.
  private mutating func addRows() throws(SQLiteError) {
    let onTheirWay = cursor.onTheirWay
    step.batch.rows = try BatchBuilder(transaction: transaction, zoneID: zoneID)
      .batch(limits: limits, now: now) { onTheirWay.contains($0) }
    if step.batch.count < limits.items {
      step.comparesMore = try cursor.fill(&step.batch, in: transaction)
    }
    step.comparedTo = cursor.position
  }

  /// What is sent when no row is: records of other tables, deletions of records, and the zone's record.
  private mutating func addOthers() throws(SQLiteError) {
    let onTheirWay = cursor.onTheirWay
    step.batch.foreign = try stored.foreign.unsent(limit: limits.items, at: now, but: onTheirWay)
    if step.batch.isEmpty {
      (step.batch.removals, step.goesOn) = try RecordRemoval(transaction: transaction)
        .begin(limit: limits.items, isOnItsWay: onTheirWay)
    }
    if step.batch.isEmpty { step.batch.zone = try missingZone() }
  }

  /// What is to be fetched, and when something that was refused may be sent again.
  private mutating func noteWhatFollows() throws(SQLiteError) {
    let names = try stored.unfetched.takeDue(limit: max(1, min(limits.items - 1, 100)), at: now)
    for name in names {
      step.lookups.append(LookUp(name: name, tag: try transaction.knownTag(ofRecord: name)))
    }
    let due = [
      try stored.pending.nextDue(in: tables.inOrder.map(\.id), after: now),
      try stored.foreign.nextDue(after: now),
      try stored.unfetched.nextDue(after: now),
    ]
    .compactMap { $0 }.min()
    step.next = due.map { max(0, $0 - now) }
  }

  /// The zone's record, if a fetch has told that there is none; nil if there is, or nobody knows.
  private func missingZone() throws(SQLiteError) -> ZoneRecord? {
    guard mayMakeZone, try facts.value(.zone) == nil else { return nil }
    if try facts.value(.erases) != nil { return ZoneRecord(incarnation: incarnation, erases: true) }
    guard try facts.value(.token) != nil, try facts.value(.fullFetch) == nil else { return nil }
    return ZoneRecord(incarnation: incarnation, erases: false)
  }
}

extension SyncTransaction {
  /// Whether everything is to be fetched, and no fetch of everything has begun before the first token.
  func isFetchAllDue() throws(SQLiteError) -> Bool {
    guard try isFetchAllAsked() else { return false }
    return try facts.token() != nil
  }

  /// Whether everything is to be fetched: somebody asks for it, or an engine for fewer tables has met another zone while
  /// this one did not run, or beside it.
  func isFetchAllAsked() throws(SQLiteError) -> Bool {
    if try facts.value(.fetchAll) != nil { return true }
    // One that is under way goes on where it is, and settles that at its end.
    if try fullFetch() != nil { return false }
    return try facts.leftTables().contains { tables.place(ofID: $0) != nil }
  }
}
