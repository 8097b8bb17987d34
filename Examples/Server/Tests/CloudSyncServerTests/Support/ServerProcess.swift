import CloudSyncSession
import CloudSyncWebServices
import Foundation

@testable import CloudSyncServer

/// `cloudsync-server` as a process of its own, on a folder of its own.
final class ServerProcess {
  let folder: Folder
  private var ports: ServerPorts
  var port: Int { ports.devices }
  var adminPort: Int { ports.admin }
  private(set) var process: Running
  private let arguments: [String]
  /// What starts the server, where it is not to be started by itself.
  private let starter: [String]

  var origin: String { "http://127.0.0.1:\(port)" }
  var data: String { folder.path("server") }

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - name: What the folder is called.
  ///   - arguments: More for the server's command line.
  ///   - starter: Makes the words of a program that starts the server, by the server's folder.
  /// - Throws: That it does not start.
  init(
    _ name: String = #function,
    _ arguments: [String] = [],
    startedBy starter: (_ data: String) -> [String] = { _ in [] }
  ) throws {
    folder = try Folder(name)
    self.arguments = arguments
    self.starter = starter(folder.path("server"))
    let words = self.starter + Self.words(folder.path("server"), port: 0, arguments)
    process = try Self.start(words)
    ports = try ServerPorts(of: process)
  }

  private static func words(_ data: String, port: Int, _ arguments: [String]) -> [String] {
    [
      Program.server, "serve", "--data", data, "--listen", "127.0.0.1:\(port)", "--admin",
      "127.0.0.1:0",
    ] + arguments
  }

  private static func start(_ words: [String]) throws -> Running {
    try Running(words[0], Array(words.dropFirst()))
  }

  /// Starts it again, where it was.
  func restart() throws {
    process = try Self.start(starter + Self.words(data, port: port, arguments))
    ports = try ServerPorts(of: process)
  }

  func killNow() {
    process.send(SIGKILL)
    _ = process.wait()
  }

  /// Makes a token, as the command does.
  func token(
    _ device: String,
    of account: String = "alice",
    days: Int? = nil
  ) async throws -> String { try await Self.token(data, account, device, days: days) }

  static func token(
    _ data: String,
    _ account: String,
    _ device: String,
    days: Int? = nil
  ) async throws -> String {
    let said = Said()
    var words = ["token", "add", "--data", data, "--account", account, "--device", device]
    if let days { words += ["--days", "\(days)"] }
    let code = await ServerCommand.run(words, console: said.console)
    guard code == 0, let token = said.output.split(separator: "\n").first else {
      throw TestFailure("no token: \(said.errors)")
    }
    return String(token)
  }

  func client(
    _ token: String,
    by transport: any HTTPTransport = ServerProcess.transport
  ) throws -> WebServicesClient {
    WebServicesClient(
      address: try WebServicesAddress(origin),
      authorization: .bearer(Secret(token)),
      transport: transport
    )
  }

  static let transport = URLSessionTransport()

  /// Runs `cloudsync` on a database of the folder.
  func tool(_ token: String, _ arguments: String...) throws -> Run {
    try Run(Program.tool, arguments, environment: ["CLOUDSYNC_TOKEN": token])
  }
}

/// What a command has said.
final class Said: Sendable {
  private let text = Box(("", ""))

  var output: String { text.value.0 }
  var errors: String { text.value.1 }

  var console: ServerConsole {
    ServerConsole(
      output: { line in self.text.change { $0.0 += line } },
      errors: { line in self.text.change { $0.1 += line } }
    )
  }
}
