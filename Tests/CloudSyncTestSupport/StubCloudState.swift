#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

import CloudSyncCore

/// What a stub cloud holds: the records of its zone, the feed of changes, and what it was asked.
struct StubCloudState: Sendable {
  /// A record and the number of its last change.
  struct Stored: Sendable {
    var record: Record
    var change: Int
  }

  /// An answer that is remembered for a repeat of its write token.
  private struct Answered: Sendable {
    var token: WriteToken
    var records: [Record]
    var deletions: [RecordID]
    var result: Result<ModifyOperation.Response, SyncError>
  }

  var options: StubCloud.Options
  var hasZone: Bool
  var zoneError = SyncError(.zoneNotFound)
  /// By name; looked into, never iterated.
  var stored: [String: Stored] = [:]
  var changes: [StubCloud.Change] = []
  /// Changes before this one belong to a zone that is gone.
  private var firstChange = 0
  /// Tokens carry it; another one makes them void.
  var generation = 0
  var calls: [StubCloud.Call] = []
  var cancelled: [Attempt] = []
  var violations: [String] = []
  private var outstanding: [Attempt] = []
  private var answered: [Answered] = []

  init(_ options: StubCloud.Options) {
    self.options = options
    hasZone = options.hasZone
  }

  /// The records, sorted by name.
  var allRecords: [Record] {
    stored.values.map(\.record).sorted { $0.recordID < $1.recordID }
  }

  // MARK: Calls

  /// Notes a call and gives its number.
  mutating func begin(_ call: StubCloud.Call) -> Int {
    let attempt = call.context.attempt
    if let other = outstanding.first(where: { $0.epoch == attempt.epoch }) {
      violations.append("\(attempt) was sent while \(other) was in flight")
    }
    if calls.contains(where: { $0.context.attempt == attempt }) {
      violations.append("\(attempt) was sent twice")
    }
    outstanding.append(attempt)
    calls.append(call)
    return calls.count - 1
  }

  /// Notes that nobody waits for a call any more.
  mutating func end(_ attempt: Attempt) { outstanding.removeAll { $0 == attempt } }

  mutating func createZone() -> Result<Bool, SyncError> {
    hasZone = true
    return .success(true)
  }

  mutating func loseZone(_ error: SyncError) {
    hasZone = false
    zoneError = error
    stored = [:]
    firstChange = changes.count
    generation += 1
  }

  // MARK: Modifications

  mutating func modify(
    _ operation: ModifyOperation,
    _ token: WriteToken
  ) -> Result<ModifyOperation.Response, SyncError> {
    checkRequest(operation)
    if let known = answered.first(where: { $0.token == token }) {
      if known.records != operation.records || known.deletions != operation.recordIDsToDelete {
        violations.append("the write token \(token) came with another request")
      } else if options.knowsWriteTokens {
        return known.result
      }
    }
    guard hasZone else { return .failure(zoneError) }
    if operation.itemCount > options.itemLimit ?? options.limits.items {
      return .failure(SyncError(.limitExceeded))
    }
    let result = carryOut(operation)
    answered.append(
      Answered(
        token: token,
        records: operation.records,
        deletions: operation.recordIDsToDelete,
        result: result
      )
    )
    return result
  }

  private mutating func checkRequest(_ operation: ModifyOperation) {
    if operation.itemCount == 0 { violations.append("a request is empty") }
    if operation.itemCount > options.limits.items {
      violations.append("a request has \(operation.itemCount) items")
    }
    let ids = operation.records.map(\.recordID) + operation.recordIDsToDelete
    if Set(ids).count != ids.count { violations.append("a request has a record twice") }
  }

  private mutating func carryOut(
    _ operation: ModifyOperation
  ) -> Result<ModifyOperation.Response, SyncError> {
    var response = ModifyOperation.Response()
    let saves = operation.records.map { ($0.recordID, Optional($0)) }
    let items = saves + operation.recordIDsToDelete.map { ($0, nil) }
    let errors = items.map { refusal($0.0, $0.1) }
    let isRefused = options.isAtomic && errors.contains { $0 != nil }
    for ((recordID, edit), error) in zip(items, errors) {
      if let error {
        response.failures.append(ItemFailure(recordID, error))
      } else if isRefused {
        response.failures.append(ItemFailure(recordID, SyncError(.batchRequestFailed)))
      } else if let edit {
        response.savedRecords.append(store(edit))
      } else {
        remove(recordID)
        response.deletedRecordIDs.append(recordID)
      }
    }
    let isNothingDone = response.savedRecords.isEmpty && response.deletedRecordIDs.isEmpty
    if options.failsAsError, isNothingDone, !response.failures.isEmpty {
      return .failure(SyncError(.partialFailure, itemErrors: response.failures))
    }
    return .success(response)
  }

  /// Why an item cannot be stored.
  private func refusal(_ recordID: RecordID, _ edit: Record?) -> SyncError? {
    if let error = options.refuse(recordID, edit) { return error }
    let present = stored[recordID.name]?.record
    guard let edit else {
      return present == nil && options.refusesMissingDeletions ? SyncError(.unknownItem) : nil
    }
    guard options.checksChangeTags else { return nil }
    if let present {
      if present.changeTag == edit.changeTag { return nil }
      return SyncError(.serverRecordChanged, clientRecord: edit, serverRecord: present)
    }
    return edit.changeTag == nil ? nil : SyncError(.unknownItem)
  }

  /// Merges an edit into the record, or makes a new one, with the next change tag.
  @discardableResult
  mutating func store(_ edit: Record) -> Record {
    changes.append(StubCloud.Change(recordID: edit.recordID, edit: edit))
    let blank = Record(recordType: edit.recordType, recordID: edit.recordID)
    let before = stored[edit.recordID.name]?.record ?? blank
    let record = before.applying(edit).withChangeTag("t\(changes.count)")
    stored[edit.recordID.name] = Stored(record: record, change: changes.count)
    return record
  }

  mutating func remove(_ recordID: RecordID) {
    changes.append(StubCloud.Change(recordID: recordID, edit: nil))
    stored[recordID.name] = nil
  }

  // MARK: Fetches

  func fetch(_ operation: FetchOperation) -> Result<FetchOperation.Response, SyncError> {
    guard hasZone else { return .failure(zoneError) }
    if !operation.recordIDs.isEmpty { return .success(lookUp(operation.recordIDs)) }
    guard let start = start(of: operation.changeToken) else {
      return .failure(SyncError(.changeTokenExpired))
    }
    var response = FetchOperation.Response(changeToken: nil)
    var position = start
    var count = 0
    while position < changes.count, count < options.pageSize {
      let recordID = changes[position].recordID
      position += 1
      // Only the last change of a record counts.
      if changes[position...].contains(where: { $0.recordID == recordID }) { continue }
      count += 1
      if let record = stored[recordID.name]?.record {
        response.changedRecords.append(record)
      } else {
        response.deletedRecords.append(DeletedRecord(recordID: recordID))
      }
    }
    response.changeToken = ChangeToken(text: "\(generation).\(position)")
    response.hasMore = position < changes.count
    return .success(response)
  }

  private func lookUp(_ recordIDs: [RecordID]) -> FetchOperation.Response {
    var response = FetchOperation.Response(changeToken: nil)
    for recordID in recordIDs {
      if let record = stored[recordID.name]?.record {
        response.changedRecords.append(record)
      } else {
        response.failures.append(ItemFailure(recordID, SyncError(.unknownItem)))
      }
    }
    return response
  }

  /// Where a fetch begins; nil if its token is void.
  private func start(of token: ChangeToken?) -> Int? {
    guard let token else { return firstChange }
    let parts = String(decoding: token.bytes, as: UTF8.self).split(separator: ".").map { Int($0) }
    guard parts.count == 2, parts[0] == generation, let position = parts[1] else { return nil }
    return min(position, changes.count)
  }
}
