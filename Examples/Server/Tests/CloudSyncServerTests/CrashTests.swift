import CloudSyncSession
import CloudSyncWebServices
import Foundation
import Testing

@testable import CloudSyncServer

@Suite("A server that is killed")
struct CrashTests {
  @Test(
    "57. Killed before the lock, before the commit and before the response: every record exactly once",
    arguments: ["beforeLock", "beforeCommit", "afterCommit"]
  )
  func kills(point: String) async throws {
    let server = try TestServer("crash")
    let handler = try server.handler()
    #expect(try await handler.createZone(notes).get())
    server.process.send(SIGKILL)
    _ = server.process.wait()
    for round in 0..<20 {
      // It ends at one of the next three requests, which are sent again until they are answered.
      try server.restart(dyingAt: point, of: 1 + round % 3)
      var deaths = 0
      for number in 0..<3 {
        let names = (0..<5).map { "r-\(round)-\(number)-\($0)" }
        let token = UInt64(10 + round * 10 + number)
        for _ in 0..<10 {
          let result = await handler.modify(names.map { note($0) }, token: token)
          if case .success(let response) = result {
            #expect(
              response.savedRecords.map(\.recordID.name) == names && response.failures.isEmpty
            )
            break
          }
          #expect([.serverResponseLost, .networkFailure].contains(result.error?.code))
          #expect(server.process.wait() == -SIGKILL)
          deaths += 1
          try server.restart()
        }
      }
      #expect(deaths == 1)
      server.process.send(SIGKILL)
      _ = server.process.wait()
    }
    try server.restart()
    let names = try await handler.fetchAll().map(\.recordID.name)
    #expect(names.count == 300 && Set(names).count == 300)
    #expect(server.end() == 0)
  }
}
