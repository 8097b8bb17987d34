import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncTestSupport
import Foundation
import Testing

@Suite("LocalCloud: the files of assets")
struct KeptAssetTests {
  private let folder = ScratchFolder.shared.newPath() + "-files"
  private let cloud: LocalCloud

  init() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    cloud = LocalCloud(assetFolder: folder + "/cloud")
  }

  private func device(_ account: AccountIdentity = CloudWorld.alice) throws -> Device {
    let connection = cloud.connect(device: "phone", account: account, zoneID: CloudWorld.zoneID)
    let device = Device(connection: connection, world: try CloudWorld())
    _ = try device.createZone().get()
    return device
  }

  /// A file, and the asset that it is.
  private func asset(_ bytes: [UInt8], named name: String = "file") throws -> Asset {
    let path = "\(folder)/\(name)"
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let digest = Data(SHA256.digest(of: bytes))
    return Asset(sha256: digest, byteCount: Int64(bytes.count), location: path)
  }

  private func kept(_ account: AccountIdentity = CloudWorld.alice) -> [String] {
    let path = cloud.assetFolder(of: account) ?? ""
    return (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
  }

  @Test("3. Bytes that are not those of the digest, or not so many, are refused; no file stays")
  func wrongBytes() throws {
    let device = try device()
    let asset = try asset([1, 2, 3])
    for wrong in [
      Asset(sha256: Data(repeating: 9, count: 32), byteCount: 3, location: asset.location),
      Asset(sha256: asset.sha256, byteCount: 4, location: asset.location),
      Asset(sha256: asset.sha256, byteCount: 2, location: asset.location),
    ] {
      let result = device.modify([device.note("a", ["file": .asset(wrong)])])
      #expect(result.itemCodes == ["a": .invalidArguments])
    }
    #expect(kept() == [])
    #expect(try cloud.records(account: CloudWorld.alice, zone: CloudWorld.zoneID) == [])
  }

  @Test("3. Naming the digest of a stranger's file gives no bytes")
  func stranger() throws {
    let alice = try device()
    let asset = try asset([1, 2, 3])
    try alice.save(alice.note("a", ["file": .asset(asset)]))
    let bob = try device(CloudWorld.bob)
    let guess = Asset(sha256: asset.sha256, byteCount: 3, location: "")

    let result = bob.modify([bob.note("a", ["file": .asset(guess)])])

    #expect(result.itemCodes == ["a": .assetFileNotFound])
    #expect(kept().count == 1 && kept(CloudWorld.bob) == [])
    // The owner need not send the bytes again.
    try alice.save(alice.note("b", ["file": .asset(guess)]))
  }

  @Test("4. A file in a list is kept, and comes back whole")
  func lists() throws {
    let device = try device()
    let assets = [try asset([1, 2], named: "one"), try asset([], named: "none")]
    try device.save(device.note("a", ["files": .list(assets.map { .asset($0) })]))
    try FileManager.default.removeItem(atPath: assets[0].location)

    let record = try device.fetch().get().changedRecords.first
    guard case .list(let values)? = record?["files"] else {
      Issue.record("\(String(describing: record))")
      return
    }
    let bytes = try values.map { value -> [UInt8] in
      guard case .asset(let asset) = value else { return [0xff] }
      return Array(try Data(contentsOf: URL(fileURLWithPath: asset.location)))
    }
    #expect(bytes == [[1, 2], []])
  }

  @Test(
    "A store that is moved with its folder says where its files are now; without it, that they are missing"
  )
  func moved() throws {
    let old = folder + "/old"
    let new = folder + "/new"
    try FileManager.default.createDirectory(atPath: old, withIntermediateDirectories: true)
    func open(_ place: String) throws -> (LocalCloud, Device) {
      let store = try SQLiteStore(path: place + "/cloud")
      let cloud = LocalCloud(store: store, assetFolder: place + "/files")
      let connection = cloud.connect(
        device: "phone",
        account: CloudWorld.alice,
        zoneID: CloudWorld.zoneID
      )
      return (cloud, Device(connection: connection, world: try CloudWorld()))
    }
    func location(_ device: Device) throws -> String? {
      let files = try device.fetch().get().changedRecords.compactMap { $0["file"] }
      guard case .asset(let asset)? = files.first else { return nil }
      return asset.location
    }
    do {
      let (cloud, device) = try open(old)
      _ = try device.createZone().get()
      try device.save(device.note("b"))
      #expect(try !cloud.hasKeptAssets(of: CloudWorld.alice))
      try device.save(device.note("a", ["file": .asset(try asset([1, 2, 3]))]))
      #expect(try cloud.hasKeptAssets(of: CloudWorld.alice))
    }
    try FileManager.default.moveItem(atPath: old, toPath: new)
    let (cloud, device) = try open(new)
    let place = try #require(try location(device))
    #expect(place.hasPrefix(new + "/files/") && FileManager.default.fileExists(atPath: place))
    #expect(try cloud.missingAssets(of: CloudWorld.alice) == [])
    try FileManager.default.removeItem(atPath: new + "/files")
    #expect(try cloud.missingAssets(of: CloudWorld.alice).map(\.byteCount) == [3])
    #expect(try location(device)?.hasPrefix(new + "/files/") == true)
    #expect(try cloud.hasKeptAssets(of: CloudWorld.alice))
  }

  @Test(
    "A file that was cut short is made whole by the next save, one with other bytes if it is asked for"
  )
  func damaged() throws {
    let cloud = LocalCloud(store: MemoryStore(), assetFolder: folder + "/cloud")
    let connection = cloud.connect(
      device: "phone",
      account: CloudWorld.alice,
      zoneID: CloudWorld.zoneID
    )
    let device = Device(connection: connection, world: try CloudWorld())
    _ = try device.createZone().get()
    let bytes: [UInt8] = [1, 2, 3]
    let asset = try asset(bytes)
    let saved = try device.save(device.note("a", ["file": .asset(asset)]))
    guard case .asset(let kept)? = saved[0]["file"] else {
      Issue.record("\(saved)")
      return
    }
    let file = URL(fileURLWithPath: kept.location)
    try Data([1]).write(to: file)
    #expect(try cloud.missingAssets(of: CloudWorld.alice).map(\.byteCount) == [3])
    try device.save(device.note("b", ["file": .asset(asset)]))
    #expect(try Data(contentsOf: file) == Data(bytes))

    try Data([1, 2, 4]).write(to: file)
    #expect(try cloud.missingAssets(of: CloudWorld.alice).map(\.byteCount) == [3])
    _ = try cloud.keepAsset(bytes: bytes, account: CloudWorld.alice, replacing: true)
    #expect(try Data(contentsOf: file) == Data(bytes))
    #expect(try cloud.missingAssets(of: CloudWorld.alice).isEmpty)
  }

  @Test("4. A file of several pieces is copied whole")
  func large() throws {
    let bytes = (0..<200_001).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let device = try device()
    let asset = try asset(bytes)
    let saved = try device.save(device.note("a", ["file": .asset(asset)]))

    guard case .asset(let kept)? = saved[0]["file"] else {
      Issue.record("\(saved)")
      return
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: kept.location)) == Data(bytes))
    #expect(kept.location.hasPrefix(folder + "/cloud/"))
  }

  @Test("What is no file is not opened: a pipe, a folder, a path that does not begin at the root")
  func noFiles() throws {
    let device = try device()
    let pipe = "\(folder)/pipe"
    #expect(mkfifo(pipe, 0o600) == 0)
    for location in [pipe, folder, "file", "", "/dev/zero", "\(folder)/missing"] {
      let asset = Asset(sha256: Data(repeating: 1, count: 32), byteCount: 9, location: location)
      let result = device.modify([device.note("a", ["file": .asset(asset)])])
      #expect(result.itemCodes == ["a": .assetFileNotFound], "\(location)")
      #expect(result.error.map { !"\($0)".contains(folder) } ?? true)
    }
  }

  @Test("A file that is missing fails its record only, where requests are not atomic")
  func partial() throws {
    let device = try device()
    cloud.options.isAtomic = false
    let asset = Asset(sha256: Data(repeating: 1, count: 32), byteCount: 9, location: "/none")

    let result = device.modify([device.note("a", ["file": .asset(asset)]), device.note("b")])

    #expect(result.itemCodes == ["a": .assetFileNotFound])
    #expect(try result.get().savedRecords.map(\.recordID.name) == ["b"])
  }

  /// Sets when a file of the account was last looked for.
  private func age(_ name: String, by seconds: Double) throws {
    let path = "\(cloud.assetFolder(of: CloudWorld.alice) ?? "")/\(name)"
    let facts = try FileManager.default.attributesOfItem(atPath: path)
    let date = try #require(facts[.modificationDate] as? Date).addingTimeInterval(-seconds)
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
  }

  @Test("Files that no record has go after a day: of uploads, of replaced and of deleted records")
  func unused() throws {
    let device = try device()
    let names = try (0..<5)
      .map { number -> String in
        let bytes = [UInt8](repeating: UInt8(number), count: 3)
        _ = try cloud.keepAsset(bytes: bytes, account: CloudWorld.alice)
        return SHA256.digest(of: bytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
          .joined()
      }
    func kept(_ number: Int) -> Asset {
      let bytes = [UInt8](repeating: UInt8(number), count: 3)
      return Asset(sha256: Data(SHA256.digest(of: bytes)), byteCount: 3, location: "")
    }
    var saved = try device.save(device.note("a", ["file": .asset(kept(0))]))[0]
    saved = try device.save(device.note("a", ["file": .asset(kept(1))], tag: saved.changeTag))[0]
    try device.save(device.note("b", ["files": .list([.asset(kept(2))])]))
    try device.save(device.note("c", ["file": .asset(kept(3))]))
    _ = try device.modify(delete: ["c"]).get()
    try "torn"
      .write(
        toFile: "\(cloud.assetFolder(of: CloudWorld.alice) ?? "")/\(names[4]).a1B2c3",
        atomically: false,
        encoding: .utf8
      )
    #expect(try cloud.removeUnusedAssets() == 0)
    for name in self.kept() { try age(name, by: 90_000) }
    // Somebody uploads the last one again before its record is saved.
    _ = try cloud.keepAsset(bytes: [4, 4, 4], account: CloudWorld.alice)

    #expect(try cloud.removeUnusedAssets() == 3)

    #expect(self.kept().sorted() == [names[1], names[2], names[4]].sorted())
    try device.save(device.note("d", ["file": .asset(kept(4))]))
    #expect(
      device.modify([device.note("e", ["file": .asset(kept(0))])]).itemCodes == [
        "e": .assetFileNotFound
      ]
    )
    #expect(saved.changeTag != nil)
  }

  @Test("Files of an account that has never saved anything go too; other accounts' stay")
  func unusedOfNobody() throws {
    _ = try cloud.keepAsset(bytes: [1], account: CloudWorld.alice)
    let bob = try device(CloudWorld.bob)
    let file = try asset([2])
    try bob.save(bob.note("a", ["file": .asset(file)]))
    for name in kept() { try age(name, by: 90_000) }
    #expect(try cloud.removeUnusedAssets(unusedFor: .seconds(100_000)) == 0)
    #expect(try cloud.removeUnusedAssets() == 1)
    #expect(kept() == [] && kept(CloudWorld.bob).count == 1)
  }

  @Test("A digest that is computed in pieces is that of the whole")
  func digests() {
    let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    for count in [0, 1, 55, 56, 63, 64, 65, 119, 128, 1_000] {
      for step in [1, 63, 64, 65, 200] {
        var digest = SHA256()
        for start in stride(from: 0, to: count, by: step) {
          bytes[start..<min(start + step, count)].withUnsafeBufferPointer { digest.update($0) }
        }
        #expect(digest.finish() == SHA256.digest(of: Array(bytes[..<count])))
      }
    }
  }
}
