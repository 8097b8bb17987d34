@_spi(Stub) import CloudKit
import CloudSyncLocalCloud
import CloudSyncSession
import Foundation

/// One operation, as it is carried out.
struct StubCall {
  let stub: StubCloud
  let scope: CKDatabase.Scope
  let ways: StubWays
  let fault: StubFault?

  static let missingZone = SyncError(.zoneNotFound, "the zone does not exist")

  /// A context that no other call has: the local cloud recognizes a repeat by its client token alone.
  private func context(token: Data? = nil) -> RequestContext {
    let number = UInt64(StubNames.number())
    var nonce: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in token ?? Data() { nonce = (nonce ^ UInt64(byte)) &* 0x100_0000_01b3 }
    let isKnown = token != nil && ways.knowsClientTokens
    return RequestContext(
      attempt: Attempt(epoch: 1, number: number),
      writeToken: WriteToken(nonce: isKnown ? nonce : 0, number: isKnown ? 0 : number),
      deadline: .distantFuture
    )
  }

  /// Waits for a response that comes before the call returns.
  private func answer<Value>(
    _ call: (@escaping @Sendable (Result<Value, SyncError>) -> Void) -> Void
  ) -> Result<Value, SyncError> {
    let box = AnswerBox<Value>()
    call { box.result = $0 }
    guard let result = box.result else { preconditionFailure("The local cloud answers at once.") }
    return result
  }

  private func native(_ error: SyncError) -> NSError {
    StubErrors.error(error, server: nil, client: nil)
  }

  /// The error that a test wants for an item.
  private func wanted(_ name: String) -> NSError? {
    if case .items(let errors)? = fault { errors[name] } else { nil }
  }

  // MARK: Zones and subscriptions

  func createZones(_ operation: CKModifyRecordZonesOperation) {
    for zone in operation._zonesToSave {
      if let error = wanted(zone.zoneID.zoneName) {
        return operation.end(.failure(StubErrors.partial([zone.zoneID: error])))
      }
      let result: Result<Bool, SyncError> =
        if scope == .shared {
          .failure(SyncError(.badDatabase, "zones are created in the private database"))
        } else if let connection = stub.connection(zone.zoneID, scope: scope, isAtomic: false) {
          answer {
            connection.handle(
              createZoneOperation: CreateZoneOperation(zoneID: connection.zoneID),
              context: context(),
              completion: $0
            )
          }
        } else { .failure(Self.missingZone) }
      switch result {
      case .success: operation.perRecordZoneSaveBlock?(zone.zoneID, .success(zone))
      case .failure(let error):
        if ways.tellsFailuresByItem {
          operation.perRecordZoneSaveBlock?(zone.zoneID, .failure(native(error)))
        }
        return operation.end(.failure(StubErrors.partial([zone.zoneID: native(error)])))
      }
    }
    operation.end(.success(()))
  }

  func fetchZones(_ operation: CKFetchRecordZonesOperation) {
    for zoneID in operation._zoneIDs {
      let connection = stub.connection(zoneID, scope: scope, isAtomic: false)
      let exists = connection.map { connection in
        (try? stub.cloud.hasZone(
          connection.zoneID,
          account: connection.account ?? AccountIdentity("")
        )) ?? false
      }
      guard exists == true else {
        let error = native(Self.missingZone)
        if ways.tellsFailuresByItem { operation.perRecordZoneResultBlock?(zoneID, .failure(error)) }
        return operation.end(.failure(StubErrors.partial([zoneID: error])))
      }
      operation.perRecordZoneResultBlock?(zoneID, .success(CKRecordZone(zoneID: zoneID)))
    }
    operation.end(.success(()))
  }

  func subscribe(_ operation: CKModifySubscriptionsOperation) {
    for subscription in operation._subscriptionsToSave {
      if let error = wanted(subscription._subscriptionID) {
        return operation.end(.failure(StubErrors.partial([subscription._subscriptionID: error])))
      }
      precondition(
        subscription.notificationInfo?.shouldSendContentAvailable == true,
        "Silent pushes are asked for."
      )
      operation.perSubscriptionSaveBlock?(subscription._subscriptionID, .success(subscription))
    }
    operation.end(.success(()))
  }

  // MARK: Fetching

  func fetchChanges(_ operation: CKFetchRecordZoneChangesOperation) {
    precondition(!operation.fetchAllChanges, "The adapter fetches one page at a time.")
    precondition(operation._zoneIDs.count == 1, "The adapter fetches one zone.")
    let zoneID = operation._zoneIDs[0]
    let token = operation._configurations[zoneID]?._token
    let result: Result<FetchOperation.Response, SyncError>
    let connection = stub.connection(zoneID, scope: scope, isAtomic: false)
    if let connection {
      let fetch = FetchOperation(changeToken: token.flatMap { ChangeToken($0._bytes) })
      result = answer {
        connection.handle(fetchOperation: fetch, context: context(), completion: $0)
      }
    } else {
      result = .failure(Self.missingZone)
    }
    switch result {
    case .success(let page):
      tell(page, operation, connection: connection, zoneID: zoneID)
    case .failure(let error):
      let error = native(error)
      operation.recordZoneFetchResultBlock?(zoneID, .failure(error))
      operation.end(.failure(StubErrors.partial([zoneID: error])))
    }
  }

  private func tell(
    _ page: FetchOperation.Response,
    _ operation: CKFetchRecordZoneChangesOperation,
    connection: LocalCloudConnection?,
    zoneID: CKRecordZone.ID
  ) {
    let account = connection?.account ?? stub.account
    let values = stub.values(zoneID, scope: scope, account: account)
    let unreadable = stub.with(\.unreadable)
    for record in ordered(page.changedRecords) {
      let (held, files) = values.record(record, ways: ways, salt: stub.salt())
      let unreadable =
        unreadable.contains(record.recordID.name)
        ? StubErrors.error(1, "the record cannot be read") : wanted(record.recordID.name)
      operation.recordWasChangedBlock?(
        held.recordID,
        unreadable.map { .failure($0) } ?? .success(held)
      )
      remove(files)
    }
    for deleted in ordered(page.deletedRecords) {
      let id = CKRecord.ID(
        recordName: deleted.recordID.name,
        zoneID: values.zoneID(deleted.recordID.zoneID)
      )
      operation.recordWithIDWasDeletedBlock?(id, deleted.recordType ?? "")
    }
    if case .failAfter(_, let error)? = fault { return operation.end(.failure(error)) }
    let token = CKServerChangeToken(_bytes: page.changeToken?.bytes ?? Data())
    operation.recordZoneFetchResultBlock?(
      zoneID,
      .success((serverChangeToken: token, clientChangeTokenData: nil, moreComing: page.hasMore))
    )
    operation.end(.success(()))
  }

  func lookUp(_ operation: CKFetchRecordsOperation) {
    guard let first = operation._recordIDs.first else { return operation.end(.success(())) }
    let connection = stub.connection(first.zoneID, scope: scope, isAtomic: false)
    let result: Result<FetchOperation.Response, SyncError>
    if let connection {
      let names = operation._recordIDs.map {
        RecordID(name: $0.recordName, zoneID: connection.zoneID)
      }
      result = answer {
        connection.handle(
          fetchOperation: FetchOperation(lookingUp: names),
          context: context(),
          completion: $0
        )
      }
    } else {
      result = .failure(Self.missingZone)
    }
    let account = connection?.account ?? stub.account
    let values = stub.values(first.zoneID, scope: scope, account: account)
    var failures: [AnyHashable: NSError] = [:]
    for id in ordered(operation._recordIDs) {
      if let error = wanted(id.recordName) {
        failures[id] = error
        if ways.tellsFailuresByItem { operation.perRecordResultBlock?(id, .failure(error)) }
        continue
      }
      let outcome = outcome(of: id, in: result, connection: connection)
      switch outcome {
      case .success(let record):
        let (held, files) = values.record(record, ways: ways, salt: stub.salt())
        operation.perRecordResultBlock?(id, .success(held))
        remove(files)
      case .failure(let error):
        failures[id] = native(error)
        if ways.tellsFailuresByItem {
          operation.perRecordResultBlock?(id, .failure(native(error)))
        }
      }
    }
    operation.end(failures.isEmpty ? .success(()) : .failure(StubErrors.partial(failures)))
  }

  private func outcome(
    of id: CKRecord.ID,
    in result: Result<FetchOperation.Response, SyncError>,
    connection: LocalCloudConnection?
  ) -> Result<Record, SyncError> {
    result.flatMap { page in
      if let record = page.changedRecords.first(where: { $0.recordID.name == id.recordName }) {
        return .success(record)
      }
      let failure = page.failures.first { $0.recordID.name == id.recordName }
      return .failure(failure?.error ?? SyncError(.unknownItem, "there is no such record"))
    }
  }

  func ordered<Element>(_ elements: [Element]) -> [Element] {
    ways.isReversed ? elements.reversed() : elements
  }

  /// The system deletes a file when the callback that brought it has returned.
  private func remove(_ files: [String]) {
    for file in files { try? FileManager.default.removeItem(atPath: file) }
  }

  // MARK: Modifications

  func modify(_ operation: CKModifyRecordsOperation) {
    precondition(operation.savePolicy == .ifServerRecordUnchanged, "Conflicts are to be found.")
    let ids = operation._recordsToSave.map(\.recordID) + operation._recordIDsToDelete
    guard let zoneID = ids.first?.zoneID else { return operation.end(.success(())) }
    guard
      let connection = stub.connection(zoneID, scope: scope, isAtomic: operation.isAtomic),
      let account = connection.account
    else { return tell(StubModification(operation, ways), zoneError: Self.missingZone, zoneID) }
    let values = stub.values(zoneID, scope: scope, account: account)
    var modification = StubModification(operation, ways)
    switch fault {
    case .items(let errors)?, .itemsThenFail(let errors, _)?: modification.refuse(errors)
    default: break
    }
    var edits: [Record] = []
    for record in operation._recordsToSave where modification.isOpen(record.recordID) {
      do { edits.append(try values.edit(record, in: connection.zoneID)) } catch {
        modification.refuse([record.recordID.recordName: error as NSError])
      }
    }
    if operation.isAtomic, modification.hasFailures { return modification.tell(fault: fault) }
    let deletions = operation._recordIDsToDelete.filter { modification.isOpen($0) }
      .map { RecordID(name: $0.recordName, zoneID: connection.zoneID) }
    let result = answer { completion in
      connection.handle(
        modifyOperation: ModifyOperation(records: edits, recordIDsToDelete: deletions),
        context: context(token: operation.clientChangeTokenData),
        completion: completion
      )
    }
    let conflict = { (record: Record) -> CKRecord? in
      ways.conflictsHaveRecords
        ? values.record(record, ways: ways, salt: stub.salt()).record : nil
    }
    let told = values.zoneID(connection.zoneID)
    switch result {
    case .success(let response):
      modification.take(response, salt: stub.salt(), zoneID: told, server: conflict)
    case .failure(let error) where error.code == .partialFailure:
      modification.take(
        ModifyOperation.Response(failures: error.itemErrors),
        salt: stub.salt(),
        zoneID: told,
        server: conflict
      )
    case .failure(let error) where [.zoneNotFound, .userDeletedZone].contains(error.code):
      return tell(modification, zoneError: error, zoneID)
    case .failure(let error):
      return operation.end(.failure(native(error)))
    }
    modification.tell(fault: fault)
  }

  /// Tells of a zone that is not there, as the ways say.
  private func tell(
    _ modification: StubModification,
    zoneError: SyncError,
    _ zoneID: CKRecordZone.ID
  ) {
    let error = native(zoneError)
    if ways.tellsZoneErrorsByZone {
      return modification.operation.end(.failure(StubErrors.partial([zoneID: error])))
    }
    var modification = modification
    modification.refuseAll(error)
    modification.tell(fault: nil)
  }
}

/// A result that comes before a call returns.
///
/// `@unchecked Sendable` because the local cloud answers on the thread of the call.
private final class AnswerBox<Value>: @unchecked Sendable {
  var result: Result<Value, SyncError>?
}
