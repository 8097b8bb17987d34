#if canImport(CloudKit)
import CloudKit
import CloudSyncCore
import Foundation

/// Looks records up.
struct CloudKitLookup: Sendable {
  /// What the server has of a record.
  enum Finding: Sendable {
    /// The version that was asked about, whose system fields these are.
    case current(Data)
    /// Another version, or whichever there is; nil if its files could not be had.
    case other(Record?)
    /// The record was not found, or could not be read.
    case failed(SyncError)
  }

  private struct State: Sendable {
    var findings: [RecordID: Finding] = [:]
    var systemFields: [SystemFields] = []
  }

  let connection: CloudKitConnection

  /// Asks the server for records, in one request.
  ///
  /// - Parameters:
  ///   - recordIDs: The records.
  ///   - changeTags: The versions about which it is enough to know that they are current.
  ///   - call: The call that it is a part of.
  ///   - completion: Takes what was found, or why nothing was.
  func run(
    recordIDs: [RecordID],
    changeTags: [RecordID: String],
    in call: CloudKitCall,
    completion: @escaping @Sendable (Result<[RecordID: Finding], SyncError>) -> Void
  ) {
    let connection = connection
    let state = Locked(State())
    let answer = OnceCompletion(completion)
    let operation = CKFetchRecordsOperation(
      recordIDs: recordIDs.map(connection.identifiers.cloudKitID)
    )
    operation.perRecordResultBlock = { id, result in
      var known: [SystemFields] = []
      let finding = Self.finding(
        of: result,
        changeTags: changeTags,
        connection: connection,
        keeping: &known
      )
      let recordID = connection.identifiers.recordID(id)
      let new = known
      state.withLock { state in
        if state.findings[recordID] == nil { state.findings[recordID] = finding }
        state.systemFields += new
      }
    }
    operation.fetchRecordsResultBlock = { result in
      let found = state.withLock { $0 }
      connection.store(known: found.systemFields, forgetting: found.findings.missing(of: recordIDs))
      answer.finish(
        Self.answer(
          recordIDs: recordIDs,
          findings: found.findings,
          result: result,
          connection: connection
        )
      )
    }
    if let error = connection.send(operation: operation, in: call) {
      answer.finish(.failure(error))
    }
  }

  private static func finding(
    of result: Result<CKRecord, any Error>,
    changeTags: [RecordID: String],
    connection: CloudKitConnection,
    keeping known: inout [SystemFields]
  ) -> Finding {
    let records = connection.records
    switch result {
    case .success(let record):
      let fields = records.systemFields(of: record)
      if let fields { known.append(fields) }
      let wanted = changeTags[connection.identifiers.recordID(record.recordID)]
      if let fields, let wanted, UTF8Bytes.equal(wanted, record.recordChangeTag) {
        return .current(fields.bytes)
      }
      do throws(SyncError) { return .other(try records.read(record)) } catch {
        return wanted == nil ? .failed(error) : .other(nil)
      }
    case .failure(let error):
      let reader = CloudKitErrorReader(records: records, isModification: false)
      return .failed(reader.readItem(error, keeping: &known))
    }
  }

  private static func answer(
    recordIDs: [RecordID],
    findings: [RecordID: Finding],
    result: Result<Void, any Error>,
    connection: CloudKitConnection
  ) -> Result<[RecordID: Finding], SyncError> {
    var findings = findings
    if case .failure(let error) = result {
      let failure = CloudKitErrorReader(records: connection.records, isModification: false)
        .read(error)
      guard failure.error.code == .partialFailure else { return .failure(failure.error) }
      for recordID in recordIDs where findings[recordID] == nil {
        findings[recordID] = failure.items[recordID].map { .failed($0) }
      }
    }
    // All records are of one zone: what one of them says of it, or of the account, holds for the request.
    for recordID in recordIDs {
      guard case .failed(let error)? = findings[recordID] else { continue }
      if error.code.isOfZoneOrAccount { return .failure(error) }
    }
    return .success(findings)
  }
}

extension [RecordID: CloudKitLookup.Finding] {
  /// The records that do not exist.
  fileprivate func missing(of recordIDs: [RecordID]) -> [RecordID] {
    recordIDs.filter { recordID in
      if case .failed(let error)? = self[recordID] { error.code == .unknownItem } else { false }
    }
  }
}
#endif
