package import CloudSyncCore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The files of assets that came from a cloud, in a folder of the handlers' own: each has the digits of its
/// digest as its name, and the bytes that it says.
///
/// A handler keeps the folder within ``AssetCacheLimits``: the files that were used longest ago go first. Copy a file that you
/// keep for longer.
public struct AssetCache: Sendable {
  /// The folder's path from the root; it is created when it is needed.
  public let folder: String

  /// Names a folder.
  ///
  /// - Parameter folder: Its path. One that does not begin with a slash is meant from the folder that the process is in now.
  public init(folder: String) { self.folder = Asset.pathFromRoot(folder) }

  /// Names of files that are being copied, each used once in a process.
  private static let copies = Locked<UInt64>(0)
  private static let copyPrefix = "incoming-"
  private static let digits = Array("0123456789abcdef".utf8)

  /// Where the file of a digest lies, or would lie.
  package func path(of sha256: Data) -> String {
    let name = sha256.flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] }
    return "\(folder)/\(String(decoding: name, as: UTF8.self))"
  }

  /// The asset with the place of its file here; nil if it is not here.
  package func found(_ asset: Asset) -> Asset? {
    let path = path(of: asset.sha256)
    // Files are put here whole; one of another length was damaged since, as by a loss of power.
    guard byteCount(path: path) == asset.byteCount else { return nil }
    touch(path: path)
    return Asset(sha256: asset.sha256, byteCount: asset.byteCount, location: path)
  }

  /// Keeps the bytes of an asset; nil if they are others, or cannot be kept.
  package func keep(_ bytes: [UInt8], as asset: Asset) -> Asset? {
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

  // MARK: Files that go away

  /// Keeps a copy of a file that goes away soon, where the file system can as a clone.
  ///
  /// - Parameter path: The file.
  /// - Returns: What the copy holds, and where it lies.
  /// - Throws: Why there is no copy.
  package func keep(copyOf path: String) throws(AssetCacheError) -> Asset {
    let number = Self.copies.withLock { count in
      count += 1
      return count
    }
    let process = ProcessInfo.processInfo.processIdentifier
    let copy = "\(folder)/\(Self.copyPrefix)\(process)-\(number)"
    let manager = FileManager.default
    do {
      try manager.createDirectory(atPath: folder, withIntermediateDirectories: true)
      // An earlier process of this number may have left one.
      if manager.fileExists(atPath: copy) { try manager.removeItem(atPath: copy) }
      try manager.copyItem(atPath: path, toPath: copy)
      let (sha256, byteCount) = try Self.digest(ofFile: copy)
      let target = self.path(of: sha256)
      let present = self.byteCount(path: target)
      if present == byteCount {
        try manager.removeItem(atPath: copy)
        touch(path: target)
      } else {
        if present != nil { try manager.removeItem(atPath: target) }
        try manager.moveItem(atPath: copy, toPath: target)
      }
      return Asset(sha256: sha256, byteCount: byteCount, location: target)
    } catch {
      // What is left of the copy goes when the folder is next kept within its limits.
      throw AssetCacheError(path: path, folder: folder, reason: "\(error)")
    }
  }

  /// What a file holds.
  package static func digest(
    ofFile path: String
  ) throws -> (sha256: Data, byteCount: Int64) {
    // Mapped, so that a large file does not take as much memory.
    let data = try Data(contentsOf: URL(filePath: path), options: .alwaysMapped)
    var digest = SHA256()
    data.withUnsafeBytes { digest.update($0.bindMemory(to: UInt8.self)) }
    return (Data(digest.finish()), Int64(data.count))
  }

  /// The length of a file; nil if there is none.
  private func byteCount(path: String) -> Int64? {
    (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int).map { Int64($0) }
  }

  /// Notes that a file was used now.
  private func touch(path: String) {
    // The folder is a cache: a file whose time cannot be set goes earlier than it might.
    _ = try? FileManager.default.setAttributes([.modificationDate: Date.now], ofItemAtPath: path)
  }

  // MARK: Limits

  /// Whether a file is one of the cache's: another one in the folder is somebody else's.
  private static func isOwn(_ name: String) -> Bool {
    name.hasPrefix(copyPrefix)
      || name.utf8.count == 64 && name.utf8.allSatisfy { Self.digits.contains($0) }
  }

  /// Keeps the folder within its limits, with the files of records that were just read; without such files nothing has come.
  package func trim(
    to limits: AssetCacheLimits,
    now: Date,
    sparingAssetsOf records: [Record]
  ) {
    let paths = records.flatMap(\.assets).map(\.asset.location)
    if paths.isEmpty { return }
    trim(to: limits, now: now, sparing: Set(paths))
  }

  /// Removes the files that were used longest ago until the folder is within its limits.
  ///
  /// - Parameters:
  ///   - limits: How much may stay, and how long.
  ///   - now: What the time is.
  ///   - spared: Files that stay whatever the limits say.
  /// - Returns: How many files were removed.
  @discardableResult
  package func trim(
    to limits: AssetCacheLimits,
    now: Date,
    sparing spared: Set<String>
  ) -> Int {
    let manager = FileManager.default
    // Without a folder there is nothing to remove.
    guard let names = try? manager.contentsOfDirectory(atPath: folder) else { return 0 }
    var files: [(path: String, used: Date, byteCount: Int64)] = []
    for name in names.sorted() where Self.isOwn(name) {
      let path = "\(folder)/\(name)"
      guard let facts = try? manager.attributesOfItem(atPath: path),
        let used = facts[.modificationDate] as? Date, let byteCount = facts[.size] as? Int
      else { continue }
      files.append((path, used, Int64(byteCount)))
    }
    files.sort { $0.used < $1.used }
    var total = files.reduce(0) { $0 + $1.byteCount }
    var count = 0
    for file in files where !spared.contains(file.path) {
      let age = now.timeIntervalSince(file.used)
      guard total > limits.byteCount || age > limits.seconds else { continue }
      guard (try? manager.removeItem(atPath: file.path)) != nil else { continue }
      total -= file.byteCount
      count += 1
    }
    return count
  }
}
