#if canImport(CloudKit)
import CloudKit
import CloudSyncCore
import Foundation

/// Fetches one page of a zone's changes, or looks records up.
struct CloudKitPageFetch: Sendable {
  private struct State: Sendable {
    var page = FetchOperation.Response(changeToken: nil)
    var systemFields: [SystemFields] = []
    /// What was said of the zone.
    var end: CloudKitFailure?
    var isTold = false
  }

  let connection: CloudKitConnection
  let call: CloudKitCall
  let answer: OnceCompletion<FetchOperation.Response>

  /// Carries a fetch out.
  func run(_ operation: FetchOperation) {
    if operation.isLookup { return lookUp(recordIDs: operation.recordIDs) }
    var token: CKServerChangeToken?
    if let bytes = operation.changeToken, !operation.startingOver {
      token = bytes.serverChangeToken
      guard token != nil else {
        let message = "the change token is none of CloudKit's"
        return answer.finish(.failure(SyncError(.changeTokenExpired, message)))
      }
    }
    let zoneID = connection.identifiers.cloudKitZoneID
    let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration(
      previousServerChangeToken: token,
      resultsLimit: connection.options.pageSize,
      desiredKeys: nil
    )
    let fetch = CKFetchRecordZoneChangesOperation(
      recordZoneIDs: [zoneID],
      configurationsByRecordZoneID: [zoneID: configuration]
    )
    fetch.fetchAllChanges = false
    let state = Locked(State())
    setBlocks(of: fetch, state: state)
    if let error = connection.send(operation: fetch, in: call) { answer.finish(.failure(error)) }
  }

  private func setBlocks(
    of fetch: CKFetchRecordZoneChangesOperation,
    state: Locked<State>
  ) {
    let records = connection.records
    let identifiers = connection.identifiers
    let errors = CloudKitErrorReader(records: records, isModification: false)
    fetch.recordWasChangedBlock = { id, result in
      let known: SystemFields?
      let read: Result<Record, SyncError>
      switch result {
      case .success(let record):
        known = records.systemFields(of: record)
        do throws(SyncError) { read = .success(try records.read(record)) } catch {
          read = .failure(error)
        }
      case .failure(let error):
        known = nil
        read = .failure(errors.read(error).error)
      }
      let recordID = identifiers.recordID(id)
      state.withLock { state in
        if let known { state.systemFields.append(known) }
        switch read {
        case .success(let record): state.page.changedRecords.append(record)
        case .failure(let error): state.page.failures.append(ItemFailure(recordID, error))
        }
      }
    }
    fetch.recordWithIDWasDeletedBlock = { id, recordType in
      let recordID = identifiers.recordID(id)
      let type = recordType.isEmpty ? nil : recordType
      state.withLock { state in
        state.page.deletedRecords.append(DeletedRecord(recordID: recordID, recordType: type))
      }
    }
    fetch.recordZoneFetchResultBlock = { _, result in
      switch result {
      case .success(let end):
        let token = ChangeToken(end.serverChangeToken)
        let hasMore = end.moreComing
        state.withLock { state in
          state.isTold = true
          state.page.changeToken = token
          state.page.hasMore = hasMore
        }
      case .failure(let error):
        let failure = errors.read(error)
        state.withLock { $0.end = failure }
      }
    }
    fetch.fetchRecordZoneChangesResultBlock = { result in
      finish(result: result, state: state.withLock { $0 })
    }
  }

  private func finish(result: Result<Void, any Error>, state: State) {
    connection.store(known: state.systemFields, forgetting: state.page.deletedRecordIDs)
    // The zone's own error says more than that of the operation, which may only say that one failed.
    if let error = state.end?.error { return answer.finish(.failure(error)) }
    if case .failure(let error) = result {
      let failure = CloudKitErrorReader(records: connection.records, isModification: false)
        .read(error)
      return answer.finish(.failure(failure.error))
    }
    guard state.isTold, state.page.changeToken != nil else {
      let message = "CloudKit gave no change token that can be kept"
      return answer.finish(.failure(SyncError(.serverResponseLost, message)))
    }
    connection.trimAssets(sparing: state.page.changedRecords)
    answer.finish(.success(state.page))
  }

  private func lookUp(recordIDs: [RecordID]) {
    CloudKitLookup(connection: connection)
      .run(recordIDs: recordIDs, changeTags: [:], in: call) { result in
        answer.finish(
          result.map { findings in
            let page = Self.page(of: findings, for: recordIDs)
            connection.trimAssets(sparing: page.changedRecords)
            return page
          }
        )
      }
  }

  private static func page(
    of findings: [RecordID: CloudKitLookup.Finding],
    for recordIDs: [RecordID]
  ) -> FetchOperation.Response {
    var page = FetchOperation.Response(changeToken: nil)
    for recordID in recordIDs {
      switch findings[recordID] {
      case .other(let record?)?: page.changedRecords.append(record)
      case .failed(let error)?: page.failures.append(ItemFailure(recordID, error))
      case .current?, .other(nil)?, nil:
        let error = SyncError(.networkFailure, "CloudKit did not tell of the record")
        page.failures.append(ItemFailure(recordID, error))
      }
    }
    return page
  }
}
#endif
