import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite

/// Exchanging commits through a cloud.
enum HistoryCloud {
  private static let creation = Command.Option(
    name: "--create",
    help: "create the cloud's file, or its zone, if it is missing"
  )
  static let options: [Command.Option] = [
    .init(name: "--cloud", value: "CLOUD", help: "the cloud: a file, or https://… for a server"),
    ServerPlace.tokenFile,
    ServerPlace.webTokenFile,
    .init(
      name: "--device",
      value: "NAME",
      help: "this copy's name in it; by default host and path"
    ),
    .init(
      name: "--zone",
      value: "NAME",
      help: "the zone in the cloud, “History” at first; named once for each copy"
    ),
    .init(
      name: "--unique-integer-keys",
      value: "A,B",
      help: "tables whose integer keys no two copies ever give to different rows",
      isRepeatable: true
    ),
  ]

  static var commands: [Command] {
    [
      HistoryCommand.command(
        name: "push",
        "Send the commits that the cloud lacks.",
        options: options + [creation, HistoryConnection.attach],
        run: { target in
          let creates = target.arguments.has("--create")
          let sent = try HistoryConnection.with(target: target, creates: creates) { (remote, _) in
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
          let (received, repository) = try HistoryConnection.with(target: target, creates: nil) {
            (remote, repository) in
            if isAgain { try remote.resetLastChangeToken() }
            return (try await remote.fetch(), repository)
          }
          try tell(target: target, commits: received, were: "received")
          try target.tellRejected(in: repository.status())
        }
      ),
      HistoryCommand.command(
        name: "sync",
        "Commit, fetch, merge, update the rows, and push.",
        options: options + [
          creation, HistoryConnection.attach, HistoryCommand.message,
        ],
        discussion:
          "The exit code is 3 if rows are parked because they were rejected, or records cannot be read.",
        run: sync
      ),
      HistoryCommand.command(
        name: "clone",
        "Copy a whole history from a cloud into a new database.",
        options: options + [
          .init(name: "--replica", value: "NAME", help: "this copy's name in its commits")
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
    let meta = try target.messageMeta() ?? "{}"
    let creates = target.arguments.has("--create")
    let (summary, repository) = try HistoryConnection.with(target: target, creates: creates) {
      (remote, repository) in (try await remote.sync(meta: meta), repository)
    }
    let status = try repository.status()
    if target.isJSON {
      try target.show(
        value: SyncReport(
          sent: summary.sent,
          received: summary.received,
          merges: summary.merges,
          conflicts: summary.conflicts,
          branch: summary.head.branch,
          head: summary.head.uuid,
          parked: status.parked.map { ParkedReport($0) }
        )
      )
      try target.tellParked(in: status)
      return try target.tellRejected(in: status)
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
    if let warning = try HistoryWords.deletion(repository) { target.console.line(warning) }
    // What merges pass over, the tool's user has to know of.
    if let head = try repository.unreadableHead() {
      guard head.isOlder else { throw head.error }
      // Everything else is here: the exit status must not say otherwise at every sync.
      target.console.note(
        "warning: \(target.path): \(head.error.reason); it is merged once the copy that has made it is migrated, too"
      )
    }
    try target.tellParked(in: status)
    try target.tellRejected(in: status)
  }

  private static func tell(target: HistoryTarget, commits: [Changeset], were what: String) throws {
    if target.isJSON { return try target.show(value: commits.map { ChangesetReport($0) }) }
    target.console.line("\(what) \(Phrase.count(commits.count, "commit"))")
  }

  private static func clone(target: HistoryTarget) throws {
    let isNew = SamePath.Identity(path: target.path) == nil
    if !isNew { try checkIsFree(path: target.path) }
    let zoneID = ZoneID(name: try target.arguments.zoneName() ?? "History")
    let cloud = try HistoryConnection.place(target: target, zoneID: zoneID, creates: nil)
    let options = ChangesetOptions(replica: target.arguments.value(of: "--replica"))
    let database = try DatabaseFile(path: target.path, createsFile: true)
    let assets = cloud.assets(stagedIn: HistoryConnection.assetFolder(of: target))
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
      // What was there before stays, though there was nothing in it.
      if !isNew { throw error }
      NewFolder.removeTemporary(at: target.path)
      for end in ["-wal", "-shm"] { NewFolder.removeTemporary(at: target.path + end) }
      throw error
    }
    HistoryConnection.complete(files: [target.path])
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
    try target.tellRejected(in: repository.status())
  }

  /// Throws unless the file that is there is a clone that was not completed, or not yet begun.
  private static func checkIsFree(path: String) throws {
    // What a process has left in the midst of its first transaction can only be read by who may undo it.
    let file = try? DatabaseFile(path: path, access: .readWrite)
    if let file, (try? ChangesetRemote.isUnfinishedClone(file)) == true { return }
    if let file, (try? ChangesetRemote.isEmpty(file)) == true { return }
    throw ToolError.failure("\(path): it exists already; name a new file")
  }
}
