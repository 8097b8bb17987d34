import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A page of changes that has come from the cloud.
struct FetchedPage: Sendable {
  let response: FetchOperation.Response
  /// How many answers had said that the cloud lacks a record when the fetch was asked for; nil if nobody knows.
  let absencesBefore: Int64?

  /// Whether it tells which zone the rows are of, so that it has to be heard before them.
  fileprivate var tellsZone: Bool {
    response.isBeginning || response.changedRecords.contains { ZoneRecord.isName($0.recordID.name) }
  }
}

/// Takes what fetches have told, page by page.
struct PageApplier: TransactionPart {
  let transaction: SyncTransaction

  private var zone: FetchOfEverything { FetchOfEverything(transaction: transaction) }

  /// Takes pages of changes that have come one after the other, with the token of where the next one begins.
  ///
  /// Another engine on the same database, in this process or another one, fetches for itself. A page counts only if it begins
  /// a fetch or continues where the stored pages end: what another one tells is older than what is stored, or comes again.
  func take(_ pages: [FetchedPage]) throws(SQLiteError) {
    var open: [FetchOperation.Response] = []
    for page in pages {
      let response = page.response
      // It has told that the cloud has lost nothing; what it has, a fetch of everything tells, before which nothing is
      // sure of rows whose tables have changed.
      if !response.isBeginning, try transaction.isFetchAllAsked(),
        try transaction.isFetchingAll() == false
      {
        continue
      }
      if page.tellsZone {
        try takeRows(of: open)
        open = []
      }
      if open.isEmpty, try continuesStoredToken(at: response) == false {
        if response.isLast { try fetchFromStoredToken() }
        continue
      }
      if open.isEmpty, !response.isBeginning { try zone.confirmZone() }
      if page.tellsZone {
        if response.isBeginning { try zone.beginFullFetch() }
        for record in response.changedRecords where ZoneRecord.isName(record.recordID.name) {
          try transaction.cloud.take(record)
        }
      }
      open.append(response)
      guard response.isLast else { continue }
      try takeRows(of: open)
      open = []
      try takeEnd(of: page)
    }
    try takeRows(of: open)
  }

  /// Whether a page begins a fetch, or continues where the stored pages end.
  private func continuesStoredToken(
    at page: FetchOperation.Response
  ) throws(SQLiteError) -> Bool {
    if page.isBeginning { return true }
    guard let token = page.previousToken else { return false }
    return try facts.token() == token
  }

  /// Has a fetch follow that continues where the stored pages end.
  private func fetchFromStoredToken() throws(SQLiteError) {
    let token = try facts.token()
    transaction.nextFetch = FetchOperation(changeToken: token, startingOver: token == nil)
  }

  /// Takes what the last page of a fetch says by its being the last one.
  private func takeEnd(of page: FetchedPage) throws(SQLiteError) {
    transaction.isFetchComplete = true
    // One that began before a restart has gone on from its last page. It says nothing of tables that an engine has taken up
    // since: another one is asked for then, and follows.
    if try transaction.isFetchingAll(), try facts.value(.fetchAll) == nil {
      try zone.endFullFetch()
    }
    if try page.absencesBefore == transaction.absences() {
      try transaction.cloud.takeEndOfFetch()
    } else if transaction.nextFetch == nil,
      try stored.pending.awaitingFetch().isEmpty == false
    {
      transaction.nextFetch = FetchOperation()
    }
  }

  /// Takes what pages tell of rows, and the token of the last one.
  private func takeRows(of pages: [FetchOperation.Response]) throws(SQLiteError) {
    guard let last = pages.last else { return }
    let isStored = try PlainRows(transaction: transaction).takePlainRows(of: pages)
    let others = zip(pages.lazy.map(\.changedRecords).joined(), isStored).filter { !$1 }
    try MovedRows(transaction: transaction).leaveOverriddenKeys(in: others.map(\.0))
    var number = 0
    for page in pages {
      for record in page.changedRecords {
        defer { number += 1 }
        transaction.noteDate(of: record)
        if ZoneRecord.isName(record.recordID.name) { continue }
        if isStored[number] { continue }
        if try transaction.cloud.take(record) { transaction.counts.received += 1 }
      }
      try takeAbsences(of: page)
    }
    for page in pages {
      try settleUnfetched(page)
      for failure in page.failures { try keepUnfetched(failure) }
    }
    try facts.set(.token, to: last.changeToken.map { .blob([UInt8]($0.bytes)) })
  }

  private func takeAbsences(of page: FetchOperation.Response) throws(SQLiteError) {
    for recordID in page.deletedRecordIDs where try transaction.cloud.takeAbsence(of: recordID) {
      transaction.counts.received += 1
    }
  }

  /// Takes the answer to look-ups of records that pages could not bring.
  ///
  /// It counts for a record of which nothing was told since it was asked for: another engine on the same database may have
  /// stored what is newer. That there is no record says nothing where the zone is another one than what is known is of, or
  /// may be: a fetch tells that, and what becomes of the rows.
  func take(_ page: FetchOperation.Response, of lookups: [LookUp]) throws(SQLiteError) {
    let isOfKnownZone = try isOfKnownZone(page)
    let deleted = page.deletedRecordIDs
    for lookUp in lookups where try isOpen(lookUp) {
      let isSame = { (recordID: RecordID) in UTF8Bytes.equal(recordID.name, lookUp.name) }
      let failure = page.failures.first { isSame($0.recordID) }
      if let record = page.changedRecords.first(where: { isSame($0.recordID) }) {
        if try transaction.cloud.take(record) { transaction.counts.received += 1 }
        // Whether the file is there now shows when the row is written.
        if try lacksFile(lookUp.name) { continue }
      } else if deleted.contains(where: isSame) || failure?.error.code == .unknownItem {
        guard isOfKnownZone else { continue }
        if try transaction.cloud.takeAbsence(of: lookUp) { transaction.counts.received += 1 }
      } else {
        if let failure { try keepUnfetched(failure) }
        continue
      }
      try stored.unfetched.remove(named: lookUp.name)
    }
  }

  private func lacksFile(_ name: String) throws(SQLiteError) -> Bool {
    guard let (place, key) = try transaction.place(ofRecord: name) else { return false }
    return try row(key, in: place).state.placement.lacksFile
  }

  /// Whether nothing was told of a record since it was asked for.
  private func isOpen(_ lookUp: LookUp) throws(SQLiteError) -> Bool {
    guard try stored.unfetched.hasRecord(named: lookUp.name) else { return false }
    return try UTF8Bytes.equal(transaction.knownTag(ofRecord: lookUp.name), lookUp.tag)
  }

  /// Whether a look-up shows the zone that is known, or nobody has told of any.
  private func isOfKnownZone(_ page: FetchOperation.Response) throws(SQLiteError) -> Bool {
    guard let known = try facts.integer(.zone) else { return true }
    return page.changedRecords.contains { ZoneRecord($0)?.incarnation == known }
  }

  /// Notes a record that the cloud has and could not give: it is there, so nothing of it goes here.
  private func keepUnfetched(_ failure: ItemFailure) throws(SQLiteError) {
    let name = failure.recordID.name
    try stored.unfetched.keep(named: name, because: "\(failure.error)", at: now)
    guard let (place, key) = try transaction.place(ofRecord: name) else { return }
    try transaction.cloud.note(seen: key, in: place)
  }

  private func settleUnfetched(_ page: FetchOperation.Response) throws(SQLiteError) {
    let unfetched = stored.unfetched
    if try unfetched.isEmpty() { return }
    for record in page.changedRecords { try unfetched.remove(named: record.recordID.name) }
    for recordID in page.deletedRecordIDs { try unfetched.remove(named: recordID.name) }
  }
}
