import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The files of assets that were downloaded, in a folder of the handlers' own: each has the digits of its
/// digest as its name, and the bytes that it says.
///
/// Nothing is removed by itself: remove files when no record has them any more.
public struct AssetCache: Sendable {
  /// The folder; it is created when it is needed.
  public let folder: String

  /// Names a folder.
  public init(folder: String) { self.folder = folder }

  /// Where the file of a digest lies, or would lie.
  func path(of sha256: Data) -> String {
    let digits = Array("0123456789abcdef".utf8)
    let name = sha256.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return "\(folder)/\(String(decoding: name, as: UTF8.self))"
  }

  /// The asset with the place of its file here; nil if it is not here.
  func found(_ asset: Asset) -> Asset? {
    let path = path(of: asset.sha256)
    // Files are put here whole.
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    return Asset(sha256: asset.sha256, byteCount: asset.byteCount, location: path)
  }

  /// Keeps the bytes of an asset; nil if they are others, or cannot be kept.
  func keep(_ bytes: [UInt8], as asset: Asset) -> Asset? {
    guard Int64(bytes.count) == asset.byteCount,
      SHA256.digest(of: bytes).elementsEqual(asset.sha256)
    else { return nil }
    let path = path(of: asset.sha256)
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try Data(bytes).write(to: URL(filePath: path), options: .atomic)
    } catch { return nil }
    return Asset(sha256: asset.sha256, byteCount: asset.byteCount, location: path)
  }
}
