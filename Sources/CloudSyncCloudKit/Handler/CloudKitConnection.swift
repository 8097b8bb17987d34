#if canImport(CloudKit)
import CloudKit
import CloudSyncAssets
import CloudSyncCore
import Foundation

/// What the calls of a handler have in common: the database, and how requests are sent to it.
struct CloudKitConnection: Sendable {
  let database: UncheckedBox<CKDatabase>
  let identifiers: CloudKitIdentifiers
  let systemFields: any SystemFieldsStore
  let assets: AssetCache?
  let options: CloudKitOptions

  var records: CloudKitRecordReader {
    CloudKitRecordReader(identifiers: identifiers, assets: assets)
  }

  /// Sends an operation, with what is left of the call's time.
  ///
  /// - Parameters:
  ///   - operation: The operation, its blocks set.
  ///   - call: The call that it is a part of.
  /// - Returns: Why nothing was sent; nil if the operation runs, and its blocks will be called.
  func send(operation: CKDatabaseOperation, in call: CloudKitCall) -> SyncError? {
    let now = options.now()
    let deadline = call.context.deadline
    let left = Duration.nanoseconds(now.distance(to: deadline))
    guard left > .zero else {
      return SyncError(.operationCancelled, "the deadline passed before anything was sent")
    }
    let configuration = CKOperation.Configuration()
    configuration.qualityOfService = options.qualityOfService
    configuration.allowsCellularAccess = options.allowsCellularAccess
    configuration.timeoutIntervalForRequest = min(options.requestTimeout, left).seconds
    configuration.timeoutIntervalForResource = min(options.resourceTimeout, left).seconds
    operation.configuration = configuration
    let group = CKOperationGroup()
    group.name = options.groupName
    operation.group = group
    guard call.start(operation: operation, in: database) else {
      return SyncError(.operationCancelled, "the call was given up")
    }
    return nil
  }

  // MARK: The store, which is a cache

  /// What is known of records; nothing where the store fails.
  func load(recordIDs: [RecordID]) -> [Data?] {
    guard !recordIDs.isEmpty else { return [] }
    do throws(SystemFieldsStoreError) {
      let found = try systemFields.load(recordIDs)
      if found.count == recordIDs.count { return found }
      let reason =
        "a store of system fields answered for \(found.count) of \(recordIDs.count) records"
      options.onStoreError?(SystemFieldsStoreError(reason))
    } catch { options.onStoreError?(error) }
    return Array(repeating: nil, count: recordIDs.count)
  }

  /// Keeps what became known, and forgets records that are gone.
  func store(known: [SystemFields], forgetting gone: [RecordID] = []) {
    do throws(SystemFieldsStoreError) {
      if !known.isEmpty { try systemFields.save(known) }
      if !gone.isEmpty { try systemFields.remove(gone) }
    } catch { options.onStoreError?(error) }
  }

  // MARK: Files

  /// Keeps the cache of files within its limits, with those of the records that were just read.
  func trimAssets(sparing records: [Record]) {
    assets?.trim(to: options.assetLimits, now: options.now().date, sparingAssetsOf: records)
  }
}

extension Duration {
  /// The duration in seconds, as Foundation counts.
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
#endif
