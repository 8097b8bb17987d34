import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

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
  /// Where the cloud keeps large values.
  private let folder: CloudAssetFolder
  /// Whether the cloud was moved, copied or put back without them.
  private let lacksAssets: Bool
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
      isRehearsal: isRehearsal,
      remedy:
        "“cloudsync sync DATABASE --cloud \(path.argument) --rescan” stores it again from a copy"
        + " that has the row"
    )
    if !request.creates {
      try checkAssets(
        orElse:
          "add --create to the sync of a copy that has its rows: what that one has of them is stored again, and"
          + " what others have by their sync with --rescan"
      )
    } else if lacksAssets, !isRehearsal {
      try folder.make()
    }
  }

  /// Opens the file, or makes it.
  ///
  /// - Parameters:
  ///   - path: Which file it is.
  ///   - device: Who asks.
  ///   - zoneID: Which zone it is about.
  ///   - isRehearsal: Whether nothing is to be written: a missing file is not made.
  ///   - remedy: What brings back a large value that is lost.
  /// - Throws: What is wrong with the file, and what to do.
  init(
    _ path: String,
    device: String,
    zoneID: ZoneID,
    isRehearsal: Bool = false,
    remedy: String
  ) throws {
    name = path
    self.zoneID = zoneID
    var options = LocalCloudOptions()
    // A number of its own tells one cloud from another by its tokens.
    options.seed = SyncEnvironment.live.nonce()
    let store: any LocalCloudStore
    if Self.isMissing(path), isRehearsal {
      store = MemoryStore()
    } else {
      // SQLite would open it to be read, and leave files beside it that cannot be written later either.
      if !isRehearsal, !Self.isMissing(path) { try Self.checkAccess(to: path) }
      let file = try SQLiteStore(path: path)
      OpenClouds.note(file, at: path)
      store = file
    }
    let place = (SamePath.resolved(path: path) ?? path) + "-assets"
    cloud = LocalCloud(store: store, options: options, assetFolder: place)
    folder = CloudAssetFolder(
      path: place,
      ofAccount: cloud.assetFolder(of: Self.account),
      cloud: name,
      remedy: remedy
    )
    lacksAssets = folder.isThere ? false : try cloud.hasKeptAssets(of: Self.account)
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
    options.read = { [folder = self.folder] in try folder.read($0) }
    options.absence = { [folder = self.folder] in folder.absence(of: $0) }
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

  func checkAccess() throws { try Self.checkAccess(to: name) }

  private static func checkAccess(to path: String) throws {
    // Asked once for each: what another process has just removed is there no more, and hinders nobody.
    for file in [path, path + "-wal", path + "-shm"]
    where access(file, W_OK) != 0 && errno != ENOENT {
      throw ToolError.failure("\(file): it cannot be written; check its permissions")
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

// MARK: Large values

extension CloudFile {
  /// Throws if the cloud was moved, copied or put back without its large values: rows would be parked that need them.
  ///
  /// - Parameter way: What to do if they are lost.
  /// - Throws: What is missing, and what to do.
  func checkAssets(orElse way: String) throws {
    guard lacksAssets else { return }
    throw ToolError.failure(
      "\(name): \(folder.absence): move, copy or rename that folder too. If it is lost \(way)"
    )
  }

  func restoreAssets(
    from database: DatabaseFile,
    tables: [String],
    isAsked: Bool,
    console: Console
  ) throws {
    guard isAsked || lacksAssets else { return }
    let missing = try cloud.missingAssets(of: Self.account)
    if missing.isEmpty { return }
    let open = Locked(Set(missing.map(\.sha256)))
    let cloud = cloud
    try LargeValues(sizes: missing.map(\.byteCount), tables: tables)
      .forEach(in: database) { bytes in
        let digest = Data(SHA256.digest(of: bytes))
        guard open.withLock({ $0.remove(digest) }) != nil else { return }
        _ = try cloud.keepAsset(bytes: bytes, account: Self.account, replacing: true)
      }
    let left = open.withLock { $0 }
    let count = Phrase.count(missing.count, "large value")
    let rest =
      left.isEmpty
      ? ""
      : "; \(left.count) \(left.count == 1 ? "is" : "are") in none of its rows: sync the other copies with --rescan"
    console.note(
      "\(name): its folder lacked \(count) or had them damaged, and has \(missing.count - left.count) of them from this copy again\(rest)"
    )
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
