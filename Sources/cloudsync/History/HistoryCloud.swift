import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite

/// Exchanging commits through a cloud in a file.
enum HistoryCloud {
  private static let creation = Command.Option(
    name: "--create",
    help: "create the cloud's file if it is missing"
  )

  private static let options: [Command.Option] = [
    .init(name: "--cloud", value: "FILE", help: "the cloud, a file"),
    .init(
      name: "--device",
      value: "NAME",
      help: "this copy's name in it; by default host and path"
    ),
    .init(name: "--zone", value: "NAME", help: "the zone in the cloud, “History” by default"),
    .init(
      name: "--unique-integer-keys",
      value: "A,B",
      help: "tables whose integer keys no two copies ever give to different rows"
    ),
  ]

  static var commands: [Command] {
    [
      HistoryCommand.command(
        name: "push",
        "Send the commits that the cloud lacks.",
        options: options + [creation],
        run: { target in
          let creates = target.arguments.has("--create")
          let sent = try with(target: target, creates: creates) { (remote, _) in
            try await remote.push()
          }
          try tell(target: target, commits: sent, were: "sent")
        }
      ),
      HistoryCommand.command(
        name: "fetch",
        "Fetch commits of others; rows stay until “merge” or “pull”.",
        options: options,
        run: { target in
          let received = try with(target: target, creates: nil) { (remote, _) in
            try await remote.fetch()
          }
          try tell(target: target, commits: received, were: "received")
        }
      ),
      HistoryCommand.command(
        name: "sync",
        "Commit, fetch, merge, go there, and push.",
        options: options + [
          creation, .init(name: "-m", value: "TEXT", help: "what is said of the commit"),
        ],
        discussion: "The exit code is 1 if the tables here do not take a row of the history.",
        run: sync
      ),
      HistoryCommand.command(
        name: "clone",
        "Bring a whole history into a new database.",
        options: options + [
          .init(name: "--replica", value: "NAME", help: "what this copy is called in its commits")
        ],
        run: clone
      ),
    ]
  }

  private struct SyncReport: Encodable {
    var sent: Int
    var received: Int
    var merges: Int
    var conflicts: Int
    var branch: String
    var head: String?
    var parked: [ParkedReport]
  }

  private static func sync(target: HistoryTarget) throws {
    let meta = try target.arguments.value(of: "-m").map { try HistoryMessage($0).meta() } ?? "{}"
    let creates = target.arguments.has("--create")
    let (summary, repository) = try with(target: target, creates: creates) {
      (remote, repository) in (try await remote.sync(meta: meta), repository)
    }
    if target.isJSON {
      try target.show(
        value: SyncReport(
          sent: summary.sent,
          received: summary.received,
          merges: summary.merges,
          conflicts: summary.conflicts,
          branch: summary.head.branch,
          head: summary.head.uuid,
          parked: try repository.status().parked.map { ParkedReport($0) }
        )
      )
      return try target.tellParked(repository)
    }
    var parts = [
      "sent \(Phrase.count(summary.sent, "commit"))", "received \(summary.received)",
    ]
    if summary.merges > 0 { parts.append(Phrase.count(summary.merges, "merge")) }
    if summary.conflicts > 0 {
      parts.append("\(Phrase.count(summary.conflicts, "conflict")) settled")
    }
    let place = summary.head.id.map { target.console.styled($0.short, as: .name) } ?? "nothing"
    target.console.line("\(parts.joined(separator: ", ")); \(summary.head.branch) is at \(place)")
    try target.tellParked(repository)
  }

  private static func tell(target: HistoryTarget, commits: [Changeset], were what: String) throws {
    if target.isJSON { return try target.show(value: commits.map { ChangesetReport($0) }) }
    target.console.line("\(what) \(Phrase.count(commits.count, "commit"))")
  }

  private static func clone(target: HistoryTarget) throws {
    let cloud = try place(target: target, creates: nil)
    try checkIsFree(path: target.path)
    let zoneID = zone(target: target)
    let options = ChangesetOptions(replica: target.arguments.value(of: "--replica"))
    let database = try DatabaseFile(path: target.path, createsFile: true)
    let assets = cloud.assets(stagedIn: target.path + "-cloudsync-assets")
    let handler = cloud.handler
    let repository: ChangesetRepository
    do {
      repository = try CallingThread.run {
        try await ChangesetRemote.clone(
          into: database,
          from: handler,
          zoneID: zoneID,
          assets: assets,
          options: options
        )
      }
    } catch {
      NewFolder.removeTemporary(at: target.path)
      for end in ["-wal", "-shm"] { NewFolder.removeTemporary(at: target.path + end) }
      throw error
    }
    let count = try repository.log().count
    let rows = try repository.verify().rowCount
    if target.isJSON {
      try target.show(value: ["commits": count, "rows": rows])
    } else {
      target.console.line(
        "\(target.path): \(Phrase.count(count, "commit")), \(Phrase.count(rows, "row"))"
      )
    }
    try target.tellParked(repository)
  }

  /// Throws if there is a file already, unless it is a clone that was not completed.
  private static func checkIsFree(path: String) throws {
    guard SamePath.Identity(path: path) != nil else { return }
    let file = try? DatabaseFile(path: path, access: .readOnly)
    if let file, (try? ChangesetRemote.isUnfinishedClone(file)) == true { return }
    throw ToolError.failure("\(path): it exists already; name a new file")
  }

  // MARK: The cloud

  private static func name(target: HistoryTarget) throws -> String {
    guard let name = target.arguments.value(of: "--cloud") else {
      throw ToolError.usage("name the cloud with --cloud FILE")
    }
    guard name.contains(where: { !$0.isWhitespace }) else {
      throw ToolError.usage("--cloud is empty: name the cloud's file")
    }
    return name
  }

  private static func zone(target: HistoryTarget) -> ZoneID {
    ZoneID(name: target.arguments.value(of: "--zone") ?? "History")
  }

  private static func place(target: HistoryTarget, creates: Bool?) throws -> CloudFile {
    let cloud = try name(target: target)
    if SamePath.isSame(target.path, as: cloud) {
      throw ToolError.usage("\(cloud) is the database itself; name another file for the cloud")
    }
    try CloudFile.checkPresence(of: cloud, creates: creates)
    return try CloudFile(
      cloud,
      device: try SyncCommand.device(arguments: target.arguments, path: target.path),
      zoneID: zone(target: target)
    )
  }

  /// Connects a database's history with its cloud.
  ///
  /// - Parameters:
  ///   - target: Whose history it is.
  ///   - creates: Whether a missing cloud is created; nil where the command has nothing to send.
  ///   - body: What is done.
  /// - Returns: What the body gives.
  /// - Throws: What is missing, or what the cloud says.
  private static func with<Value: Sendable>(
    target: HistoryTarget,
    creates: Bool?,
    _ body: @escaping @Sendable (ChangesetRemote, ChangesetRepository) async throws -> Value
  ) throws -> Value {
    var options = ChangesetOptions()
    let tables = target.arguments.value(of: "--unique-integer-keys") ?? ""
    for name in tables.split(separator: ",") {
      options.tables[String(name)] = .init(hasUniqueIntegerKeys: true)
    }
    let repository = try target.repository(options: options)
    let cloud = try place(target: target, creates: creates)
    let folder = target.path + "-cloudsync-assets"
    let remote = try ChangesetRemote(
      repository,
      operationHandler: cloud.handler,
      zoneID: zone(target: target),
      assets: cloud.assets(stagedIn: folder)
    )
    defer {
      remote.session.stop()
      NewFolder.removeTemporary(at: folder)
    }
    return try CallingThread.run { try await body(remote, repository) }
  }
}
