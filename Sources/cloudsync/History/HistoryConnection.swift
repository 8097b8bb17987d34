import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite

/// A history and its cloud: which one it is, and whether it is the right one.
enum HistoryConnection {
  /// The option that joins another cloud.
  static let attach = Command.Option(
    name: "--attach",
    help: "join another cloud than before: both get each other's commits"
  )

  private static func name(target: HistoryTarget) throws -> String {
    guard let name = target.arguments.value(of: "--cloud") else {
      throw ToolError.usage("name the cloud with --cloud FILE, or --cloud https://…")
    }
    guard name.contains(where: { !$0.isWhitespace }) else {
      throw ToolError.usage("--cloud is empty: name the cloud's file")
    }
    return name
  }

  /// The zone that is named, or the one that the history was synced with.
  private static func zone(
    target: HistoryTarget,
    _ repository: ChangesetRepository
  ) throws -> ZoneID {
    let known = try repository.zoneName()
    let name = try target.arguments.zoneName() ?? known ?? "History"
    if let known, known != name {
      throw ToolError.failure(
        "\(target.path): it was synced with the zone “\(known)”, not “\(name)”; leave --zone out"
      )
    }
    return ZoneID(name: name)
  }

  /// Opens the cloud that is named, in which the zone is, or is to be created.
  ///
  /// - Parameters:
  ///   - target: What the command line says.
  ///   - zoneID: The history's zone.
  ///   - creates: Whether a missing cloud or zone is created; nil where the command has nothing to send.
  /// - Returns: The cloud.
  /// - Throws: What is missing.
  static func place(
    target: HistoryTarget,
    zoneID: ZoneID,
    creates: Bool?
  ) throws -> any CloudPlace {
    let cloud = try open(target: target, zoneID: zoneID, creates: creates)
    try cloud.checkZone(zoneID, creates: creates, console: target.console)
    return cloud
  }

  private static func open(
    target: HistoryTarget,
    zoneID: ZoneID,
    creates: Bool?
  ) throws -> any CloudPlace {
    let cloud = try name(target: target)
    if let server = try ServerPlace.named(by: cloud, in: target.arguments) {
      return try CloudServer(
        server,
        named: cloud,
        zoneID: zoneID,
        receivingIn: receivedFolder(of: target)
      )
    }
    if SamePath.isSame(target.path, as: cloud) {
      throw ToolError.usage("\(cloud) is the database itself; name another file for the cloud")
    }
    try CloudFile.checkPresence(of: cloud, creates: creates)
    let way =
      "begin another cloud from a copy that has the history: “cloudsync history sync COPY --cloud CLOUD --create --attach”"
    let file = try CloudFile(
      cloud,
      device: try SyncCommand.device(arguments: target.arguments, path: target.path),
      zoneID: zoneID,
      remedy: way
    )
    try file.checkAssets(orElse: way)
    return file
  }

  /// Opens the cloud that a history was synced with; throws if it is another one, and then nothing is changed.
  ///
  /// - Parameters:
  ///   - target: What the command line says.
  ///   - zoneID: The history's zone.
  ///   - token: Where the history's next fetch begins.
  ///   - creates: Whether a missing zone is created; nil where the command has nothing to send.
  /// - Returns: The cloud.
  /// - Throws: What is missing, or that it is another one.
  private static func place(
    target: HistoryTarget,
    zoneID: ZoneID,
    knownBy token: ChangeToken,
    creates: Bool?
  ) throws -> any CloudPlace {
    let cloud = try name(target: target)
    let way = "“cloudsync history sync \(target.path.argument) --cloud \(cloud.argument) --attach"
    if !ServerPlace.isAddress(cloud), let what = CloudFile.absence(at: cloud) {
      throw ToolError.failure(
        CloudFile.missing(cloud, as: what, syncedBy: target.path)
          + "create the cloud anew from this copy with \(way) --create”"
      )
    }
    let place = try open(target: target, zoneID: zoneID, creates: creates)
    let relation = try place.relation(
      to: SyncPlace(zoneID: zoneID, owner: nil, token: token, historyTokens: []),
      isAttaching: false,
      of: target.path,
      console: target.console
    )
    if relation == .other {
      throw ToolError.failure(
        "\(target.path): it was synced with another cloud than \(cloud); name that one, or join this one"
          + " with \(way)”, which loses no commit"
      )
    }
    try place.checkZone(zoneID, creates: creates, console: target.console)
    return place
  }

  /// Throws if tables have keys that copies would give to rows of their own, before anything is created.
  private static func checkKeys(target: HistoryTarget, _ repository: ChangesetRepository) throws {
    if let reason = try repository.computedKeyReason() {
      throw ToolError.failure("\(target.path): \(reason)")
    }
    let tables = try repository.tablesWithIntegerKeys()
    guard let reason = integerKeyReason(tables) else { return }
    throw ToolError.failure(
      "\(target.path): \(reason); add --unique-integer-keys \(tables.joined(separator: ",")) if only one copy"
        + " inserts rows, or \(keyMigration(of: target.path))"
    )
  }

  /// The commands that give the rows of a database with a history keys of their own.
  static func keyMigration(of path: String) -> String {
    "remove the history with “cloudsync history remove \(path.argument)”, migrate the keys with “cloudsync migrate"
      + " \(path.argument) --all”, and begin a history again"
  }

  /// Why integer keys of tables are in the way; nil if there are none.
  static func integerKeyReason(_ tables: [String]) -> String? {
    if tables.isEmpty { return nil }
    let names = tables.map { "“\($0)”" }.joined(separator: ", ")
    let what =
      tables.count == 1
      ? "table \(names) has an integer key" : "tables \(names) have integer keys"
    return "\(what), which two copies would both give to rows of their own"
  }

  /// Brings all that was written into the files themselves: whoever copies one has everything then.
  static func complete(files: [String]) {
    for path in files {
      // While somebody else reads, it is done by the next run.
      let file = try? DatabaseFile(path: path, access: .readWrite)
      try? file?.execute("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)")
    }
  }

  /// Where large commits are on their way.
  static func assetFolder(of target: HistoryTarget) -> String {
    target.path + "-cloudsync-assets"
  }

  private static func receivedFolder(of target: HistoryTarget) -> String {
    assetFolder(of: target) + "/received"
  }

  /// The history; where its tables were changed without it, changes that “gc” has removed can still be fetched again.
  private static func repository(
    target: HistoryTarget,
    options: ChangesetOptions,
    isFetching: Bool
  ) throws -> ChangesetRepository {
    do { return try target.repository(options: options) } catch let error as ChangesetError
      where error.code == .needsMigration && isFetching && target.arguments.has("--everything")
    { return try ChangesetRepository(commitsOf: target.historyDatabase(), options: options) }
  }

  /// Connects a database's history with its cloud.
  ///
  /// - Parameters:
  ///   - target: Whose history it is.
  ///   - creates: Whether a missing cloud is created; nil where the command has nothing to send.
  ///   - body: What is done.
  /// - Returns: What the body gives.
  /// - Throws: What is missing, or what the cloud says.
  static func with<Value: Sendable>(
    target: HistoryTarget,
    creates: Bool?,
    _ body: @escaping @Sendable (ChangesetRemote, ChangesetRepository) async throws -> Value
  ) throws -> Value {
    var options = ChangesetOptions()
    for names in target.arguments.allValues(of: "--unique-integer-keys") {
      for name in names.split(separator: ",") {
        options.tables[String(name)] = .init(hasUniqueIntegerKeys: true)
      }
    }
    let repository = try repository(target: target, options: options, isFetching: creates == nil)
    let zoneID = try zone(target: target, repository)
    if creates != nil { try checkKeys(target: target, repository) }
    let isAttaching = target.arguments.has(attach.name)
    let cloud =
      if !isAttaching, let token = try repository.lastChangeToken() {
        try place(target: target, zoneID: zoneID, knownBy: token, creates: creates)
      } else {
        try place(target: target, zoneID: zoneID, creates: creates)
      }
    if isAttaching { try repository.leaveCloud() }
    let folder = assetFolder(of: target)
    let remote = try ChangesetRemote(
      repository,
      operationHandler: cloud.handler,
      zoneID: zoneID,
      assets: cloud.assets(stagedIn: folder),
      accountProvider: cloud.account
    )
    defer {
      remote.session.stop()
      NewFolder.removeTemporary(at: receivedFolder(of: target))
      NewFolder.removeTemporary(at: folder)
      complete(files: [target.path] + (ServerPlace.isAddress(cloud.name) ? [] : [cloud.name]))
    }
    var hasExplained = false
    return try CallingThread.run {
      // It has not answered as it should a few times in a row.
      guard !hasExplained, remote.session.state.retryCount > 1,
        let error = remote.session.state.lastRetryError
      else { return }
      hasExplained = true
      target.console.noteWait(for: cloud.name, after: error)
    } _: {
      try await body(remote, repository)
    }
  }
}
