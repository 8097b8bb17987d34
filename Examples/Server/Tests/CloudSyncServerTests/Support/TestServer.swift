import CloudSyncWebServices
import Foundation

/// A server that does as a test wants: see Tests/TestServer.
final class TestServer {
  let folder: Folder
  private(set) var ports: ServerPorts
  private(set) var process: Running

  init(_ name: String = #function, with files: [String] = []) throws {
    folder = try Folder(name)
    for file in files { try Data().write(to: URL(fileURLWithPath: folder.path(file))) }
    process = try Self.start(folder, port: 0, "never", 0)
    ports = try ServerPorts(of: process)
  }

  /// Starts it again, to end at a point of a transaction.
  func restart(dyingAt point: String = "never", of number: Int = 0) throws {
    process = try Self.start(folder, port: ports.devices, point, number)
    ports = try ServerPorts(of: process)
  }

  private static func start(
    _ folder: Folder,
    port: Int,
    _ point: String,
    _ number: Int
  ) throws -> Running {
    try Running(Program.testServer, [folder.path, "\(port)", point, "\(number)"])
  }

  /// Puts a file into the folder, or takes it away.
  func set(_ file: String, _ isThere: Bool) throws {
    if isThere {
      try Data().write(to: URL(fileURLWithPath: folder.path(file)))
    } else {
      try FileManager.default.removeItem(atPath: folder.path(file))
    }
  }

  func handler(_ token: Secret = "token") throws -> WebServicesOperationHandler {
    let client = WebServicesClient(
      address: try WebServicesAddress("http://127.0.0.1:\(ports.devices)"),
      authorization: .bearer(token),
      transport: ServerProcess.transport
    )
    return WebServicesOperationHandler(client: client, zoneID: notes)
  }

  func admin(_ path: String) throws -> RawConnection.Answer {
    let connection = try RawConnection(port: ports.admin)
    connection.request("GET", path)
    return connection.answer()
  }

  func end() -> Int32 {
    process.send(SIGTERM)
    return process.wait()
  }
}

/// Where a server says that it listens.
struct ServerPorts {
  private(set) var devices = 0
  private(set) var admin = 0

  init(of process: Running) throws {
    try process.wait { $0.output.split(separator: "\n").count >= 2 && $0.output.hasSuffix("\n") }
    for line in process.output.split(separator: "\n") {
      let number = line.split(separator: ":").last.flatMap { Int($0) } ?? 0
      if line.hasPrefix("devices") { devices = number } else { admin = number }
    }
  }
}
