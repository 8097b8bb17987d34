import CloudSyncCore
import CloudSyncSQLiteSupport

/// What one operation carries.
struct SentBatch: Sendable {
  var rows: [SentRow] = []
  /// Records that no table here can hold, which a lost zone needs again.
  var foreign: [Record] = []
  var zone: ZoneRecord?

  var count: Int { rows.count + foreign.count + (zone == nil ? 0 : 1) }
  var isEmpty: Bool { count == 0 }

  func records(in zoneID: ZoneID) -> [Record] {
    rows.map(\.record) + foreign + (zone.map { [$0.record(in: zoneID)] } ?? [])
  }
}

extension SyncEngine {
  /// How many rows of a table are compared in one transaction.
  private static let reconciled = 2_000
  /// How many rows are counted that wait to be sent; of more it is only known that they are more.
  private static let counted: Int64 = 5_000

  /// What one look at the database has found to do.
  private struct FeedStep: Sendable {
    var batch = SentBatch()
    /// How many rows wait to be sent, those that are on their way among them.
    var pending = 0
    /// Whether there is more to compare.
    var reconcilesMore = false
    var isFetchAllDue = false
    /// In how many milliseconds something that was refused may be sent again.
    var next: Int64?
  }

  /// Submits edits until two requests' worth of them is on its way.
  func feed(_ generation: Int) throws(SyncEngineError) {
    guard let (session, present) = running, present == generation else { return }
    while isCurrent(generation) {
      let step = try feedStep(generation)
      state.withLock { state in
        let left = step.pending - state.recordsInFlight - step.batch.rows.count
        let known = state.counts.pending - step.batch.rows.count
        state.counts.pending = max(0, step.pending < Self.counted ? left : max(left, known))
      }
      if step.reconcilesMore { continue }
      if !step.batch.isEmpty {
        try submit(step.batch, to: session, generation)
        continue
      }
      if step.isFetchAllDue, state.withLock({ $0.fetches == 0 }) {
        fetch(FetchOperation(startingOver: true), session, generation)
      }
      if let next = step.next, state.withLock({ $0.backlog.isEmpty }) {
        retryTimer?.schedule(after: (next + 1) * 1_000_000)
      }
      return
    }
  }

  /// Looks what is to be done next, in one transaction.
  private func feedStep(_ generation: Int) throws(SyncEngineError) -> FeedStep {
    let limits = handler.limits
    let (isFull, mayMakeZone, names) = state.withLock { state in
      let batches = state.inFlight.values
      let names = Set(
        batches.flatMap { $0.rows.map(\.key.name) + $0.foreign.map(\.recordID.name) }
      )
      let isFull = state.recordsInFlight >= 2 * limits.items || !state.backlog.isEmpty
      let mayMakeZone = !state.isZoneRecordRefused && !batches.contains { $0.zone != nil }
      return (isFull, mayMakeZone, names)
    }
    let number = Int64(bitPattern: environment.nonce())
    return try transaction(generation) { [zoneID] (transaction) throws(SQLiteError) in
      var step = FeedStep()
      // What was captured may have others to be written first.
      try transaction.finish()
      step.reconcilesMore = try Self.reconcile(&transaction)
      let pending = PendingRows(connection: transaction.connection)
      let foreign = ForeignRecords(connection: transaction.connection)
      step.pending = Int(try pending.dirtyCount(upTo: Self.counted))
      if step.reconcilesMore || isFull { return step }
      if try transaction.facts.value(.erases) != nil {
        // Nobody may upload again what was erased on purpose: this comes before anything else.
        if mayMakeZone { step.batch.zone = try Self.missingZone(transaction.facts, number) }
        return step
      }
      step.batch.rows = try BatchBuilder(transaction: transaction, zoneID: zoneID)
        .batch(limits: limits, now: transaction.now) { names.contains($0) }
      if step.batch.isEmpty {
        step.batch.foreign =
          try foreign.unsent(limit: limits.items, at: transaction.now, but: names)
      }
      if step.batch.isEmpty, mayMakeZone {
        step.batch.zone = try Self.missingZone(transaction.facts, number)
      }
      let ids = transaction.tables.inOrder.map(\.id)
      let due = [
        try pending.nextDue(in: ids, after: transaction.now),
        try foreign.nextDue(after: transaction.now),
      ]
      .compactMap { $0 }.min()
      step.next = due.map { max(0, $0 - transaction.now) }
      let isAsked = try transaction.facts.value(.fetchAll) != nil
      let hasToken = try transaction.hasToken()
      step.isFetchAllDue = isAsked && hasToken
      return step
    }
  }

  private func submit(
    _ batch: SentBatch,
    to session: CloudSyncSession,
    _ generation: Int
  ) throws(SyncEngineError) {
    let operation = ModifyOperation(records: batch.records(in: zoneID))
    let id: OperationID
    do throws(RecordRuleViolation) { id = try session.modify(operation) } catch {
      return try setAside(error, in: batch, generation)
    }
    state.withLock { $0.inFlight[Int64(id.number)] = batch }
  }

  /// Has a record wait that breaks a rule of the cloud's, so that the others are sent.
  private func setAside(
    _ violation: RecordRuleViolation,
    in batch: SentBatch,
    _ generation: Int
  ) throws(SyncEngineError) {
    try transaction(generation) { (transaction) throws(SQLiteError) in
      let isMeant = { (record: Record) in
        ["\(record.recordID)", "\(record.recordType) \(record.recordID)"]
          .contains(violation.subject)
      }
      for row in batch.rows where isMeant(row.record) {
        let event = RecordEvent.refused(
          .invalidRecord,
          reason: violation.description,
          isPassing: false,
          wait: nil,
          now: transaction.now
        )
        transaction.counts.parked += 1
        try transaction.reduce(event, row.key, in: row.table)
      }
      for record in batch.foreign where isMeant(record) {
        try ForeignRecords(connection: transaction.connection)
          .noteSent(named: record.recordID.name, error: violation.description)
      }
    }
  }

  /// The zone's record, if a fetch has told that there is none; nil if there is, or nobody knows.
  private static func missingZone(
    _ facts: Facts,
    _ number: Int64
  ) throws(SQLiteError) -> ZoneRecord? {
    guard try facts.value(.zone) == nil else { return nil }
    if try facts.value(.erases) != nil { return ZoneRecord(incarnation: number, erases: true) }
    guard try facts.value(.token) != nil, try facts.value(.fullFetch) == nil else { return nil }
    return ZoneRecord(incarnation: number, erases: false)
  }

  /// Compares rows of a table with what is known of them, when everything was fetched that tells of its rows;
  /// returns whether there is more to compare.
  private static func reconcile(
    _ transaction: inout SyncTransaction
  ) throws(SQLiteError) -> Bool {
    let facts = transaction.facts
    guard try facts.value(.unreconciled) != nil, try facts.value(.token) != nil,
      try facts.value(.fullFetch) == nil, try facts.value(.fetchAll) == nil
    else { return false }
    let reconciliation = Reconciliation(connection: transaction.connection)
    let goesOn = try reconciliation.step(&transaction, limit: reconciled)
    try transaction.finish()
    return goesOn
  }

  /// Begins a fetch of everything if one is asked for.
  func fetchAllIfDue(_ generation: Int) throws(SyncEngineError) {
    guard let (session, present) = running, present == generation,
      state.withLock({ $0.fetches == 0 })
    else { return }
    let isDue = try transaction(generation) { (transaction) throws(SQLiteError) in
      let isAsked = try transaction.facts.value(.fetchAll) != nil
      let hasToken = try transaction.hasToken()
      return isAsked && hasToken
    }
    if isDue { fetch(FetchOperation(startingOver: true), session, generation) }
  }

  // MARK: Answers

  /// Takes what became of an operation.
  func complete(
    _ number: Int64,
    _ response: ModifyOperation.Response,
    _ generation: Int
  ) throws(SyncEngineError) {
    let batch = state.withLock { $0.inFlight[number] } ?? SentBatch()
    try transaction(generation) { (transaction) throws(SQLiteError) in
      transaction.sentZone = batch.zone
      try transaction.take(response, to: batch.rows)
      // Only when the zone is known to have a record the erasure is told.
      let known = try transaction.facts.value(.zone)
      if batch.zone != nil, known != nil { try transaction.facts.set(.erases, nil) }
    }
    let hasMissing = response.failures.contains { $0.error.code == .unknownItem }
    let isZoneRefused =
      batch.zone != nil
      && response.failures.contains { $0.error.code != .awaitsAppEdit }
    let isFetchDue = state.withLock { state in
      state.inFlight[number] = nil
      if response.hasSaves { state.zoneLosses = 0 }
      if isZoneRefused { state.isZoneRecordRefused = true }
      // What a fetch tells that is under way may be older than the answer.
      if hasMissing, state.fetches > 0 { state.awaitsNextFetch = true }
      defer { state.isFetchDue = false }
      return state.isFetchDue && (hasMissing || state.fetches == 0)
    }
    if isFetchDue { fetchChanges() }
    sendChanges()
  }

  // MARK: Pages

  /// Takes a page: its rows and its token are stored together.
  func apply(_ page: FetchOperation.Response, _ generation: Int) throws(SyncEngineError) {
    let awaitsNext = state.withLock { $0.awaitsNextFetch }
    try transaction(generation) { (transaction) throws(SQLiteError) in
      try transaction.take(page, isEndHeard: !awaitsNext)
    }
    state.withLock { state in
      state.zoneLosses = 0
      state.isFetchDue = false
      if page.isLast {
        state.awaitsNextFetch = false
        state.isZoneRecordRefused = false
      }
    }
    session?.acknowledge(page.page, .stored)
    sendChanges()
  }
}

extension ModifyOperation.Response {
  /// Whether the cloud has any record of the operation.
  fileprivate var hasSaves: Bool { !savedRecords.isEmpty || !alreadyInCloud.isEmpty }
}
