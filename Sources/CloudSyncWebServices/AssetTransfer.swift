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

  // MARK: Uploads

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
    guard !client.hasUploaded(asset) else { return }
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
        for: record.recordID,
        field: field,
        recordType: record.recordType
      )
      address = try await client.perform(call, deadline: deadline)
    } catch { throw .request(error) }
    let response = try await send("POST", to: address, body: bytes, deadline: deadline)
    guard let kept = WireAssetUpload.asset(reading: response), kept.sha256 == asset.sha256 else {
      throw .request(SyncError(.networkFailure, "the service did not get the file as it is"))
    }
    client.noteUpload(of: asset)
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
    return page
  }

  private func localized(
    _ record: Record,
    deadline: Timestamp
  ) async throws(AssetFailure) -> Record {
    guard let cache else { return record }
    for (_, asset) in record.assets where cache.found(asset) == nil {
      let bytes = try await send("GET", to: asset.location, body: [], deadline: deadline)
      guard cache.keep(bytes, as: asset) != nil else {
        throw .item(SyncError(.assetNotAvailable, "a file is not what its record says"))
      }
    }
    return record.replacingAssets { cache.found($0) ?? $0 }
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
    guard let target = client.target(of: address) else {
      let message = "the service names an address that is not its own"
      throw .item(SyncError(.assetNotAvailable, message))
    }
    let request = HTTPRequest(method: method, target: target, body: body)
    do throws(SyncError) {
      return try await client.transfer(request, deadline: deadline)
    } catch {
      switch error.code {
      case .networkFailure, .networkUnavailable, .serviceUnavailable, .requestRateLimited,
        .zoneBusy,
        .internalError:
        throw .request(error)
      case .serverResponseLost, .timedOut:
        // Of the modification nothing was sent: there is nothing to repeat unchanged.
        throw .request(SyncError(.networkFailure, error.message))
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

extension Record {
  /// The assets of the record with the names of their fields, those in lists too.
  var assets: [(field: String, asset: Asset)] {
    fields.flatMap { field -> [(field: String, asset: Asset)] in
      switch field.value {
      case .asset(let asset): [(field.name, asset)]
      case .list(let values):
        values.compactMap { value in
          if case .asset(let asset) = value { (field.name, asset) } else { nil }
        }
      default: []
      }
    }
  }
}
