import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSchema

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `cloudsync sync`: a database in sync with a cloud in a file, or at a server.
enum SyncCommand {
  static var command: Command {
    Command(
      path: ["sync"],
      summary: "Sync a database with others through a cloud in a file or at a server, both ways.",
      operands: ["DATABASE"],
      options: placeOptions + [
        .init(name: "--dry-run", help: "show what would be done, and change nothing"),
        .init(name: "--watch", help: "keep syncing until Ctrl-C, whoever edits anywhere"),
        .init(
          name: "--interval",
          value: "SECONDS",
          help: "how often --watch looks at a cloud in a file; 1 by default"
        ),
        .init(
          name: "--verify",
          help: "then compare all rows with the cloud, and list those that differ"
        ),
        .init(
          name: "--rescan",
          help: "find edits that no trigger has captured, and large values that the cloud has lost"
        ),
      ] + commonOptions,
      discussion: """
        Any number of copies on one machine may use one cloud file at the same time, each with a device name of its
        own. Copies on several machines need a server, as SQLite's files cannot be shared by machines. A synced
        database is in WAL mode; “cloudsync detach” brings the former mode back. The first sync of the first copy creates the cloud; it needs
        --create, so that a mistyped name creates nothing. Tables are named once for each copy. From then on
        edits are captured, whatever program makes them. When two copies edit one row its columns are merged,
        and the most recent edit of each wins. Policies, such as --unique-newest, are named once for each copy
        and must be the same for all of them; an empty list, as in --edit-wins "", ends one. Rows that were
        rejected are tried again by each run.

        With --filter a copy keeps rows to itself: --filter 'notes=private = 0' sends the rows of notes whose
        column private is 0. Rows of the others are stored in any case. A row that stops matching stays in the
        cloud as it is, also when it is deleted here. The filter is this copy's own, and is kept until
        --filter notes= ends it: then all rows are sent, and those come back that were deleted here alone.

        Programs that turn triggers off edit rows unseen. --rescan finds such edits and sends them; where others have
        edited the same column meanwhile, theirs stays. Do it before the next sync: the next edit of
        others that comes for the same row writes over them. Large values that a cloud in a file has lost are stored again, too.

        A table may get columns or lose them; the next sync follows. One that was renamed is named anew, by --all or
        --tables; its former name, or that of a renamed column, is given to nothing else. SQLite refuses to drop a
        column that triggers name, as those of a synced table do: in the program sqlite3 say first
        “PRAGMA legacy_alter_table = ON;”, and sync before anything else is edited.

        While nothing is to be done --watch holds no lock. While it reads edits and stores rows it holds that of a
        writer, for milliseconds, and for seconds where many thousands are edited at once. sqlite3 waits for nobody and says
        “database is locked”: begin with “.timeout 5000” there, or PRAGMA busy_timeout = 5000 in a program.

        A server is cloudsync-server, in Examples/Server. Its address is https://HOST, or http:// on this
        machine; its token is in the variable CLOUDSYNC_TOKEN or in --token-file. With --watch the server
        says when others have changed something.

        CloudKit itself is https://api.apple-cloudkit.com/database/1/CONTAINER/ENVIRONMENT/private, with the token
        of the container's API in the variable CLOUDSYNC_API_TOKEN. The user's web token changes with every
        request and is kept in --web-token-file. Without one the error names the page to sign in at.

        The exit code is 3 if rows are parked because they were rejected, and 1 if --verify finds differences.
        When the cloud is missing, was restored from an older backup or is another one, nothing is changed;
        “cloudsync attach” is the way back. Check the schema with “cloudsync check” first, and see with
        “cloudsync status” what has reached the cloud.
        """,
      run: { try run(with: $0, isAttaching: false, console: $1) }
    )
  }

  /// Which cloud, which tables, and who asks.
  static let placeOptions: [Command.Option] = [
    .init(
      name: "--cloud",
      value: "CLOUD",
      help: "the cloud: a file, or https://… for a server",
      isRequired: true
    ),
    .init(name: "--create", help: "create the cloud's file, folder or zone if it is missing"),
    ServerPlace.tokenFile,
    ServerPlace.webTokenFile,
    .init(name: "--token", value: "…", help: "refused: others could read it", isHidden: true),
    DatabaseArguments.tables, DatabaseArguments.all,
    .init(name: "--device", value: "NAME", help: "this copy's name; by default host and path"),
    .init(
      name: "--zone",
      value: "NAME",
      help: "the zone in the cloud, “Database” at first; named once for each copy"
    ),
  ]

  static let commonOptions: [Command.Option] =
    [
      .init(
        name: "--ignore-foreign-keys",
        help: "store rows whose parents are missing, instead of keeping them waiting;"
          + " triggers of the engine then do what ON DELETE and ON UPDATE say"
      ),
      .init(name: "--log", value: "FILE", help: "record what happens, for “cloudsync log”"),
    ] + DatabaseArguments.policies + [DatabaseArguments.filter, LeftTables.option, .json]

  /// What the command line asks for.
  struct Request: Sendable {
    var path: String
    var cloud: String
    /// Where the server is; nil for a cloud in a file.
    var server: ServerPlace?
    var device: String
    var zoneID: ZoneID
    var tables: [String]
    /// What the schema lets happen to rows, for the first sync to say.
    var warnings: [String]
    /// The tables that are not synced.
    var unsynced: UnsyncedTables
    /// What is kept for later runs.
    var policies: SyncPolicies
    var options: SyncEngineOptions
    var enforcesForeignKeys: Bool
    var isWatching: Bool
    var isVerifying: Bool
    /// Whether edits that were not captured are looked for.
    var isRescanning: Bool
    /// Whether a cloud or a zone that is missing is created.
    var creates: Bool
    /// Whether the database is joined with another cloud than before.
    var isAttaching: Bool
    /// What the database was synced with before.
    var place: SyncPlace?
    var interval: Duration
    var log: String?
    var isJSON: Bool
  }

  /// Runs `sync` or `attach`.
  static func run(with arguments: Arguments, isAttaching: Bool, console: Console) throws {
    let target = DatabaseArguments(arguments)
    guard let cloud = arguments.value(of: "--cloud") else {
      throw ToolError.usage("it needs --cloud FILE, or --cloud https://…")
    }
    try check(arguments, of: cloud, isServer: ServerPlace.isAddress(cloud))
    let server = try ServerPlace.named(by: cloud, in: arguments)
    let seconds = try arguments.number(of: "--interval") ?? 1
    guard (1...86_400).contains(seconds) else {
      throw ToolError.usage("--interval takes a number from 1 to 86400, not \(seconds)")
    }
    let zoneName = try arguments.zoneName()
    let lock = try DatabaseLock(target.path)
    defer { lock.release() }
    if server == nil, SamePath.isSame(target.path, as: cloud) {
      throw ToolError.usage("\(cloud) is the database itself; name another file for the cloud")
    }
    let found = try examine(target: target, arguments: arguments)
    let place = try place(target: target)
    let zoneID = zoneName.map { ZoneID(name: $0) } ?? place?.zoneID ?? ZoneID(name: "Database")
    let request = Request(
      path: target.path,
      cloud: cloud,
      server: server,
      device: try device(arguments: arguments, path: target.path),
      zoneID: zoneID,
      tables: found.tables,
      warnings: found.warnings,
      unsynced: found.unsynced,
      policies: found.policies,
      options: found.options,
      enforcesForeignKeys: !arguments.has("--ignore-foreign-keys"),
      isWatching: arguments.has("--watch"),
      isVerifying: arguments.has("--verify"),
      isRescanning: arguments.has("--rescan"),
      creates: arguments.has("--create"),
      isAttaching: isAttaching,
      place: place,
      interval: .seconds(Int64(seconds)),
      log: arguments.value(of: "--log"),
      isJSON: arguments.has("--json")
    )
    if let log = request.log {
      try SamePath.checkReplaceable(log, besides: [request.path, request.cloud])
    }
    if arguments.has("--dry-run") {
      return try SyncRehearsal(request, in: target).run(console: console)
    }
    try SyncRun(request, in: target, console: console).run(console: console)
  }

  /// Checks what goes with what.
  private static func check(_ arguments: Arguments, of cloud: String, isServer: Bool) throws {
    guard cloud.contains(where: { !$0.isWhitespace }) else {
      throw ToolError.usage("--cloud is empty: name the cloud's file, or https://…")
    }
    if arguments.has("--token") {
      throw ToolError.usage(
        "a token is no argument, which others can read: set CLOUDSYNC_TOKEN, or use --token-file FILE"
      )
    }
    if arguments.has("--dry-run") {
      for name in ["--watch", "--log", "--verify", "--rescan"] where arguments.has(name) {
        throw ToolError.usage("--dry-run does not go with \(name)")
      }
    }
    if arguments.has("--interval"), !arguments.has("--watch") {
      throw ToolError.usage("--interval is for --watch")
    }
    if isServer, arguments.has("--interval") {
      throw ToolError.usage("--interval is for a cloud in a file: a server says when to look")
    }
  }

  /// Opens the cloud that is asked for.
  ///
  /// - Parameters:
  ///   - request: Which cloud it is.
  ///   - folder: A folder for files that are on their way.
  ///   - isRehearsal: Whether nothing is to be written.
  /// - Returns: The cloud.
  /// - Throws: What is wrong with it.
  static func open(
    _ request: Request,
    stagingIn folder: String,
    isRehearsal: Bool = false
  ) throws -> any CloudPlace {
    guard let server = request.server else {
      return try CloudFile(request.cloud, for: request, isRehearsal: isRehearsal)
    }
    return try CloudServer(
      server,
      named: request.cloud,
      zoneID: request.zoneID,
      receivingIn: folder + "/received"
    )
  }

  /// What a database says of the tables that are to be synchronized.
  private struct Examination {
    var tables: [String]
    var warnings: [String]
    var unsynced: UnsyncedTables
    var policies: SyncPolicies
    var options: SyncEngineOptions
  }

  /// Looks whether the database can be synchronized, and finds out which tables are.
  private static func examine(
    target: DatabaseArguments,
    arguments: Arguments
  ) throws -> Examination {
    let database = try target.open(access: .readOnly)
    let names = try target.naming { try SyncEngine.tableNames(in: database) }
    let metadata = try target.naming { try SyncMetadata.read(from: database) }
    let known = names + (metadata?.tables.map(\.name) ?? [])
    let stopped = target.list(of: LeftTables.option.name, known: known)
    if let name = stopped.first(where: { !known.contains($0) }) {
      let hint = Suggestion.text(for: name, among: known)
      throw ToolError.usage("--stop names “\(name)”, which is none of the tables\(hint)")
    }
    let tables = try target.tables(names: names, orElse: metadata?.tables.map(\.name))
      .filter { !stopped.contains($0) }
    if tables.isEmpty {
      throw ToolError.usage(
        "--stop leaves no table; to sync none use “cloudsync detach \(target.path.argument)”"
      )
    }
    let left = LeftTables(metadata, tables: tables, names: names, stopped: stopped)
    try left.check(filtered: Array(try target.filters(of: tables).keys), in: target.path)
    let policies = try target.policies(of: tables, in: database)
    let former = try target.naming { try SyncMetadata.toolPolicies(of: database) }
    try left.check(policies: policies, former: SyncPolicies(former))
    let options = try target.options(tables: tables, policies: policies, metadata: metadata)
    let violations = try target.naming {
      try SyncEngine.check(database, tables: tables, options: options)
    }
    // Where this is a dry run it tells what stands in the way.
    if !arguments.has("--dry-run") { try target.refuse(violations: violations) }
    let areNamed = ["--tables", "--all", LeftTables.option.name].contains(where: arguments.has)
    return Examination(
      tables: tables,
      warnings: violations.filter { $0.code == .defaultInUniqueKey }.map(\.reason),
      unsynced: UnsyncedTables(of: names, besides: tables, areNamed: areNamed),
      policies: policies,
      options: options
    )
  }

  /// What the database was synced with before.
  private static func place(target: DatabaseArguments) throws -> SyncPlace? {
    let database = try target.open(access: .readOnly)
    return try target.naming { try SyncEngine.place(in: database) }
  }

  /// What a copy is called in the cloud.
  static func device(arguments: Arguments, path: String) throws -> String {
    if let name = arguments.value(of: "--device") {
      if name.isEmpty { throw ToolError.usage("--device needs a name") }
      return name
    }
    return "\(ProcessInfo.processInfo.hostName):\(SamePath.resolved(path: path) ?? path)"
  }
}

extension Arguments {
  /// The zone that `--zone` names, if it is given.
  ///
  /// - Throws: That no zone can have the name.
  func zoneName() throws -> String? {
    guard let name = value(of: "--zone") else { return nil }
    if name.isEmpty { throw ToolError.usage("--zone is empty: name a zone, or leave --zone out") }
    do throws(RecordRuleViolation) { try RecordRules.check(ZoneID(name: name)) } catch {
      throw ToolError.usage("--zone cannot be “\(name)”: \(error)")
    }
    return name
  }
}
