import CloudSyncAssets
import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Brings the files of assets to a service before their records, and from it after them.
struct AssetTransfer: Sendable {
  let client: WebServicesClient
  let cache: AssetCache?
  let limits: AssetCacheLimits

  // MARK: Uploads

  /// Which records have files that the service has received before, for an earlier request.
  func reused(by operation: ModifyOperation) -> Set<RecordID> {
    Set(
      operation.records
        .filter { record in
          record.assets.contains { field, asset in isReceived(asset, of: record, field: field) }
        }
        .map(\.recordID)
    )
  }

  /// Throws if the files of a request are too much for one: its records are to come in several.
  func checkSize(of operation: ModifyOperation) throws(SyncError) {
    try RequestedFiles.check(operation.records) { record, field, asset in
      isReceived(asset, of: record, field: field)
    }
  }

  /// Whether the service has received a file a short while ago.
  private func isReceived(_ asset: Asset, of record: Record, field: String) -> Bool {
    client.uploads.found(asset, of: record.recordID, field: field, now: client.now) != nil
  }

  /// Uploads what the records of a request have.
  ///
  /// - Parameters:
  ///   - operation: The request.
  ///   - deadline: When nobody waits any more.
  /// - Returns: What is wrong with the files of records that must not be sent, in the order of the request.
  /// - Throws: The error of the whole request: nothing of it was sent.
  func upload(
    _ operation: ModifyOperation,
    deadline: Timestamp
  ) async throws(SyncError) -> [ItemFailure] {
    var failures: [ItemFailure] = []
    for record in operation.records {
      do throws(AssetFailure) {
        for (field, asset) in record.assets {
          try await upload(asset, of: record, field: field, deadline: deadline)
        }
      } catch {
        switch error {
        case .item(let reason): failures.append(ItemFailure(record.recordID, reason))
        case .request(let reason): throw reason
        }
      }
    }
    return failures
  }

  private func upload(
    _ asset: Asset,
    of record: Record,
    field: String,
    deadline: Timestamp
  ) async throws(AssetFailure) {
    let recordID = record.recordID
    if isReceived(asset, of: record, field: field) { return }
    guard let data = try? Data(contentsOf: URL(filePath: asset.location)) else {
      throw .item(SyncError(.assetFileNotFound, "the file in \(field) cannot be read"))
    }
    let bytes = [UInt8](data)
    guard Int64(bytes.count) == asset.byteCount,
      SHA256.digest(of: bytes).elementsEqual(asset.sha256)
    else { throw .item(SyncError(.assetFileModified, "the file in \(field) was changed")) }
    let address: String
    do throws(SyncError) {
      let call = WireCall.uploadAddress(
        for: recordID,
        field: field,
        recordType: record.recordType
      )
      address = try await client.perform(call, deadline: deadline)
    } catch { throw .request(error) }
    let response = try await send("POST", to: address, body: bytes, deadline: deadline)
    guard let kept = WireAssetUpload.asset(reading: response),
      client.isApple
        ? kept.receipt != nil && kept.byteCount ?? asset.byteCount == asset.byteCount
        : kept.sha256 == asset.sha256
    else {
      throw .request(SyncError(.networkFailure, "the service did not get the file as it is"))
    }
    client.uploads.note(asset, of: recordID, field: field, as: kept, now: client.now)
  }

  /// What a request says of a file that was uploaded for it.
  var uploaded: WireModification.Assets {
    guard client.isApple else { return { asset, _, _ in WireAsset(asset) } }
    return { [client] asset, recordID, field in
      // Of one that is missing by now the service says so.
      client.uploads.found(asset, of: recordID, field: field, now: client.now)
        ?? WireAsset(byteCount: asset.byteCount)
    }
  }

  /// What a response says of a file.
  var located: @Sendable (WireAsset) -> Asset? {
    client.isApple ? UploadedAssets.provisional : WireAsset.unlocated
  }

  // MARK: Downloads

  /// A page whose assets have their files here.
  ///
  /// - Parameters:
  ///   - page: The page as it came.
  ///   - deadline: When nobody waits any more.
  /// - Returns: The page; a record whose file is not to be had is among its failures.
  /// - Throws: That the network broke: the page is to be fetched again.
  func localized(
    _ page: FetchOperation.Response,
    deadline: Timestamp
  ) async throws(SyncError) -> FetchOperation.Response {
    guard page.changedRecords.contains(where: { !$0.assets.isEmpty }) else { return page }
    var page = page
    var records: [Record] = []
    for record in page.changedRecords {
      do throws(AssetFailure) {
        records.append(try await localized(record, deadline: deadline))
      } catch {
        switch error {
        case .item(let reason): page.failures.append(ItemFailure(record.recordID, reason))
        case .request(let reason): throw reason
        }
      }
    }
    page.changedRecords = records
    cache?.trim(to: limits, now: client.now.date, sparingAssetsOf: records)
    return page
  }

  private func localized(
    _ record: Record,
    deadline: Timestamp
  ) async throws(AssetFailure) -> Record {
    let assets = record.assets.map(\.asset)
    guard let cache else {
      if assets.isEmpty || !client.isApple { return record }
      let message =
        "files of Apple's service are known by their bytes alone: give the handler an AssetCache"
      throw .item(SyncError(.assetNotAvailable, message))
    }
    var found: [Data: Asset] = [:]
    for asset in assets where found[asset.sha256] == nil {
      if let here = known(asset).flatMap(cache.found) {
        found[asset.sha256] = here
        continue
      }
      let bytes = try await send("GET", to: asset.location, body: [], deadline: deadline)
      // Apple's service says how long a file is, and nothing else that its bytes can be held against.
      let sha256 = client.isApple ? Data(SHA256.digest(of: bytes)) : asset.sha256
      let whole = Asset(sha256: sha256, byteCount: asset.byteCount, location: "")
      guard let kept = cache.keep(bytes, as: whole) else {
        throw .item(SyncError(.assetNotAvailable, "a file is not what its record says"))
      }
      if client.isApple { client.uploads.note(digest: kept.sha256, of: asset.sha256) }
      found[asset.sha256] = kept
    }
    return record.replacingAssets { found[$0.sha256] ?? $0 }
  }

  /// The asset by the digest of its bytes; nil if Apple's service has not told them yet.
  private func known(_ asset: Asset) -> Asset? {
    guard client.isApple else { return asset }
    guard let sha256 = client.uploads.digest(of: asset.sha256) else { return nil }
    return Asset(sha256: sha256, byteCount: asset.byteCount, location: "")
  }

  /// A response whose conflicts have the files of the server's records here, as far as they are to be had.
  func localized(
    _ response: ModifyOperation.Response,
    deadline: Timestamp
  ) async -> ModifyOperation.Response {
    var response = response
    for index in response.failures.indices {
      guard let record = response.failures[index].error.serverRecord, !record.assets.isEmpty else {
        continue
      }
      let found = try? await localized(record, deadline: deadline)
      // Without it the session looks for itself.
      response.failures[index].error.serverRecord = found
    }
    return response
  }

  // MARK: Requests

  /// Sends a request to an address that the service gave, without the client's token.
  private func send(
    _ method: String,
    to address: String,
    body: [UInt8],
    deadline: Timestamp
  ) async throws(AssetFailure) -> [UInt8] {
    guard let place = client.place(of: address) else {
      let message = "the service names an address that is not its own"
      throw .item(SyncError(.assetNotAvailable, message))
    }
    do throws(SyncError) {
      return try await client.transfer(method, to: place, body: body, deadline: deadline)
    } catch {
      switch error.code {
      case .networkFailure, .networkUnavailable, .serviceUnavailable, .requestRateLimited,
        .zoneBusy,
        .internalError:
        throw .request(error)
      case .serverResponseLost, .timedOut:
        // Of the modification nothing was sent: there is nothing to repeat unchanged.
        throw .request(SyncError(.networkFailure, error.message))
      case .badContainer where method == "POST", .permissionFailure where method == "POST":
        // Where the file is to go the service has just said: it is somebody between the two who does not find it.
        throw .item(SyncError(.serviceUnavailable, "the file was not taken: \(error.message)"))
      case .limitExceeded:
        throw .item(SyncError(.limitExceeded, "the file is too large for the service"))
      default:
        throw .item(SyncError(.assetNotAvailable, "the service does not have the file"))
      }
    }
  }
}

/// Why a file did not come over.
private enum AssetFailure: Error {
  /// Its record fails; others do not.
  case item(SyncError)
  /// The request fails, and is repeated.
  case request(SyncError)
}
