import CloudSyncLocalCloud
import CloudSyncSession
import CloudSyncWebServices
import Foundation
import Testing

@testable import CloudSyncServer

@Suite("Conformance over loopback")
struct ConformanceTests {
  @Test(
    "A client of the real server does what handlers must do",
    arguments: TestTransport.allCases
  )
  func conforms(by testTransport: TestTransport) async throws {
    let transport = testTransport.make()
    for check in OperationHandlerConformance.all {
      // Record types belong to all accounts: each check has a server of its own.
      let server = try ServerProcess()
      // Another process on the same file: what happens to a zone from outside.
      let outside = LocalCloud(store: try SQLiteStore(path: server.data + "/cloud.sqlite"))
      var capabilities = ConformanceCapabilities()
      capabilities.assetFolder = server.folder.path("files")
      capabilities.largestAsset = 5_000_000
      var clients: [String: WebServicesClient] = [:]
      for device in ["a", "b"] {
        clients[device] = try server.client(try await server.token(device), by: transport)
      }
      let (folder, known) = (server.folder.path("cache"), clients)
      guard let spare = clients["a"] else { throw TestFailure("there is no client") }
      var cloud = ConformanceCloud(
        zoneID: notes,
        capabilities: capabilities,
        deleteZone: { reason in
          do {
            let alice = AccountIdentity("alice")
            try outside.deleteZone(notes, account: alice, reason: reason)
          } catch { Issue.record(error) }
        }
      ) { device in
        WebServicesOperationHandler(
          client: known[device] ?? spare,
          zoneID: notes,
          assets: AssetCache(folder: "\(folder)/\(device)")
        )
      }
      cloud.connectToOther = { _, zoneID in
        WebServicesOperationHandler(client: spare, zoneID: zoneID)
      }
      #expect(check.reasonLeftOut(for: cloud) == nil)
      for failure in await check.run(cloud) { Issue.record("\(check): \(failure)") }
      #expect(server.process.isRunning)
    }
  }
}
