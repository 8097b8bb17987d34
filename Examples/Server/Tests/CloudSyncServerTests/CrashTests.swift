import CloudSyncSession
import CloudSyncWebServices
import Foundation
import Testing

@testable import CloudSyncServer

@Suite("A server that is killed")
struct CrashTests {
  /// A server that ends at a point, or never.
  private static func start(
    _ folder: Folder,
    port: Int,
    _ point: String,
    _ number: Int
  ) throws -> (
    Running, port: Int
  ) {
    let program = URL(fileURLWithPath: Program.server).deletingLastPathComponent()
      .appendingPathComponent("crashing-server").path
    let process = try Running(program, [folder.path, "\(port)", "token", point, "\(number)"])
    try process.wait { $0.output.hasSuffix("\n") }
    let port = process.output.dropLast().split(separator: ":").last.flatMap { Int($0) } ?? 0
    return (process, port)
  }

  @Test(
    "57. Killed before the lock, before the commit and before the answer: every record exactly once",
    arguments: ["beforeLock", "beforeCommit", "afterCommit"]
  )
  func kills(point: String) async throws {
    let folder = try Folder("crash")
    let transport = URLSessionTransport()
    var (process, port) = try Self.start(folder, port: 0, "never", 0)
    let client = WebServicesClient(
      address: try WebServicesAddress("http://127.0.0.1:\(port)"),
      authorization: .bearer("token"),
      transport: transport
    )
    let handler = WebServicesOperationHandler(client: client, zoneID: notes)
    #expect(try await handler.createZone(notes).get())
    process.send(SIGKILL)
    _ = process.wait()
    for round in 0..<20 {
      // It ends at one of the next three requests, which are sent again until they are answered.
      (process, _) = try Self.start(folder, port: port, point, 1 + round % 3)
      var deaths = 0
      for number in 0..<3 {
        let names = (0..<5).map { "r-\(round)-\(number)-\($0)" }
        let token = UInt64(10 + round * 10 + number)
        while true {
          let result = await handler.modify(names.map { note($0) }, token: token)
          if case .success(let response) = result {
            #expect(
              response.savedRecords.map(\.recordID.name) == names && response.failures.isEmpty
            )
            break
          }
          #expect([.serverResponseLost, .networkFailure].contains(result.error?.code))
          #expect(process.wait() == -SIGKILL)
          deaths += 1
          (process, _) = try Self.start(folder, port: port, "never", 0)
        }
      }
      #expect(deaths == 1)
      process.send(SIGKILL)
      _ = process.wait()
    }
    (process, _) = try Self.start(folder, port: port, "never", 0)
    let names = try await handler.fetchAll().map(\.recordID.name)
    #expect(names.count == 300 && Set(names).count == 300)
    process.send(SIGTERM)
    #expect(process.wait() == 0)
  }
}
