import CloudSyncCore
import CloudSyncWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a service said of files that it has received, for as long as it keeps them without a record; and which files
/// those of Apple's service are, which tells no digests.
final class UploadedAssets: Sendable {
  private struct Key: Hashable {
    var sha256: Data
    /// The record and the field that a receipt of Apple's is for; nil at the project's own server.
    var place: [String]
  }

  private struct State: Sendable {
    /// Looked into, and filtered without regard to order.
    var uploads: [Key: (end: Timestamp, asset: WireAsset)] = [:]
    var digests: [Data: Data] = [:]
  }

  /// How long the service keeps a file without a record.
  private static let lifetime = Duration.seconds(15 * 60)
  private static let digestLimit = 16_384

  private let isApple: Bool
  private let state = Locked(State())

  init(isApple: Bool) { self.isApple = isApple }

  /// What the service said of a file that it has received a short while ago, for a field of a record.
  func found(_ asset: Asset, of recordID: RecordID, field: String, now: Timestamp) -> WireAsset? {
    let key = key(of: asset, in: recordID, field: field)
    return state.withLock { state in
      guard let known = state.uploads[key], now < known.end else { return nil }
      return known.asset
    }
  }

  func note(
    _ asset: Asset,
    of recordID: RecordID,
    field: String,
    as wire: WireAsset,
    now: Timestamp
  ) {
    let key = key(of: asset, in: recordID, field: field)
    state.withLock { state in
      state.uploads = state.uploads.filter { now < $0.value.end }
      state.uploads[key] = (now.adding(Self.lifetime), wire)
    }
  }

  func forgetAll() { state.withLock { $0.uploads.removeAll() } }

  private func key(of asset: Asset, in recordID: RecordID, field: String) -> Key {
    Key(sha256: asset.sha256, place: isApple ? [recordID.zoneID.name, recordID.name, field] : [])
  }

  // MARK: Digests

  /// The digest of a file by what Apple's service calls it; nil if it was not downloaded yet.
  func digest(of provisional: Data) -> Data? { state.withLock { $0.digests[provisional] } }

  func note(digest: Data, of provisional: Data) {
    state.withLock { state in
      if state.digests.count >= Self.digestLimit { state.digests.removeAll() }
      state.digests[provisional] = digest
    }
  }

  /// An asset of Apple's until its file is here: its digest is made of what the service calls the file.
  static let provisional: @Sendable (WireAsset) -> Asset? = { wire in
    guard let byteCount = wire.byteCount, let address = wire.downloadURL,
      let checksum = wire.opaque["fileChecksum"]
    else { return nil }
    let name = Data(SHA256.digest(of: Array("\(byteCount)/\(checksum)".utf8)))
    return Asset(sha256: name, byteCount: byteCount, location: address)
  }
}
