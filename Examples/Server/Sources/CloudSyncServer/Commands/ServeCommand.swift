import CloudSyncLocalCloud
import CloudSyncService
import Foundation
import Logging
import PostgresStore

/// `cloudsync-server serve`.
enum ServeCommand {
  static let help = """
    Answer requests until SIGTERM or Ctrl-C.

    usage: cloudsync-server serve --data DIR [OPTIONS]

      --data DIR          the folder with all that the server keeps; it is made if it is missing
      --postgres CONNINFO the database that has records and tokens, for several servers: as in “host=db.example.org
                          dbname=cloudsync sslmode=verify-full”, without a password, which belongs in a file. The
                          folder, with assets and the secret of their addresses, is then shared by the servers
      --listen HOST:PORT  what devices ask; 127.0.0.1:8080 by default, and the port 0 is any that is free
      --admin HOST:PORT   what looks after the server: /live, /ready, /metrics; 127.0.0.1:8081 by default, or “off”
      --allow-network     listen on other addresses than this machine's own: tokens cross the network as they are,
                          unless a proxy in front of the server adds TLS
      --container NAME    the container's name in paths; “cloudsync” by default
      --quota MB          what an account may hold; 1000 by default
      --rate N            the requests of one device a second, after a burst of ten times as many; 100 by default
      --threads N         the threads that ask the store; 8 by default
      --log-level LEVEL   debug, info, warning or error; info by default

    The server speaks HTTP without TLS: put a proxy in front of it that does. README.md has an example.
    """

  static func run(_ arguments: [String], console: ServerConsole) async throws {
    let given = try CommandArguments(
      arguments,
      options: [
        "--data", "--postgres", "--listen", "--admin", "--container", "--quota", "--rate",
        "--threads",
        "--log-level",
      ],
      flags: ["--allow-network"]
    )
    var configuration = try configuration(given)
    let level = given.value(of: "--log-level") ?? "info"
    guard let logLevel = Logger.Level(rawValue: level) else {
      throw ServerFailure.usage("--log-level takes debug, info, warning or error, not “\(level)”")
    }
    let folder = try ServerFolder(try given.required("--data", "DIR"), isMade: true)
    // What the server makes, SQLite's files among it, is nobody else's to read.
    umask(0o077)
    if let warning = folder.exposure { console.note("warning: \(warning)") }
    configuration.limits.connections = prepareProcess(
      connections: configuration.limits.connections,
      console: console
    )
    let database = try ServedDatabase(
      given,
      in: folder,
      connections: configuration.threads,
      console: console
    )
    var logger = Logger(label: "cloudsync-server") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = logLevel == .info ? .warning : logLevel
    try await serve(
      database,
      folder: folder,
      configuration: configuration,
      logger: logger,
      console: console
    )
    console.note("ended")
  }

  private static func serve(
    _ database: ServedDatabase,
    folder: ServerFolder,
    configuration: ServerConfiguration,
    logger: Logger,
    console: ServerConsole
  ) async throws {
    let notices = database.notices
    var onChange: (@Sendable (LocalCloudChange) -> Void)?
    if let notices { onChange = { notices.post($0) } }
    let program = ServerProgram(
      store: database.store,
      folder: folder.path,
      tokens: database.tokens,
      secret: database.secret,
      configuration: configuration,
      logger: logger,
      onChange: onChange
    ) { name, address in
      console.line("\(name): \(address)")
    }
    notices?.start { program.announce($0) }
    defer { notices?.stop() }
    do { try await program.run() } catch let error as ServerFailure { throw error } catch {
      throw ServerFailure.failure(words(for: error, configuration))
    }
    withExtendedLifetime(database) {}
  }

  private static func words(
    for error: any Error,
    _ configuration: ServerConfiguration
  ) -> String {
    let text = "\(error)"
    guard text.contains("bind") else { return text }
    let admin = configuration.admin.map { " or \($0.host):\($0.port)" } ?? ""
    let place = "\(configuration.listen.host):\(configuration.listen.port)\(admin)"
    return "nothing can listen at \(place): \(text); name others with --listen and --admin"
  }

  private static func configuration(_ given: CommandArguments) throws -> ServerConfiguration {
    var configuration = ServerConfiguration()
    let isOpen = given.has("--allow-network")
    if let text = given.value(of: "--listen") {
      configuration.listen = try address(text, option: "--listen", isOpen: isOpen)
    }
    if let text = given.value(of: "--admin") {
      configuration.admin =
        text == "off" ? nil : try address(text, option: "--admin", isOpen: isOpen)
    }
    if let name = given.value(of: "--container") {
      guard
        name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != 0x2f && $0 != 0x3f && $0 != 0x25 })
      else { throw ServerFailure.usage("--container takes letters, digits, dots and dashes") }
      configuration.container = name
    }
    if let quota = try given.number(of: "--quota", in: 1...10_000_000) {
      configuration.quota = Int64(quota) * 1_000_000
    }
    if let rate = try given.number(of: "--rate", in: 1...1_000_000) {
      configuration.limits.service.requests = ServiceRate(burst: 10 * rate, perSecond: rate)
    }
    if let threads = try given.number(of: "--threads", in: 1...256) {
      configuration.threads = threads
    }
    return configuration
  }

  private static func address(
    _ text: String,
    option: String,
    isOpen: Bool
  ) throws -> (host: String, port: Int) {
    guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
      (0...65_535).contains(port), colon != text.startIndex
    else { throw ServerFailure.usage("\(option) takes HOST:PORT, not “\(text)”") }
    let host = text[..<colon].filter { $0 != "[" && $0 != "]" }
    guard isOpen || ["127.0.0.1", "localhost", "::1"].contains(host) else {
      throw ServerFailure.usage(
        "\(option) \(host): tokens would cross the network without TLS; listen on 127.0.0.1 and put a proxy in"
          + " front, or say --allow-network"
      )
    }
    return (host, port)
  }

  /// The files that the process has open beside its connections: the store's, assets, those of the system.
  private static let otherFiles = 200

  /// Lets the process have as many connections as it may, and leave no memory behind that has tokens in it.
  ///
  /// - Returns: How many connections it may have: what the system allows, at most as many as are wanted.
  private static func prepareProcess(connections: Int, console: ServerConsole) -> Int {
    signal(SIGPIPE, SIG_IGN)
    #if canImport(Glibc)
    var core = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &core)
    var files = rlimit()
    let wanted = rlim_t(connections + otherFiles)
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files) == 0 else {
      return connections
    }
    if files.rlim_cur < wanted {
      files.rlim_cur = min(wanted, files.rlim_max)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
    }
    let allowed = max(1, Int(min(files.rlim_cur, wanted)) - otherFiles)
    if allowed < connections / 2 {
      console.note("warning: the system allows \(allowed) connections; raise “ulimit -n” for more")
    }
    return allowed
    #else
    return connections
    #endif
  }
}
