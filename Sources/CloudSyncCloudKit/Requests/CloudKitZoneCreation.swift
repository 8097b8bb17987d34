#if canImport(CloudKit)
import CloudKit
import CloudSyncCore
import Foundation

/// Creates the zone; in the shared database, where nobody can, finds out whether it is there.
struct CloudKitZoneCreation: Sendable {
  let connection: CloudKitConnection
  let call: CloudKitCall
  let answer: OnceCompletion<Bool>

  /// Carries the creation out.
  func run() {
    let zoneID = connection.identifiers.cloudKitZoneID
    let zoneError = Locked<SyncError?>(nil)
    let operation: CKDatabaseOperation
    if connection.identifiers.zoneID.scope == .shared {
      let fetch = CKFetchRecordZonesOperation(recordZoneIDs: [zoneID])
      fetch.perRecordZoneResultBlock = { _, result in note(error: result.failure, in: zoneError) }
      fetch.fetchRecordZonesResultBlock = { finish(result: $0, zoneError: zoneError) }
      operation = fetch
    } else {
      let creation = CKModifyRecordZonesOperation(
        recordZonesToSave: [CKRecordZone(zoneID: zoneID)],
        recordZoneIDsToDelete: nil
      )
      creation.perRecordZoneSaveBlock = { _, result in note(error: result.failure, in: zoneError) }
      creation.modifyRecordZonesResultBlock = { finish(result: $0, zoneError: zoneError) }
      operation = creation
    }
    if let error = connection.send(operation: operation, in: call) {
      answer.finish(.failure(error))
    }
  }

  /// Notes what is said of the zone alone.
  private func note(error: (any Error)?, in zoneError: Locked<SyncError?>) {
    guard let error else { return }
    let failure = CloudKitErrorReader(records: connection.records, isModification: false)
      .read(error).error
    zoneError.withLock { $0 = failure }
  }

  private func finish(result: Result<Void, any Error>, zoneError: Locked<SyncError?>) {
    var error = zoneError.withLock { $0 }
    if error == nil, case .failure(let whole) = result {
      error =
        CloudKitErrorReader(records: connection.records, isModification: false).read(whole).error
    }
    guard var error else { return answer.finish(.success(true)) }
    // Somebody else was first.
    if error.code == .serverRecordChanged { return answer.finish(.success(true)) }
    if connection.identifiers.zoneID.scope == .shared, error.code == .unknownItem {
      error.code = .zoneNotFound
    }
    answer.finish(.failure(error))
  }
}

/// Creates the subscription that brings pushes about the zone, or the whole database.
struct CloudKitSubscriptionCreation: Sendable {
  let connection: CloudKitConnection
  let call: CloudKitCall
  let answer: OnceCompletion<Bool>

  /// Carries the creation out.
  func run() {
    let subscription = connection.subscription
    let information = CKSubscription.NotificationInfo()
    information.shouldSendContentAvailable = true
    subscription.notificationInfo = information
    let operation = CKModifySubscriptionsOperation(
      subscriptionsToSave: [subscription],
      subscriptionIDsToDelete: nil
    )
    let errors = CloudKitErrorReader(records: connection.records, isModification: false)
    let ownError = Locked<SyncError?>(nil)
    let answer = answer
    operation.perSubscriptionSaveBlock = { _, result in
      guard let error = result.failure else { return }
      let failure = errors.read(error).error
      ownError.withLock { $0 = failure }
    }
    operation.modifySubscriptionsResultBlock = { result in
      let error = ownError.withLock { $0 } ?? result.failure.map { errors.read($0).error }
      // One that exists is as good as a new one.
      guard let error, error.code != .serverRecordChanged else {
        return answer.finish(.success(true))
      }
      answer.finish(.failure(error))
    }
    if let error = connection.send(operation: operation, in: call) {
      answer.finish(.failure(error))
    }
  }
}

extension CloudKitConnection {
  /// The ID of the subscription: one a scope, or one a zone.
  var subscriptionID: String {
    if let given = options.subscriptionID { return given }
    let zoneID = identifiers.zoneID
    let scope = zoneID.scope == .shared ? "shared" : "private"
    return switch options.subscription {
    case .database: "cloudsync-\(scope)"
    case .zone: "cloudsync-\(scope)-\(zoneID.name)"
    }
  }

  fileprivate var subscription: CKSubscription {
    switch options.subscription {
    case .database: CKDatabaseSubscription(subscriptionID: subscriptionID)
    case .zone:
      CKRecordZoneSubscription(
        zoneID: identifiers.cloudKitZoneID,
        subscriptionID: subscriptionID
      )
    }
  }
}

extension Result {
  /// The error; nil for a success.
  var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
#endif
