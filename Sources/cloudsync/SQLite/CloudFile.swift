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
struct CloudFile {
  private let request: SyncCommand.Request
  let connection: LocalCloudConnection
  /// Where the cloud keeps large BLOBs, beside its file: the owner's folder, and the one in which earlier
  /// versions kept them.
  private let assetFolders: [String]

  /// All copies belong to one user.
  private static let account = AccountIdentity("owner")

  /// Opens the file.
  ///
  /// - Parameters:
  ///   - request: Which file it is, and whose.
  ///   - isRehearsal: Whether nothing is to be written: a missing file is not made.
  /// - Throws: What is wrong with the file, and what to do.
  init(_ request: SyncCommand.Request, isRehearsal: Bool = false) throws {
    self.request = request
    var options = LocalCloudOptions()
    // A number of its own tells one cloud from another by its tokens.
    options.seed = SyncEnvironment.live.nonce()
    let isMissing = SamePath.Identity(path: request.cloud) == nil
    let store: any LocalCloudStore =
      isMissing && isRehearsal ? MemoryStore() : try SQLiteStore(path: request.cloud)
    let folder = (SamePath.resolved(path: request.cloud) ?? request.cloud) + "-assets"
    let cloud = LocalCloud(store: store, options: options, assetFolder: folder)
    assetFolders = [cloud.assetFolder(of: Self.account) ?? folder, folder]
    connection = cloud.connect(
      device: request.device,
      account: Self.account,
      zoneID: request.zoneID
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

  /// Throws if a database belongs to another cloud, so that nothing is mixed.
  func check(database: DatabaseFile) throws {
    guard let place = try SyncEngine.place(in: database) else { return }
    guard place.zoneID == request.zoneID else {
      throw ToolError.failure(
        "\(request.path): it was synchronized with the zone “\(place.zoneID.name)”, not"
          + " “\(request.zoneID.name)”; leave --zone out, or begin anew after “cloudsync detach"
          + " \(request.path)”"
      )
    }
    guard let token = place.token else { return }
    let context = RequestContext(
      attempt: Attempt(epoch: 0, number: 0),
      writeToken: WriteToken(nonce: 0, number: 0),
      deadline: SyncEnvironment.live.now()
    )
    let isForeign = Locked(false)
    // It answers before the call returns.
    connection.handle(fetchOperation: FetchOperation(changeToken: token), context: context) {
      if case .failure(let error) = $0, error.code == .invalidArguments {
        isForeign.withLock { $0 = true }
      }
    }
    guard isForeign.withLock({ $0 }) else { return }
    throw ToolError.failure(
      "\(request.path): it was synchronized with another cloud than \(request.cloud); name that one, or"
        + " begin anew after “cloudsync detach \(request.path)”"
    )
  }
}
