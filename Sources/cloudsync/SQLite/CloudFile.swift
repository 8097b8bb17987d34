import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The cloud of `cloudsync sync`: a file that any number of processes may use.
struct CloudFile: CloudPlace {
  let name: String
  let handler: any OperationHandler
  let account: AccountStatusProvider? = nil
  /// Where the cloud keeps large BLOBs, beside its file: the owner's folder, and the one in which earlier
  /// versions kept them.
  private let assetFolders: [String]

  /// All copies belong to one user.
  private static let account = AccountIdentity("owner")

  /// Opens the file.
  ///
  /// - Parameters:
  ///   - path: Which file it is.
  ///   - device: Who asks.
  ///   - zoneID: Which zone it is about.
  ///   - isRehearsal: Whether nothing is to be written: a missing file is not made.
  /// - Throws: What is wrong with the file, and what to do.
  init(_ path: String, device: String, zoneID: ZoneID, isRehearsal: Bool = false) throws {
    name = path
    var options = LocalCloudOptions()
    // A number of its own tells one cloud from another by its tokens.
    options.seed = SyncEnvironment.live.nonce()
    let isMissing = SamePath.Identity(path: path) == nil
    let store: any LocalCloudStore =
      isMissing && isRehearsal ? MemoryStore() : try SQLiteStore(path: path)
    let folder = (SamePath.resolved(path: path) ?? path) + "-assets"
    let cloud = LocalCloud(store: store, options: options, assetFolder: folder)
    assetFolders = [cloud.assetFolder(of: Self.account) ?? folder, folder]
    handler = cloud.connect(
      device: device,
      account: Self.account,
      zoneID: zoneID
    )
  }

  /// How large BLOBs travel.
  ///
  /// Those that come are looked for beside the cloud's file, whatever path another machine has to it.
  func assets(stagedIn folder: String) -> AssetOptions {
    var options = AssetOptions(folder: folder)
    options.read = { [assetFolders] asset in
      let name = Hexadecimal.text(of: asset.sha256)
      let paths = assetFolders.map { "\($0)/\(name)" }
      let path = paths.first { FileManager.default.fileExists(atPath: $0) } ?? paths[0]
      return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }
    return options
  }

  /// Throws if a database belongs to another cloud.
  func check(_ place: SyncPlace?, of path: String, console: Console) throws {
    guard let token = place?.token, case .failure(let error) = fetch(after: token),
      error.code == .invalidArguments
    else { return }
    throw isForeign(path)
  }

  /// Looks at the file's number of changes now and then.
  func changes(every interval: Duration) throws -> any CloudChanges {
    try CloudFileChanges(path: name, interval: interval)
  }
}

/// Notices changes by a number that SQLite keeps.
private struct CloudFileChanges: CloudChanges {
  let problem: String? = nil
  private let path: String
  private let interval: Duration
  private let database: DatabaseFile
  private let identity: SamePath.Identity?
  private let clock = ContinuousClock()
  private var nextLook: ContinuousClock.Instant
  private var lastVersion: Int64?

  init(path: String, interval: Duration) throws {
    self.path = path
    self.interval = interval
    database = try DatabaseFile(path: path, access: .readOnly)
    identity = SamePath.Identity(path: path)
    nextLook = clock.now
  }

  mutating func haveCome() throws -> Bool {
    guard clock.now >= nextLook else { return false }
    nextLook = clock.now + interval
    guard SamePath.Identity(path: path) == identity else {
      throw ToolError.failure("\(path): the file was removed or replaced")
    }
    let version = try database.versionUnlessLocked()
    defer { lastVersion = version }
    return version == nil || version != lastVersion
  }
}

extension DatabaseFile {
  /// A number that changes with a database; nil while somebody keeps it locked.
  func versionUnlessLocked() throws(SyncEngineError) -> Int64? {
    do throws(SyncEngineError) { return try dataVersion() } catch {
      guard error.code == .busy else { throw error }
      return nil
    }
  }
}
