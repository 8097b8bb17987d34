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
  private let cloud: LocalCloud
  private let zoneID: ZoneID

  /// All copies belong to one user.
  private static let account = AccountIdentity("owner")

  /// Opens the file for a copy of a database.
  ///
  /// - Parameters:
  ///   - path: Which file it is.
  ///   - request: Who asks, and whether a missing cloud is created.
  ///   - isRehearsal: Whether nothing is to be written: a missing file is not made.
  /// - Throws: What is wrong with the file, and what to do.
  init(_ path: String, for request: SyncCommand.Request, isRehearsal: Bool = false) throws {
    if Self.isMissing(path) { try Self.checkCreation(of: path, for: request) }
    try self.init(
      path,
      device: request.device,
      zoneID: request.zoneID,
      isRehearsal: isRehearsal
    )
  }

  /// Opens the file, or makes it.
  ///
  /// - Parameters:
  ///   - path: Which file it is.
  ///   - device: Who asks.
  ///   - zoneID: Which zone it is about.
  ///   - isRehearsal: Whether nothing is to be written: a missing file is not made.
  /// - Throws: What is wrong with the file, and what to do.
  init(_ path: String, device: String, zoneID: ZoneID, isRehearsal: Bool = false) throws {
    name = path
    self.zoneID = zoneID
    var options = LocalCloudOptions()
    // A number of its own tells one cloud from another by its tokens.
    options.seed = SyncEnvironment.live.nonce()
    let store: any LocalCloudStore =
      Self.isMissing(path) && isRehearsal ? MemoryStore() : try SQLiteStore(path: path)
    let folder = (SamePath.resolved(path: path) ?? path) + "-assets"
    cloud = LocalCloud(store: store, options: options, assetFolder: folder)
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

  func zoneNames(console: Console) throws -> [String] {
    try cloud.zones(account: Self.account).map(\.name)
  }

  func relation(
    to place: SyncPlace?,
    isAttaching: Bool,
    of path: String,
    console: Console
  ) throws -> CloudRelation {
    guard case .failure(let error)? = fetch(from: place) else { return .same }
    return CloudRelation(error)
  }

  /// From now on every copy that has seen what the backup lacks is told so, even when others have written since.
  ///
  /// Where another copy has seen to it already, nothing is done: its rows would seem lost once more.
  func renewHistory(after token: ChangeToken?) throws {
    guard let token, try cloud.isBehind(token, account: Self.account, zone: zoneID) else { return }
    try cloud.renew()
  }

  func checkAccess() throws {
    guard FileManager.default.isWritableFile(atPath: name) else {
      throw ToolError.failure("\(name): it cannot be written; check its permissions")
    }
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
      throw ToolError.failure(
        "\(path): the file was removed or replaced; “cloudsync sync” without --watch tells what can be done"
      )
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

// MARK: What is created

extension CloudFile {
  /// Whether there is no cloud at a path: no file, or one without any content.
  static func isMissing(_ path: String) -> Bool {
    SamePath.Identity(path: path) == nil || SamePath.isEmpty(path)
  }

  /// Throws unless a cloud may be created at a path.
  private static func checkCreation(of path: String, for request: SyncCommand.Request) throws {
    // Whoever has synced a page has rows that a new cloud would lack.
    if request.place?.token != nil, !request.isAttaching, let what = absence(at: path) {
      throw ToolError.failure(
        missing(path, as: what, syncedBy: request.path)
          + "create the cloud anew from this copy with “\(attachCommand(for: request)) --create”"
      )
    }
    try checkPresence(of: path, creates: request.creates)
  }

  /// Throws if there is no cloud at a path, and none may be created there.
  ///
  /// - Parameters:
  ///   - path: Which file it is.
  ///   - creates: Whether a missing one is to be created; nil where the command only reads one.
  /// - Throws: What is missing, and what may have been meant.
  static func checkPresence(of path: String, creates: Bool?) throws {
    guard creates != true, let what = absence(at: path) else { return }
    let hint = SamePath.Identity(path: path) == nil ? suggestion(for: path) : ""
    let advice =
      creates == nil
      ? hint : (hint.isEmpty ? "; add" : "\(hint) Otherwise add") + " --create to create it"
    throw ToolError.failure("\(path): \(what)\(advice)")
  }

  /// The beginning of an error of a database that was synced with a cloud of which there is no trace: that the right
  /// one may be another file comes first, since a new one lacks what the others have sent.
  ///
  /// - Parameters:
  ///   - path: Where the cloud is looked for.
  ///   - what: What is there.
  ///   - database: The database.
  /// - Returns: The error, up to another way out.
  static func missing(_ path: String, as what: String, syncedBy database: String) -> String {
    let hint = suggestion(for: path)
    return "\(path): \(what), and \(database) was synced with one"
      + (hint.isEmpty
        ? "; put the right file back, or " : "\(hint) Otherwise put the right file back, or ")
  }

  /// What there is at a path where no cloud is.
  static func absence(at path: String) -> String? {
    guard isMissing(path) else { return nil }
    return SamePath.Identity(path: path) != nil ? "the file is empty" : "there is no such cloud"
  }

  /// The cloud beside a path that may have been meant.
  private static func suggestion(for path: String) -> String {
    Suggestion.text(
      for: SamePath.name(of: path),
      among: SamePath.neighbours(of: path, ending: ".cloud")
        .filter { $0 != SamePath.name(of: path) }
    )
  }
}
