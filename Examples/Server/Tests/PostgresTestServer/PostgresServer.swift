import CPostgres
import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#endif

/// What keeps a server of PostgreSQL from being used in tests.
public struct PostgresServerError: Error, CustomStringConvertible {
  /// What is wrong, and what to do.
  public let description: String

  /// Creates an error of a sentence.
  public init(description: String) { self.description = description }
}

/// A PostgreSQL server of one run's own: in a folder of its own, reached by a socket in it only.
///
/// It runs under an unprivileged user and ends with the process that started it, however that ends.
public final class PostgresServer: Sendable {
  /// One server for all tests that do not kill it.
  public static let shared = Result { try PostgresServer() }

  /// Where its data, its log and its socket lie.
  public let folder: String
  private let binaries: String
  /// The process that stops the server once its standard input ends.
  private let guardian: Process
  private let input: Pipe
  private let output: Pipe
  private let count = Mutex(0)
  private static let number = Mutex(0)

  /// Creates a database cluster and starts a server on it.
  ///
  /// - Parameter isDurable: Whether what is committed is on the disk: figures want it, tests do not.
  /// - Throws: Why it does not start.
  public init(isDurable: Bool = false) throws {
    binaries = try Self.findBinaries()
    let number = Self.number.withLock { number in
      number += 1
      return number
    }
    // Short: the path of a socket has at most some hundred bytes.
    folder = "/tmp/cloudsync-pg-\(ProcessInfo.processInfo.processIdentifier)-\(number)"
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    if getuid() == 0 {
      guard let user = getpwnam("postgres") else {
        throw PostgresServerError(description: "there is no user postgres: install postgresql")
      }
      chown(folder, user.pointee.pw_uid, user.pointee.pw_gid)
    }
    let settings =
      "-c listen_addresses= -c unix_socket_directories=\(folder) -c fsync=\(isDurable ? "on" : "off")"
      + " -c max_connections=200 -c shared_buffers=64MB -c logging_collector=off"
    let command = "\(binaries)/pg_ctl -D data -w -t 300 -l log -o \"\(settings)\" start"
    let script = """
      cd \(folder) || exit 1
      \(binaries)/initdb -D data -A trust -U postgres -E UTF8 --locale=C --no-sync >initdb.log 2>&1 \
        || { cat initdb.log; exit 1; }
      while read -r line; do
        \(command) >start.log 2>&1 </dev/null || { cat start.log log; exit 1; }
        echo ready
      done
      \(binaries)/pg_ctl -D data -m immediate -t 300 stop >stop.log 2>&1 </dev/null
      cd / && rm -rf \(folder)
      """
    guardian = Process()
    guardian.executableURL = URL(fileURLWithPath: Self.shell(script)[0])
    guardian.arguments = Array(Self.shell(script).dropFirst())
    input = Pipe()
    output = Pipe()
    guardian.standardInput = input
    guardian.standardOutput = output
    guardian.standardError = output
    try guardian.run()
    try start()
  }

  /// Starts the server, also again after it was killed.
  public func start() throws {
    try input.fileHandleForWriting.write(contentsOf: Data("start\n".utf8))
    var text = Data()
    while text.suffix(6) != Data("ready\n".utf8) {
      let more = output.fileHandleForReading.availableData
      if more.isEmpty {
        throw PostgresServerError(
          description: "PostgreSQL does not start: \(String(decoding: text, as: UTF8.self))"
        )
      }
      text += more
    }
  }

  deinit { stop() }

  /// Stops the server and removes its data.
  public func stop() {
    guard guardian.isRunning else { return }
    try? input.fileHandleForWriting.close()
    guardian.waitUntilExit()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// The newest version of what Debian's package installs, or what is in the path.
  private static func findBinaries() throws -> String {
    let root = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    let folders =
      versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "\(root)/\($0)/bin" }
      + (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    for folder in folders
    where FileManager.default.isExecutableFile(atPath: folder + "/initdb") { return folder }
    throw PostgresServerError(description: "there is no initdb: install postgresql")
  }

  /// A command that runs a script, as another user where this one is root, as PostgreSQL wants.
  private static func shell(_ script: String) -> [String] {
    let shell = ["/bin/sh", "-c", script]
    guard getuid() == 0 else { return shell }
    return ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] + shell
  }

  // MARK: Stores

  /// Leads to the database that every cluster has.
  public var conninfo: String { "host=\(folder) user=postgres dbname=postgres" }

  /// Leads to an empty schema of its own.
  public func newSchema() throws -> String {
    let name = "store\(next())"
    try execute("CREATE SCHEMA \(name)")
    return "\(conninfo) options='-c search_path=\(name)'"
  }

  /// Leads to an empty database of its own.
  public func newDatabase() throws -> String {
    let name = "database\(next())"
    try execute("CREATE DATABASE \(name)")
    return "host=\(folder) user=postgres dbname=\(name)"
  }

  private func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }

  /// Carries out SQL of a test's, and returns the first column as text.
  @discardableResult
  public func execute(_ sql: String, at conninfo: String? = nil) throws -> [String] {
    let connection = PQconnectdb(conninfo ?? self.conninfo)
    defer { PQfinish(connection) }
    let result = PQexec(connection, sql)
    defer { PQclear(result) }
    let status = PQresultStatus(result)
    guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else {
      throw PostgresServerError(description: String(cString: PQerrorMessage(connection)))
    }
    return (0..<PQntuples(result)).map { String(cString: PQgetvalue(result, $0, 0)) }
  }

  // MARK: Accidents

  /// Ends the server and all processes of it at once, as a failure of power does.
  public func kill() throws {
    let file = try String(contentsOfFile: "\(folder)/data/postmaster.pid", encoding: .utf8)
    guard let parent = file.split(separator: "\n").first.flatMap({ pid_t($0) }) else {
      throw PostgresServerError(description: "postmaster.pid has no number")
    }
    Glibc.kill(parent, SIGSTOP)
    let children = Self.children(of: parent)
    for process in [parent] + children { Glibc.kill(process, SIGKILL) }
    // Whoever starts it again must not find any of them.
    for process in [parent] + children { while Self.isAlive(process) { sched_yield() } }
    // Until the system's first process has taken note of its end, its number seems to be in use.
    for name in ["data/postmaster.pid", ".s.PGSQL.5432.lock"] {
      try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
    }
  }

  private static func children(of parent: pid_t) -> [pid_t] {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return entries.compactMap { pid_t($0) }.filter { status(of: $0)?.parent == parent }
  }

  private static func isAlive(_ process: pid_t) -> Bool {
    status(of: process).map { $0.state != "Z" } ?? false
  }

  /// What the system says of a process, after its name in parentheses.
  private static func status(of process: pid_t) -> (state: String, parent: pid_t)? {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let end = text.lastIndex(of: ")")
    else { return nil }
    let words = text[text.index(after: end)...].split(separator: " ")
    guard words.count > 1, let parent = pid_t(words[1]) else { return nil }
    return (String(words[0]), parent)
  }
}
