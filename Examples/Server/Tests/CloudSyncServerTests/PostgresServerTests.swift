import CloudSyncLocalCloud
import CloudSyncSession
import CloudSyncWebServices
import Foundation
import PostgresStore
import PostgresTestServer
import Testing

@testable import CloudSyncServer

@Suite("Servers on one PostgreSQL")
struct PostgresServerTests {
  /// Two processes that share a folder and a database.
  private final class Pair {
    let folder: Folder
    let conninfo: String
    private let processes: [Running]
    let ports: [ServerPorts]

    init(_ name: String = #function) throws {
      folder = try Folder(name)
      conninfo = try PostgresServer.shared.get().newSchema()
      let arguments = [
        "serve", "--data", folder.path("server"), "--postgres", conninfo, "--listen",
        "127.0.0.1:0", "--admin", "127.0.0.1:0",
      ]
      processes = [
        try Running(Program.server, arguments), try Running(Program.server, arguments),
      ]
      ports = try processes.map { try ServerPorts(of: $0) }
    }

    /// A token of a device.
    func token(_ device: String) async throws -> String {
      let said = Said()
      let code = await ServerCommand.run(
        ["token", "add", "--postgres", conninfo, "--account", "alice", "--device", device],
        console: said.console
      )
      guard code == 0, let token = said.output.split(separator: "\n").first else {
        throw TestFailure("no token: \(said.errors)")
      }
      return String(token)
    }

    /// The clients of a device, one for each process.
    func clients(_ device: String) async throws -> [WebServicesClient] {
      let token = try await token(device)
      return try ports.map { ports in
        WebServicesClient(
          address: try WebServicesAddress("http://127.0.0.1:\(ports.devices)"),
          authorization: .bearer(Secret(token)),
          transport: ServerProcess.transport
        )
      }
    }

    /// The handlers of a device, one for each process.
    func handlers(_ device: String) async throws -> [WebServicesOperationHandler] {
      try await clients(device).enumerated()
        .map { number, client in
          WebServicesOperationHandler(
            client: client,
            zoneID: notes,
            assets: AssetCache(folder: "\(folder.path("cache"))/\(device)-\(number)")
          )
        }
    }

    var areRunning: Bool { processes.allSatisfy(\.isRunning) }
  }

  /// Gives every request to the next process in turn, as a proxy does.
  private final class Alternating: OperationHandler {
    private let handlers: [WebServicesOperationHandler]
    private let turn = Box(0)

    init(_ handlers: [WebServicesOperationHandler]) { self.handlers = handlers }

    var limits: RequestLimits { handlers[0].limits }
    var timestampUnit: Duration { handlers[0].timestampUnit }

    private var next: WebServicesOperationHandler {
      turn.change { $0 += 1 }
      return handlers[turn.value % handlers.count]
    }

    func handle(
      createZoneOperation: CreateZoneOperation,
      context: RequestContext,
      completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
    ) {
      next.handle(
        createZoneOperation: createZoneOperation,
        context: context,
        completion: completion
      )
    }

    func handle(
      createSubscriptionOperation: CreateSubscriptionOperation,
      context: RequestContext,
      completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
    ) {
      next.handle(
        createSubscriptionOperation: createSubscriptionOperation,
        context: context,
        completion: completion
      )
    }

    func handle(
      modifyOperation: ModifyOperation,
      context: RequestContext,
      completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
    ) {
      next.handle(modifyOperation: modifyOperation, context: context, completion: completion)
    }

    func handle(
      fetchOperation: FetchOperation,
      context: RequestContext,
      completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
    ) {
      next.handle(fetchOperation: fetchOperation, context: context, completion: completion)
    }
  }

  @Test("56. Two servers on one database, whose requests alternate, do what handlers must do")
  func conforms() async throws {
    for check in OperationHandlerConformance.all {
      let pair = try Pair()
      let outside = LocalCloud(store: try PostgresStore(conninfo: pair.conninfo))
      var capabilities = ConformanceCapabilities()
      capabilities.assetFolder = pair.folder.path("files")
      let first = Alternating(try await pair.handlers("a"))
      let second = Alternating(try await pair.handlers("b"))
      let others = try await pair.clients("a")
      var cloud = ConformanceCloud(
        zoneID: notes,
        capabilities: capabilities,
        deleteZone: { reason in
          do {
            let alice = AccountIdentity("alice")
            try outside.deleteZone(notes, account: alice, reason: reason)
          } catch { Issue.record(error) }
        }
      ) { device in device == "b" ? second : first }
      cloud.connectToOther = { _, zoneID in
        Alternating(others.map { WebServicesOperationHandler(client: $0, zoneID: zoneID) })
      }
      #expect(check.reasonLeftOut(for: cloud) == nil)
      for failure in await check.run(cloud) { Issue.record("\(check): \(failure)") }
      #expect(pair.areRunning)
    }
  }

  /// A device that waits for changes at a process.
  private struct Waiting {
    private let connection: RawConnection
    private let courier: String

    init(_ token: String, at ports: ServerPorts) throws {
      connection = try RawConnection(port: ports.devices)
      let path = "/database/1/cloudsync/production/tokens/create"
      connection.request("POST", path, token: token, body: "{}")
      let found = connection.answer().body.firstMatch(of: /\/courier\/1\/[0-9a-f.]+/)
      courier = String(try #require(found).0)
    }

    func ask() { connection.request("GET", courier) }

    /// What it is told at last: on a machine that is busy its time may be over before.
    func answer() -> RawConnection.Answer {
      var answer = connection.answer()
      for _ in 0..<10 where answer.status == 200 && answer.body.isEmpty {
        ask()
        answer = connection.answer()
      }
      return answer
    }
  }

  @Test("72. A change that one server is told reaches a device that waits at the other")
  func pushes() async throws {
    let pair = try Pair()
    let writer = try await pair.handlers("mac")[0]
    #expect(try await writer.createZone(notes).get())
    let phone = try Waiting(try await pair.token("phone"), at: pair.ports[1])
    phone.ask()
    #expect(!phone.answer().body.isEmpty, "the first is answered at once")
    for round in 1...3 {
      phone.ask()
      let result = await writer.modify([note("r\(round)")], token: UInt64(round))
      #expect(try result.get().savedRecords.count == 1)
      let answer = phone.answer()
      #expect(answer.body.contains("ck"), "\(answer)")
    }
  }

  @Test(
    "A password among the arguments is refused, and not repeated; tokens are listed and revoked"
  )
  func arguments() async throws {
    let conninfo = try PostgresServer.shared.get().newSchema()
    let said = Said()
    func run(_ words: String...) async -> Int32 {
      await ServerCommand.run(words, console: said.console)
    }
    #expect(await run("renew", "--postgres", "host=h password=secret") == 2)
    #expect(!said.errors.contains("secret"))
    #expect(await run("token", "list", "--postgres", "host=/nowhere") == 1)
    for device in ["phone", "pad"] {
      let code = await run(
        "token",
        "add",
        "--postgres",
        conninfo,
        "--account",
        "ada",
        "--device",
        device
      )
      #expect(code == 0)
    }
    #expect(
      await run(
        "token",
        "revoke",
        "--postgres",
        conninfo,
        "--account",
        "ada",
        "--device",
        "pad"
      ) == 0
    )
    let list = Said()
    _ = await ServerCommand.run(
      ["token", "list", "--postgres", conninfo],
      console: list.console
    )
    #expect(list.output.contains("phone") && !list.output.contains("pad"))
    #expect(await run("renew", "--postgres", conninfo) == 0)
  }
}
