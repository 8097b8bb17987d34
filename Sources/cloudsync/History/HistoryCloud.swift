import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite

/// Exchanging commits through a cloud.
enum HistoryCloud {
  private static let creation = Command.Option(
    name: "--create",
    help: "create the cloud's file if it is missing"
  )

  private static let options: [Command.Option] = [
    .init(name: "--cloud", value: "CLOUD", help: "the cloud: a file, or https://… for a server"),
    ServerPlace.tokenFile,
    ServerPlace.webTokenFile,
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
        options: options + [
          .init(name: "--everything", help: "fetch again what is here, as after “gc”")
        ],
        run: { target in
          let isAgain = target.arguments.has("--everything")
          let received = try with(target: target, creates: nil) { (remote, _) in
            if isAgain { try remote.resetLastChangeToken() }
            return try await remote.fetch()
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
        run: sync
      ),
      HistoryCommand.command(
        name: "attach",
        "Give the history to another cloud, or to one that was made anew, and sync.",
        options: options + [creation],
        discussion: """
          The cloud, or the zone that --zone names, gets all commits, and this copy those that it has already. The
          former one keeps what it has. Every other copy is attached likewise.
          """,
        run: attach
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

  private static func attach(target: HistoryTarget) throws {
    // What is wrong with the cloud is told before the history leaves the other one.
    _ = try place(target: target, creates: target.arguments.has("--create"))
    try target.repository().leaveCloud()
    try sync(target: target)
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
    let assets = cloud.assets(stagedIn: assetFolder(target: target))
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
      throw ToolError.usage("name the cloud with --cloud FILE, or --cloud https://…")
    }
    guard name.contains(where: { !$0.isWhitespace }) else {
      throw ToolError.usage("--cloud is empty: name the cloud's file")
    }
    return name
  }

  private static func zone(target: HistoryTarget) -> ZoneID {
    ZoneID(name: target.arguments.value(of: "--zone") ?? "History")
  }

  private static func place(target: HistoryTarget, creates: Bool?) throws -> any CloudPlace {
    let cloud = try name(target: target)
    if let server = try ServerPlace.named(by: cloud, in: target.arguments) {
      return try CloudServer(
        server,
        cloud,
        zoneID: zone(target: target),
        receivingIn: receivedFolder(target: target)
      )
    }
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

  private static func assetFolder(target: HistoryTarget) -> String {
    target.path + "-cloudsync-assets"
  }

  private static func receivedFolder(target: HistoryTarget) -> String {
    assetFolder(target: target) + "/received"
  }

  /// Throws if a history was synced with another cloud than this one, or would make a zone that nobody has asked for.
  private static func check(
    _ cloud: any CloudPlace,
    holds repository: ChangesetRepository,
    creates: Bool?,
    target: HistoryTarget
  ) throws {
    let known = SyncPlace(
      zoneID: zone(target: target),
      owner: nil,
      token: try repository.changeToken(),
      historyTokens: []
    )
    let relation = try cloud.relation(
      to: known,
      isAttaching: false,
      of: target.path,
      console: target.console
    )
    if creates == false, known.token == nil {
      try cloud.checkZone(known.zoneID, console: target.console)
    }
    guard case .other = relation else { return }
    throw ToolError.failure(
      "\(target.path): its history was synced with another cloud than \(cloud.name); name that one, or give the"
        + " history to this one with “cloudsync history attach \(target.path) --cloud \(cloud.name)”"
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
    try check(cloud, holds: repository, creates: creates, target: target)
    let folder = assetFolder(target: target)
    let remote = try ChangesetRemote(
      repository,
      operationHandler: cloud.handler,
      zoneID: zone(target: target),
      assets: cloud.assets(stagedIn: folder),
      accountProvider: cloud.account
    )
    defer {
      remote.session.stop()
      NewFolder.removeTemporary(at: receivedFolder(target: target))
      NewFolder.removeTemporary(at: folder)
    }
    return try CallingThread.run { try await body(remote, repository) }
  }
}
