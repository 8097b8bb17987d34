public import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A modification whose files the cloud has, but for those of the records that fail.
struct KeptAssets: Sendable {
  var operation: ModifyOperation
  /// Whether there are files.
  var hasFiles = false
  var errors: [RecordID: SyncError] = [:]
}

extension LocalCloud {
  /// The folder in which the cloud keeps the files of an account's assets, each named by the digits of
  /// its digest; nil if it keeps none.
  public func assetFolder(of account: AccountIdentity) -> String? {
    assetFolder.map { KeptAssetFolder(of: account, in: $0).path }
  }

  /// Keeps the bytes of an asset before the record that it belongs to is saved, as a server does with an
  /// upload.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - account: Whose asset it is.
  /// - Returns: The asset that they are.
  /// - Throws: `SyncError.Code.limitExceeded` for too many, or that the cloud cannot store files.
  public func keepAsset(
    bytes: [UInt8],
    account: AccountIdentity
  ) throws(SyncError) -> Asset { try keepAsset(bytes: bytes, account: account, replacing: false) }

  /// The same, in place of a file that may be damaged.
  package func keepAsset(
    bytes: [UInt8],
    account: AccountIdentity,
    replacing: Bool
  ) throws(SyncError) -> Asset {
    let limit = options.assetByteLimit
    guard Int64(bytes.count) <= limit else {
      throw SyncError(.limitExceeded, "an asset has at most \(limit) bytes")
    }
    guard let path = assetFolder(of: account) else {
      throw SyncError(.assetNotAvailable, "the cloud keeps no files")
    }
    do throws(KeptAssetFolder.Failure) {
      return try KeptAssetFolder(path: path).keep(bytes: bytes, replacing: replacing)
    } catch { throw error.syncError }
  }

  /// Copies the files of a request's assets into the account's folder, and has the records say so.
  ///
  /// - Parameters:
  ///   - operation: The request.
  ///   - account: Whose request it is.
  /// - Returns: The request with the cloud's own files. A file that is missing fails its record with
  ///   `SyncError.Code.assetFileNotFound`, one that is not what the asset says with
  ///   `SyncError.Code.invalidArguments`.
  /// - Throws: That the cloud cannot store files now.
  func keepAssets(
    of operation: ModifyOperation,
    account: AccountIdentity
  ) throws(SyncError) -> KeptAssets {
    guard let path = assetFolder(of: account),
      operation.records.contains(where: { !$0.assets.isEmpty })
    else { return KeptAssets(operation: operation) }
    let folder = KeptAssetFolder(path: path)
    let limit = options.assetByteLimit
    var kept = KeptAssets(operation: operation)
    var records: [Record] = []
    for record in operation.records {
      // Too large ones are refused by the rules, without a look at their files.
      for asset in record.assets where asset.byteCount <= limit {
        do throws(KeptAssetFolder.Failure) { try folder.keep(asset) } catch {
          kept.errors[record.recordID] = error.syncError
          break
        }
      }
      records.append(record.replacingAssets(folder.kept))
    }
    let deletions = operation.recordIDsToDelete
    kept.hasFiles = true
    kept.operation = ModifyOperation(records: records, recordIDsToDelete: deletions)
    return kept
  }
}

extension LocalCloud {
  /// Whether files of an account's assets were ever kept: then a store without their folder was moved without it.
  package func hasKeptAssets(of account: AccountIdentity) throws(LocalCloudStoreError) -> Bool {
    try transaction(.read, frame: accountFrame(account: account)) {
      (engine) throws(LocalCloudStoreError) in
      try engine.store.document(AssetsDocument.key(for: account)) != nil
    }
  }

  /// The assets of an account's records whose files are not kept, or are damaged, each once, sorted by their digests.
  ///
  /// - Complexity: O(*n*) in the number of records and the bytes of the files.
  package func missingAssets(
    of account: AccountIdentity
  ) throws(LocalCloudStoreError) -> [Asset] {
    guard let path = assetFolder(of: account) else { return [] }
    let folder = KeptAssetFolder(path: path)
    return try usedAssets(of: account).filter { !folder.isIntact($0) }
  }
}

extension CloudEngine {
  /// Notes that files are kept.
  func noteKeptAssets() throws(LocalCloudStoreError) {
    let key = AssetsDocument.key(for: frame.account)
    if try store.document(key) != nil { return }
    try store.setDocument(StoreDocument(.assets(AssetsDocument())), for: key)
  }

  /// A record whose assets are said to lie where they are now: the store may have been moved since they were saved.
  func located(_ record: Record) -> Record {
    guard let folder = frame.assetFolder else { return record }
    // Most records have no assets: what is asked of an account's folder is asked where there are some.
    return record.replacingAssets { KeptAssetFolder(of: frame.account, in: folder).located($0) }
  }
}

extension Record {
  /// All assets of the record, those in lists too.
  var assets: [Asset] {
    fields.flatMap { field -> [Asset] in
      switch field.value {
      case .asset(let asset): [asset]
      case .list(let values):
        values.compactMap { if case .asset(let asset) = $0 { asset } else { nil } }
      default: []
      }
    }
  }
}
