import CloudSyncCore
import CloudSyncLocalCloud

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The bytes of assets, by signed addresses below `/assets/1/`.
struct ServedAssets: Sendable {
  let cloud: LocalCloud
  let tickets: ServiceTickets
  let now: @Sendable () -> Timestamp

  private static let prefix = "/assets/1/"
  private static let limit = 200

  /// What a client is told of an account's asset.
  func wireAsset(_ asset: Asset, account: AccountIdentity) -> WireAsset {
    var wire = WireAsset(asset)
    let purpose = ServiceTickets.Purpose.download(ServiceTickets.digits(asset.sha256))
    wire.downloadURL = Self.prefix + tickets.ticket(for: purpose, account: account, now: now())
    return wire
  }

  /// Answers `assets/upload` of an account.
  func addresses(
    _ request: HTTPRequest,
    account: AccountIdentity
  ) throws(WireError) -> HTTPResponse {
    let tokens = try WireAssetUpload.tokens(reading: request.body, limit: Self.limit)
    let time = now()
    let entries = tokens.map { token in
      (token, Self.prefix + tickets.ticket(for: .upload, account: account, now: time))
    }
    return EndpointDesk.success(WireAssetUpload.body(of: entries))
  }

  /// What the address of a request is good for, and whose it is; nil if it is none.
  func ticket(of request: HTTPRequest) -> ServiceTickets.Ticket? {
    guard request.path.hasPrefix(Self.prefix) else { return nil }
    return tickets.read(request.path.dropFirst(Self.prefix.count), now: now())
  }

  /// Answers a request to such an address, by a file if that is wanted: not by its bytes.
  func response(
    to request: HTTPRequest,
    for ticket: ServiceTickets.Ticket,
    sendingFiles: Bool
  ) -> HTTPResponse {
    switch (ticket.purpose, request.method) {
    case (.upload, "POST"):
      do throws(SyncError) {
        let asset = try cloud.keepAsset(bytes: request.body, account: ticket.account)
        return EndpointDesk.success(WireAssetUpload.body(of: WireAsset(asset)))
      } catch { return ServiceRefusal(error).response }
    case (.download(let digest), "GET"):
      guard let folder = cloud.assetFolder(of: ticket.account) else {
        return HTTPResponse(status: 404)
      }
      return Self.download("\(folder)/\(digest)", sendingFiles: sendingFiles)
    case (.courier, _): return HTTPResponse(status: 404)
    default: return HTTPResponse(status: 405)
    }
  }

  private static func download(_ path: String, sendingFiles: Bool) -> HTTPResponse {
    let headers: HTTPHeaders = [WireHeader.contentType: "application/octet-stream"]
    if sendingFiles {
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      guard let count = attributes?[.size] as? Int else { return HTTPResponse(status: 404) }
      let file = HTTPFile(path: path, byteCount: count)
      return HTTPResponse(status: 200, headers: headers, file: file)
    }
    guard let bytes = try? Data(contentsOf: URL(filePath: path)) else {
      return HTTPResponse(status: 404)
    }
    return HTTPResponse(status: 200, headers: headers, body: [UInt8](bytes))
  }
}
