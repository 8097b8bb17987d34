// SAMPLE: CloudSyncWebServices/GettingStarted.md
import CloudSyncLocalCloud
import CloudSyncService
import CloudSyncSession
import CloudSyncWebServices
import Testing

/// Hands requests to a service in this process, as if there were a network in between.
struct NoNetwork: HTTPTransport {
  let service: CloudService

  func send(
    _ request: HTTPRequest,
    to origin: String,
    deadline: Timestamp
  ) async throws(HTTPTransportError) -> HTTPResponse {
    await service.respond(to: request)
  }
}

@Suite("Getting started with CloudKit's HTTP API")
struct WebServicesGettingStartedTests {
  private let zone = ZoneID(name: "Notes")

  @Test("A note that one device saves, another one fetches through the service")
  func meets() async throws {
    let tokens = MemoryTokens()
    let service = CloudService(cloud: LocalCloud(), tokens: tokens)
    let (mac, phone) = try (session("mac", service, tokens), session("phone", service, tokens))
    let pages = phone.fetchWorkCompletedSubject.values()

    mac.start()
    var note = Record(recordType: "Note", recordID: RecordID(name: "1", zoneID: zone))
    note["text"] = "Buy milk"
    let response = try await mac.perform(ModifyOperation(records: [note]))
    #expect(response.unsaved.isEmpty)

    phone.start()
    #expect(await phone.fetchNow(upTo: .seconds(60)) == .new)
    for await (_, page) in pages where !page.changedRecords.isEmpty {
      #expect(page.changedRecords.map { $0["text"]?.stringValue } == ["Buy milk"])
      break
    }
  }

  private func session(
    _ device: String,
    _ service: CloudService,
    _ tokens: MemoryTokens
  ) throws -> CloudSyncSession {
    let token = "what only the \(device) knows"
    tokens.add(token: token, access: ServiceAccess(account: AccountIdentity("ada"), device: device))
    let client = WebServicesClient(
      address: try WebServicesAddress("https://sync.example.org"),
      authorization: .bearer(Secret(token)),
      transport: NoNetwork(service: service)  // in an app: URLSessionTransport()
    )
    let handler = WebServicesOperationHandler(client: client, zoneID: zone)
    let session = CloudSyncSession(operationHandler: handler, zoneID: zone)
    session.appendMiddleware(AccountStatusMiddleware(provider: client.accountStatus))
    return session
  }
}
// SAMPLE: end
