import CloudSyncCore
import CloudSyncSQLiteSupport

/// What pages tell of rows that are on their way.
///
/// Whether that was before the cloud took the edit or after, only the answer says. Until then it is kept
/// as the row's payload.
extension EngineWork {
  /// What pages told of an operation's records while it was on its way, and still is news.
  func news(
    of number: Int64,
    _ sent: [String: Record],
    _ saved: [Record]
  ) throws(SQLiteError) -> [Record] {
    var answers: [String: Record] = [:]
    for record in saved { answers[record.recordID.name] = record }
    var told: [Record] = []
    for record in try store.takePayloads(of: number) {
      let name = record.recordID.name
      // What the cloud had before it took the edit is none any more.
      if let answer = answers[name], let edit = sent[name]?.rowVersion,
        record.isOlder(than: edit, of: try row(named: name)?.server, answer)
      {
        continue
      }
      told.append(record)
    }
    return told
  }

  /// An operation has deleted a row's record, of which pages may have told meanwhile.
  func deleted(_ row: RowState, _ told: inout [Record]) throws(SQLiteError) {
    let created = row.server?.rowVersion?.createdAt
    // Who has made it again since then has made another one.
    let isSame = { (record: Record) in
      record.recordID.name == row.recordName && record.rowVersion?.createdAt == created
    }
    if row.isDeleted, let same = told.first(where: { isSame($0) && !$0.isDeletion }) {
      try deleteAgain(row, same)
    } else {
      try deleted(row, isOwn: true)
    }
    told.removeAll(where: isSame)
  }

  /// Has a row deleted once more of which a page has told while its deletion was on its way.
  ///
  /// That was before the deletion, or somebody has sent the same row since then.
  func deleteAgain(_ row: RowState, _ record: Record) throws(SQLiteError) {
    var row = row
    row.operation = nil
    row.server = record
    row.sentPage = nil
    try store.save(row)
  }

  /// Has a record sent once more that was saved and of which a page has said that it is deleted.
  ///
  /// It was deleted before, and the save has made it again, or after: then the answer says so.
  func doubt(_ recordID: RecordID) throws(SQLiteError) {
    // An edit that is left gets such an answer anyway; a mere note of the row's life does not.
    guard var row = try row(named: recordID.name), row.edits.isEmpty, !row.isDeleted,
      let column = row.server?.rowVersion?.columns.first
    else { return }
    row.edits = [RowState.Edit(column: column.name, time: column.time)]
    row.dirty = 0
    try store.save(row)
  }

  /// Applies what pages told of rows while they were on their way.
  ///
  /// It is not known of those that are doubtful whether the cloud still has them: a deletion that was on
  /// its way may have come after them, and have taken them away.
  func applyLater(
    _ records: [Record],
    _ doubtful: Set<String> = []
  ) throws(SQLiteError) {
    var told: [Incoming] = []
    for record in records {
      if record.isDeletion {
        if let row = try row(named: record.recordID.name) { try takeDeletion(of: row) }
      } else if let one = try incoming(record) {
        if doubtful.contains(record.recordID.name) { one.void = RowState.doubtful }
        told.append(one)
      }
    }
    try apply(told)
    try store.setApplying(nil)
  }
}

extension Record {
  /// Whether the cloud had this before it has saved an edit of a record, with this answer.
  fileprivate func isOlder(than edit: RowVersion, of base: Record?, _ answer: Record) -> Bool {
    if let created = creationDate, let known = answer.creationDate, created != known {
      return created < known
    }
    guard let version = rowVersion else { return false }
    // In a record neither rows nor, in a row, the times of columns are followed by older ones.
    let (life, known) = (version.createdAt, edit.createdAt ?? base?.rowVersion?.createdAt)
    if life != known { return life ?? .zero < known ?? .zero }
    return edit.columns.contains { $0.time > version[$0.name]?.time ?? .zero }
  }

  /// What is kept of a row's deletion that a page has told of, until the answer to an edit comes.
  static func deleted(_ recordID: RecordID, in table: SyncTable) -> Record {
    Record(recordType: table.layout.recordType, recordID: recordID)
  }

  /// Whether it is no record, but tells of a deletion.
  var isDeletion: Bool { self[RecordLayout.timeField] == nil }
}
