import CloudSyncAssets
import CloudSyncCore
import Foundation
import Testing

@Suite("AssetCache")
final class AssetCacheTests {
  private static let serial = Locked(0)
  private let folder: String
  private let cache: AssetCache

  init() throws {
    let number = Self.serial.withLock { serial in
      serial += 1
      return serial
    }
    let process = ProcessInfo.processInfo.processIdentifier
    folder =
      FileManager.default.temporaryDirectory.path + "/cloudsync-asset-cache-\(process)-\(number)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    cache = AssetCache(folder: folder + "/cache")
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private func file(_ name: String, _ bytes: [UInt8]) throws -> String {
    let path = "\(folder)/\(name)"
    try Data(bytes).write(to: URL(filePath: path))
    return path
  }

  @Test("A copy has the digest of what it holds, and stays when the file goes away")
  func copyStays() throws {
    let path = try file("a", [1, 2, 3])

    let asset = try cache.keep(copyOf: path)
    try FileManager.default.removeItem(atPath: path)

    #expect([UInt8](asset.sha256) == SHA256.digest(of: [1, 2, 3]))
    #expect(asset.byteCount == 3)
    #expect(try Data(contentsOf: URL(filePath: asset.location)) == Data([1, 2, 3]))
  }

  @Test("Files of the same bytes are one file")
  func sameBytesOnce() throws {
    let first = try cache.keep(copyOf: file("a", [7]))
    let second = try cache.keep(copyOf: file("b", [7]))

    #expect(first == second)
    #expect(try FileManager.default.contentsOfDirectory(atPath: cache.folder).count == 1)
  }

  @Test("A file that is missing is an error that names it, and leaves nothing behind")
  func missingFile() throws {
    let path = folder + "/none"

    let error = #expect(throws: AssetCacheError.self) { try self.cache.keep(copyOf: path) }

    #expect(error?.path == path)
    #expect(try FileManager.default.contentsOfDirectory(atPath: cache.folder).isEmpty)
  }

  @Test("The files that were used longest ago go first, and only as many as have to")
  func trimsOldest() throws {
    let assets = try (1...4).map { try cache.keep(copyOf: file("\($0)", [UInt8($0), 0])) }
    let start = Date(timeIntervalSince1970: 1_700_000_000)
    for (index, asset) in assets.enumerated() {
      let date = start.addingTimeInterval(Double(index))
      try FileManager.default.setAttributes(
        [.modificationDate: date],
        ofItemAtPath: asset.location
      )
    }

    let limits = AssetCacheLimits(byteCount: 4)
    let count = cache.trim(
      to: limits,
      now: start.addingTimeInterval(10),
      sparing: [assets[0].location]
    )

    #expect(count == 2)
    #expect(assets.map { cache.found($0) != nil } == [true, false, false, true])
  }

  @Test("A file that was not used for long goes although there is room")
  func trimsByAge() throws {
    let asset = try cache.keep(copyOf: file("a", [1]))
    let start = Date(timeIntervalSince1970: 1_700_000_000)
    try FileManager.default.setAttributes([.modificationDate: start], ofItemAtPath: asset.location)
    let limits = AssetCacheLimits()

    #expect(cache.trim(to: limits, now: start.addingTimeInterval(604_800), sparing: []) == 0)
    #expect(cache.trim(to: limits, now: start.addingTimeInterval(604_801), sparing: []) == 1)
    #expect(cache.found(asset) == nil)
  }

  @Test("A cache without a folder has nothing to remove")
  func noFolder() {
    let start = Date(timeIntervalSince1970: 1_700_000_000)

    #expect(cache.trim(to: AssetCacheLimits(), now: start, sparing: []) == 0)
  }
}
