// SAMPLE: CloudSyncService/GettingStarted.md
import CloudSyncLocalCloud
import CloudSyncService
import CloudSyncSession
import Testing

@Suite("Getting started with a service")
struct ServiceGettingStartedTests {
  @Test("A service tells whoever has a token which account it belongs to, and nobody else")
  func knowsItsUsers() async throws {
    let tokens = MemoryTokens()
    let ada = ServiceAccess(account: AccountIdentity("ada"), device: "mac")
    tokens.add(token: "what only Ada's Mac knows", access: ada)
    let service = CloudService(cloud: LocalCloud(), tokens: tokens)

    var request = HTTPRequest(
      method: "GET",
      target: "/database/1/cloudsync/production/private/users/caller"
    )
    #expect(await service.respond(to: request, from: "192.0.2.7").status == 401)

    request.headers["Authorization"] = "Bearer what only Ada's Mac knows"
    let response = await service.respond(to: request, from: "192.0.2.7")
    #expect(response.status == 200)
    #expect(String(decoding: response.body, as: UTF8.self).contains("ada"))
  }
}
// SAMPLE: end
