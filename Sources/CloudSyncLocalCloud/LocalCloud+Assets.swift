import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension LocalCloud {
  /// Copies the files of a request's assets into the cloud's own folder, and has the records say so.
  ///
  /// A file that is missing fails its record with ``SyncError/Code/assetFileNotFound``, and the request,
  /// of which nothing is done then.
  func keepAssets(of operation: ModifyOperation) -> Result<ModifyOperation, SyncError> {
    guard let assetFolder else { return .success(operation) }
    var records: [Record] = []
    var failures: [ItemFailure] = []
    for var record in operation.records {
      for field in record.fields {
        guard case .asset(let asset) = field.value else { continue }
        do {
          record[field.name] = .asset(try Self.keep(asset: asset, in: assetFolder))
        } catch {
          let reason = "\(asset.location): \(error)"
          failures.append(ItemFailure(record.recordID, SyncError(.assetFileNotFound, reason)))
          break
        }
      }
      records.append(record)
    }
    guard failures.isEmpty else {
      let message = "files of assets are missing"
      return .failure(SyncError(.partialFailure, message, itemErrors: failures))
    }
    let deletions = operation.recordIDsToDelete
    return .success(ModifyOperation(records: records, recordIDsToDelete: deletions))
  }

  private static func keep(asset: Asset, in folder: String) throws -> Asset {
    let manager = FileManager.default
    let name = Hexadecimal.text(of: asset.sha256)
    let path = "\(folder)/\(name)"
    let kept = Asset(sha256: asset.sha256, byteCount: asset.byteCount, location: path)
    if manager.fileExists(atPath: path) { return kept }
    try manager.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let bytes = try Data(contentsOf: URL(filePath: asset.location))
    try bytes.write(to: URL(filePath: path), options: .atomic)
    return kept
  }
}
