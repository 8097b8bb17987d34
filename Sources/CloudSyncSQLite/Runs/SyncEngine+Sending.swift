import CloudSyncCore
import CloudSyncSQLiteSupport

extension SyncEngine {
  /// How many rows are counted that wait to be sent; of more it is only known that they are more.
  private static let counted: Int64 = 5_000

  /// What one look at the database has found to do.
  private struct FeedStep: Sendable {
    var batch = SentBatch()
    /// Whether as much is on its way as may be, or a fetch has to come first, so that no more was looked for.
    var isFull = false
    /// How many rows wait to be sent, those that are on their way among them.
    var pending = 0
    /// Whether there is more to compare, and how far that has come.
    var comparesMore = false
    var comparedTo: Reconciliation.Position?
    /// Whether something is to be sent that the next look finds.
    var goesOn = false
    var isFetchAllDue = false
    /// Records that pages could not bring, to be looked up now.
    var unfetched: [RecordID] = []
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
        if state.generation == generation, !step.isFull { state.comparedTo = step.comparedTo }
      }
      if !step.batch.isEmpty {
        try submit(step.batch, to: session, generation)
        continue
      }
      if step.comparesMore || step.goesOn { continue }
      if !step.unfetched.isEmpty {
        fetch(FetchOperation(lookingUp: step.unfetched), session, generation)
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
    let (isFull, mayMakeZone, start) = state.withLock { state in
      let isFull = state.recordsInFlight >= 2 * limits.items || !state.backlog.isEmpty
      let mayMakeZone =
        !state.isZoneRecordRefused && !state.inFlight.values.contains { $0.zone != nil }
      let cursor = UploadCursor(
        zoneID: zoneID,
        limits: limits,
        inFlight: state.inFlight.values,
        position: state.comparedTo
      )
      return (isFull, mayMakeZone, cursor)
    }
    let number = Int64(bitPattern: environment.nonce())
    return try transaction(generation) { [zoneID] (transaction) throws(SQLiteError) in
      var step = FeedStep()
      step.batch.zoneChanges = try transaction.zoneChanges()
      // What was captured may have others to be written first.
      try transaction.finish()
      let pending = transaction.stored.pending
      let foreign = transaction.stored.foreign
      let fetchesFirst = try Self.fetchesFirst(transaction.facts)
      step.isFull = isFull || fetchesFirst
      step.pending = Int(try pending.dirtyCount(upTo: Self.counted))
      if step.isFull { return step }
      if try transaction.facts.value(.erases) != nil {
        // Nobody may upload again what was erased on purpose: this comes before anything else.
        if mayMakeZone { step.batch.zone = try Self.missingZone(transaction.facts, number) }
        return step
      }
      var cursor = start
      step.batch.rows = try BatchBuilder(transaction: transaction, zoneID: zoneID)
        .batch(limits: limits, now: transaction.now) { cursor.onTheirWay.contains($0) }
      if step.batch.count < limits.items {
        step.comparesMore = try cursor.fill(&step.batch, in: transaction)
      }
      step.comparedTo = cursor.position
      if cursor.isUploading { step.pending = max(step.pending, Int(Self.counted)) }
      if !step.batch.isEmpty || step.comparesMore { return step }
      step.batch.foreign =
        try foreign.unsent(limit: limits.items, at: transaction.now, but: cursor.onTheirWay)
      if step.batch.isEmpty {
        (step.batch.removals, step.goesOn) =
          try RecordRemoval(transaction: transaction)
          .begin(limit: limits.items, isOnItsWay: cursor.onTheirWay)
      }
      if step.batch.isEmpty, mayMakeZone {
        step.batch.zone = try Self.missingZone(transaction.facts, number)
      }
      let unfetched = transaction.stored.unfetched
      step.unfetched = try unfetched.takeDue(limit: min(limits.items, 100), at: transaction.now)
        .map { RecordID(name: $0, zoneID: zoneID) }
      let ids = transaction.tables.inOrder.map(\.id)
      let due = [
        try pending.nextDue(in: ids, after: transaction.now),
        try foreign.nextDue(after: transaction.now),
        try unfetched.nextDue(after: transaction.now),
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
    let operation = ModifyOperation(
      records: batch.records(in: zoneID),
      recordIDsToDelete: batch.removals.map { RecordID(name: $0.key.name, zoneID: zoneID) }
    )
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
      // What was sent as it was found is pending from now on.
      let (_, found) = try FoundRows(transaction: transaction)
        .settle(batch.found, ModifyOperation.Response())
      for row in batch.rows + found where isMeant(row.record) {
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
        try transaction.stored.foreign
          .noteSent(named: record.recordID.name, error: violation.description)
      }
    }
  }

  /// Whether a fetch has to tell what the cloud has before anything is uploaded again.
  private static func fetchesFirst(_ facts: Facts) throws(SQLiteError) -> Bool {
    try facts.value(.fullFetch) == .integer(FullFetch.uploads.rawValue)
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

  // MARK: What comes

  /// Takes what became of an operation.
  func complete(_ number: Int64, _ response: ModifyOperation.Response, _ generation: Int) {
    let batch = state.withLock { $0.inFlight[number] } ?? SentBatch()
    join(.answer(number, batch, response), generation)
  }

  /// Takes a page: its rows and its token are stored together.
  func apply(_ page: FetchOperation.Response, _ generation: Int) {
    let fetched = state.withLock { state -> FetchedPage? in
      // It completes another fetch of the same run.
      if state.lastPage == page.page { return nil }
      state.lastPage = page.page
      if !state.isPageDue { state.absencesBefore = (nil, state.absencesBefore.next) }
      return FetchedPage(response: page, absencesBefore: state.absencesBefore.present)
    }
    guard let fetched else { return }
    join(.page(fetched), generation)
  }

  /// Stores records that were looked up, because no page could bring them.
  func applyLookup(
    _ page: FetchOperation.Response,
    _ generation: Int
  ) throws(SyncEngineError) {
    if case .lost? = session?.state.zoneState { return try takeLostZone(page) }
    try transaction(generation) { (transaction) throws(SQLiteError) in
      try PageApplier(transaction: transaction).takeLookup(page)
    }
    session?.acknowledge(page.page, .stored)
    sendChanges()
  }
}
