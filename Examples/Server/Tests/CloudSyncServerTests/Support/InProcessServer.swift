import CloudSyncLocalCloud
import CloudSyncService
import CloudSyncSession
import CloudSyncWebServices
import Logging

@testable import CloudSyncServer

/// A server in the test's own process, with a store, limits and a clock of the test's.
final class InProcessServer {
  let folder: Folder
  let tokens = MemoryTokens()
  private(set) var origin = ""
  private(set) var adminPort = 0
  private var running: Task<Void, any Error>?

  var port: Int { origin.split(separator: ":").last.flatMap { Int($0) } ?? 0 }

  init(
    _ name: String = #function,
    store: ((String) throws -> any LocalCloudStore) = { try SQLiteStore(path: $0) },
    change: (inout ServerConfiguration) -> Void = { _ in }
  ) async throws {
    folder = try Folder(name)
    var configuration = ServerConfiguration()
    configuration.listen = ("127.0.0.1", 0)
    configuration.admin = ("127.0.0.1", 0)
    change(&configuration)
    let addresses = AsyncStream.makeStream(of: (String, String).self)
    let program = ServerProgram(
      store: try store(folder.path("cloud.sqlite")),
      folder: folder.path,
      tokens: tokens,
      secret: [UInt8](repeating: 1, count: 32),
      configuration: configuration,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) { addresses.continuation.yield(($0, $1)) }
    running = Task { try await program.run() }
    var count = 0
    for await (name, address) in addresses.stream {
      if name == "devices" { origin = address }
      if name == "admin" { adminPort = address.split(separator: ":").last.flatMap { Int($0) } ?? 0 }
      count += 1
      if count == 2 { break }
    }
  }

  deinit { running?.cancel() }

  func client(_ device: String, _ account: String = "alice") throws -> WebServicesClient {
    let token = "token-of-\(account)-\(device)"
    tokens.add(
      token: token,
      access: ServiceAccess(account: AccountIdentity(account), device: device)
    )
    return WebServicesClient(
      address: try WebServicesAddress(origin),
      authorization: .bearer(Secret(token)),
      transport: ServerProcess.transport
    )
  }

  func handler(_ device: String, _ account: String = "alice") throws -> WebServicesOperationHandler
  {
    WebServicesOperationHandler(client: try client(device, account), zoneID: notes)
  }

  func admin(_ path: String) throws -> RawConnection.Answer {
    let connection = try RawConnection(port: adminPort)
    connection.request("GET", path)
    return connection.answer()
  }
}
