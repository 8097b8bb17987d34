public import CloudSyncLocalCloud
public import CloudSyncSession
import Foundation

/// A cloud in memory, with a folder for files, and the devices of its accounts.
public final class StubWorld: Sendable {
  /// The name of the zone that the tests use.
  public static let zoneName = "Notes"
  /// That zone.
  public static let zoneID = ZoneID(name: zoneName)
  /// Whose zone it is.
  public static let alice = AccountIdentity("alice")

  /// The server.
  public let cloud: LocalCloud
  /// A folder that goes away with the world.
  public let folder: String

  /// Makes a world.
  ///
  /// - Parameters:
  ///   - now: The server's clock.
  ///   - change: Sets the server's options.
  public init(
    now: @escaping @Sendable () -> Timestamp = SyncEnvironment.live.now,
    options change: (inout LocalCloudOptions) -> Void = { _ in }
  ) {
    folder = "\(FileManager.default.temporaryDirectory.path)/cloudsync-stub-\(StubNames.name())"
    var options = LocalCloudOptions()
    change(&options)
    cloud = LocalCloud(options: options, assetFolder: folder + "/server", now: now)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// A device's CloudKit.
  public func stub(
    _ device: String,
    account: AccountIdentity = StubWorld.alice,
    ways: StubWays = StubWays(),
    executor: SyncExecutor = .immediate
  ) -> StubCloud {
    StubCloud(
      cloud: cloud,
      account: account,
      device: device,
      staging: "\(folder)/staging-\(device)",
      ways: ways,
      executor: executor
    )
  }

  /// Writes a file, and returns its path.
  public func file(_ name: String, _ bytes: [UInt8]) throws -> String {
    let path = "\(folder)/\(name)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data(bytes).write(to: URL(filePath: path))
    return path
  }

  /// What the server has under a name.
  public func record(_ name: String, account: AccountIdentity = StubWorld.alice) throws -> Record? {
    try cloud.records(account: account, zone: Self.zoneID).first { $0.recordID.name == name }
  }
}
