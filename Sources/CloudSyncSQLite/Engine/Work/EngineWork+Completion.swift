import CloudSyncCore
import CloudSyncSQLiteSupport

extension EngineWork {
  /// Takes what became of an operation; returns the parked records that need not be sent any more.
  ///
  /// The batch has its rows as they were sent, if that was in this run.
  func complete(
    _ operation: ModifyOperation,
    _ response: ModifyOperation.Response,
    _ batch: SendBatch? = nil
  ) throws(SQLiteError) -> [RecordID] {
    let number = Int64(operation.id.number)
    var sent: [String: Record] = [:]
    for record in operation.records { sent[record.recordID.name] = record }
    var told = try news(of: number, sent, response.savedRecords)
    try overtaken(response, sent, of: number, &told)
    let rows = batch?.rowsByName ?? [:]
    for record in response.savedRecords {
      let name = record.recordID.name
      let place = told.firstIndex { $0.isDeletion && $0.recordID == record.recordID }
      if place == nil, let row = rows[name], let edit = sent[name],
        try store.settle(row, as: row.acknowledged(record, edit), of: number)
      {
        tally.counts.sent += 1
        continue
      }
      guard let row = try row(named: name) else {
        try store.strangerIsSaved(record)
        continue
      }
      // It is announced again after a crash.
      guard row.operation == number else { continue }
      try saved(record, row, sent[record.recordID.name], isOwn: true)
      if let place {
        told.remove(at: place)
        try doubt(record.recordID)
      }
    }
    // One that was deleted and is there again, a page has told of.
    let deletions = (response.deletedRecordIDs + response.alreadyInCloud.map(\.recordID))
      .filter { sent[$0.name] == nil }
    for recordID in deletions {
      guard let row = try row(named: recordID.name), row.operation == number else { continue }
      try deleted(row, &told)
    }
    let done = try failed(response.failures, of: number)
    // Whatever the answer does not name is looked at again.
    try release(number)
    try applyLater(told, Set(deletions.map(\.name)))
    try removeArrivedAssets()
    return done
  }

  /// Edits are in the cloud, and so is what came after them there: a record's later state, or its
  /// deletion.
  private func overtaken(
    _ response: ModifyOperation.Response,
    _ sent: [String: Record],
    of number: Int64,
    _ told: inout [Record]
  ) throws(SQLiteError) {
    for record in response.alreadyInCloud {
      guard let edit = sent[record.recordID.name] else { continue }
      told.removeAll { $0.recordID == record.recordID }
      told.append(record)
      guard let row = try row(named: record.recordID.name) else {
        try store.strangerIsSaved(record)
        continue
      }
      if row.operation == number { try saved(edit, row, edit, isOwn: true) }
    }
    for recordID in response.deletedRecordIDs {
      guard let edit = sent[recordID.name],
        told.contains(where: { $0.isDeletion && $0.recordID == recordID }),
        let row = try row(named: recordID.name), row.operation == number
      else { continue }
      try saved(edit, row, edit, isOwn: true)
    }
  }

  /// An operation's records were refused; returns those that the session can forget.
  private func failed(
    _ failures: [ItemFailure],
    of number: Int64
  ) throws(SQLiteError) -> [RecordID] {
    var done: [RecordID] = []
    for failure in failures {
      guard var row = try row(named: failure.recordID.name) else {
        if try strangerFailed(failure.recordID, failure.error) { done.append(failure.recordID) }
        continue
      }
      guard row.operation == number else {
        // What a later operation of the same record has come to is not to be forgotten.
        let isSettled = failure.error.isSettledByMerging && row.operation == nil
        if isSettled, row.errorCode == nil { done.append(failure.recordID) }
        continue
      }
      row.operation = nil
      if try failed(row, failure.error) { done.append(failure.recordID) }
    }
    return done
  }

  /// An edit is in the cloud.
  private func saved(
    _ record: Record,
    _ row: RowState,
    _ sent: Record?,
    isOwn: Bool
  ) throws(SQLiteError) {
    var row = row
    if isOwn { row.operation = nil }
    if row.isHeld, row.payload != nil { return try savedWaiting(row, record) }
    let known = row.isOfOtherRecord(than: record) ? row.server?.rowVersion : nil
    if known != nil { row.server = nil }
    row.server = row.acknowledged(record, sent)
    row.sentPage = nil
    row.void = nil
    if let version = (sent ?? record).rowVersion {
      row.acknowledge(version.columns.map { ($0.name, $0.time) })
      if let created = row.createdAt, created <= version.createdAt ?? .zero { row.createdAt = nil }
      if let deleted = row.deletedAt, deleted <= version.deletedAt ?? .zero { row.deletedAt = nil }
      if row.edits.isEmpty, row.createdAt == nil, row.deletedAt == nil { row.settle() }
    }
    if let known, let version = row.server?.rowVersion { row.complete(version, with: known) }
    row.errorCode = nil
    row.error = nil
    tally.counts.sent += 1
    if row.waitsFor == RowState.endOfFetch || row.waitsFor == RowState.nextFetch {
      row.waitsFor = nil
    }
    row.former = nil
    try store.save(row)
  }

  /// A deletion is in the cloud.
  func deleted(_ row: RowState, isOwn: Bool) throws(SQLiteError) {
    var row = row
    if isOwn { row.operation = nil }
    row.errorCode = nil
    row.error = nil
    tally.counts.sent += 1
    if !row.isDeleted, row.edits.isEmpty {
      // A page has brought it back meanwhile, and the deletion has taken that away too.
      try takeDeletion(of: row)
      return try store.setApplying(nil)
    }
    row.server = nil
    row.void = nil
    // It may have been made anew here meanwhile.
    if row.edits.isEmpty { return try store.remove(row) }
    try store.save(row)
  }

  /// An edit was set aside; returns whether the session can forget it.
  ///
  /// What is left of an edit after a merge is submitted anew.
  private func failed(_ row: RowState, _ error: SyncError) throws(SQLiteError) -> Bool {
    var row = row
    // Whatever was wrong before, this is what is wrong now.
    row.errorCode = nil
    row.error = nil
    try keep(row)
    // A page that has told of it since knows more than the answer.
    let isOld = row.page ?? 0 > row.sentPage ?? 0
    switch error.code {
    case .awaitsAppEdit:
      if !isOld, let server = error.serverRecord, let one = try incoming(server) {
        try apply([one])
        try store.setApplying(nil)
      }
      return true
    case .unknownItem:
      // What is void was sent with a tag that only the session knew, and has forgotten now.
      if isOld || row.isVoid { return true }
      if row.isDeleted {
        // Deleted here as well: then there is nothing left to do.
        try store.remove(row)
      } else if row.shelf != nil {
        try takeDeletion(of: row)
        try store.setApplying(nil)
      } else {
        // It was deleted, or its zone is another one: the next fetch tells.
        row.waitsFor = RowState.nextFetch
        try store.save(row)
      }
      return true
    default:
      row.errorCode = Int64(error.code.rawValue)
      row.error = error.description
      tally.counts.parked += 1
      if row.isVoid, row.void != RowState.doubtful { row.void = 1 }
      try store.save(row)
      return false
    }
  }

  /// Takes what became of a record that the session had set aside; returns whether the session can
  /// forget it.
  func take(_ change: ParkedChange) throws(SQLiteError) -> Bool {
    guard let row = try row(named: change.recordID.name) else { return try takeStranger(change) }
    switch change {
    case .saved(let record), .alreadyInCloud(let record):
      try saved(record, row, nil, isOwn: false)
    case .deleted: try deleted(row, isOwn: false)
    case .refused(_, let error): return try failed(row, error)
    case .dropped: break
    }
    return false
  }
}

extension ModifyOperation.Response {
  /// Whether the cloud has any record of the operation.
  var hasSaves: Bool { !savedRecords.isEmpty || !alreadyInCloud.isEmpty }
}

extension SyncError {
  /// Whether the session can forget a record that it has set aside over this.
  fileprivate var isSettledByMerging: Bool { code == .awaitsAppEdit || code == .unknownItem }
}

extension SyncState {
  /// The numbers of the operations whose ends are not known to have been announced.
  var endedOperations: [Int64] {
    var numbers: [Int64] = []
    for number in notifications.first..<notifications.end {
      switch notifications[number] {
      case .modifyCompleted(let operation, _), .modifyFailed(let operation, _, _):
        numbers.append(Int64(operation.id.number))
      case .fetchPage, .fetchFailed, .parked: break
      }
    }
    return numbers
  }
}

extension RowState {
  /// Has those columns sent that are newer here than in a record which was made anew by an old edit.
  fileprivate mutating func complete(_ version: RowVersion, with known: RowVersion) {
    for column in known.columns where editTime(of: column.name) == nil {
      if let sent = version[column.name], sent.time >= column.time { continue }
      edits.append(Edit(column: column.name, time: column.time))
    }
    if edits.isEmpty { return }
    edits.sort { ($0.column ?? "") < ($1.column ?? "") }
    dirty = dirty ?? 0
  }

  /// The record as the cloud has it after an edit was saved.
  fileprivate func acknowledged(_ saved: Record, _ sent: Record?) -> Record {
    let edited = sent.map { isVoid ? $0 : server?.applying($0) ?? $0 } ?? server
    return (edited?.applying(saved) ?? saved).withChangeTag(saved.changeTag)
  }
}
