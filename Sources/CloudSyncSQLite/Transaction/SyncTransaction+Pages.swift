import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SyncTransaction {
  /// Takes a page of changes, with the token of where the next one begins.
  ///
  /// - Parameters:
  ///   - page: The page.
  ///   - isEndHeard: Whether the end of the fetch tells of records that the cloud said not to have.
  /// - Throws: SQLite's reason.
  mutating func take(_ page: FetchOperation.Response, isEndHeard: Bool) throws(SQLiteError) {
    if page.isBeginning { try beginFullFetch() }
    // It tells which zone the others are of.
    for record in page.changedRecords where ZoneRecord.isName(record.recordID.name) {
      try take(record)
    }
    for record in page.changedRecords where !ZoneRecord.isName(record.recordID.name) {
      try take(record)
      counts.received += 1
    }
    for recordID in page.deletedRecordIDs { try takeAbsence(of: recordID) }
    counts.received += page.deletedRecords.count
    try facts.set(.token, page.changeToken.map { .blob([UInt8]($0.bytes)) })
    guard page.isLast else { return }
    // One that began before a restart has gone on from its last page.
    if try isFetchingAll() { try endFullFetch() }
    if isEndHeard { try takeEndOfFetch() }
    isFetchComplete = true
  }
}
