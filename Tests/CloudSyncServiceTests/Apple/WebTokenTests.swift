@testable import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncService
import CloudSyncWebServices
import Foundation
import Testing

@Suite("Web tokens of Apple's service")
struct WebTokenTests {
  private let world = ServiceWorld { $0.knowsWriteTokens = false }
  private let apple: AppleService
  private let transport: InProcessTransport

  init() {
    apple = AppleService(world)
    transport = apple.transport
  }

  private func client(_ store: any WebTokenStore) throws -> WebServicesClient {
    WebServicesClient(
      address: try AppleService.address(),
      authorization: .webToken(apiToken: Secret(AppleService.apiToken), store: store),
      transport: transport,
      now: { [world] in world.now }
    )
  }

  private func handler(
    _ client: WebServicesClient,
    zoneID: ZoneID = ServiceWorld.zoneID
  ) -> WebServicesOperationHandler {
    WebServicesOperationHandler(client: client, zoneID: zoneID)
  }

  /// The requests of the API so far.
  private var requestCount: Int { transport.requests.count }

  private static func context(_ number: UInt64) -> RequestContext {
    RequestContext(
      attempt: Attempt(epoch: 1, number: number),
      writeToken: WriteToken(nonce: 1, number: number),
      deadline: .distantFuture
    )
  }

  /// How many tokens were stored when a call was answered, and not a moment later.
  private func savesAtAnswer(
    _ store: MemoryTokenStore,
    _ call: (_ answered: @escaping @Sendable () -> Void) -> Void
  ) async -> Int {
    await withCheckedContinuation { continuation in
      call { continuation.resume(returning: store.saves) }
    }
  }

  @Test(
    "35. The token of every response is stored before it is delivered: success, item error, 4xx"
  )
  func rotation() async throws {
    let store = MemoryTokenStore(apple.signIn("phone"))
    let phone = handler(try client(store))
    let zone = CreateZoneOperation(zoneID: ServiceWorld.zoneID)
    let created = await savesAtAnswer(store) { answered in
      phone.handle(createZoneOperation: zone, context: Self.context(1)) { _ in answered() }
    }
    #expect(created == 1)
    _ = try await phone.modify([note("a")], token: 2).get()
    #expect(store.saves == 2)
    // An item that fails, and the look-up of what the service has.
    let edit = ModifyOperation(records: [note("a")])
    let codes = Locked<[String: SyncError.Code]>([:])
    let refused = await savesAtAnswer(store) { answered in
      phone.handle(modifyOperation: edit, context: Self.context(3)) { result in
        codes.withLock { $0 = result.itemCodes }
        answered()
      }
    }
    #expect(refused == 4)
    #expect(codes.withLock { $0 } == ["a": .serverRecordChanged])
    transport.onRequest { (_, _) throws(HTTPTransportError) in
      .alter { response in
        HTTPResponse(status: 429, headers: response.headers, body: Array("{}".utf8))
      }
    }
    let code = Locked<SyncError.Code?>(nil)
    let throttled = await savesAtAnswer(store) { answered in
      phone.handle(fetchOperation: FetchOperation(), context: Self.context(4)) { result in
        code.withLock { $0 = result.error?.code }
        answered()
      }
    }
    #expect(throttled == 5)
    #expect(code.withLock { $0 } == .requestRateLimited)
    transport.onRequest { _, _ in nil }
    let strange = FetchOperation(changeToken: ChangeToken(.init("AAAA".utf8)))
    #expect(await phone.fetch(strange).error != nil)
    #expect(store.saves == 6 && store.saves == requestCount)
    #expect(try await phone.fetch().get().changedRecords.count == 1)
    #expect(apple.violations == [])
  }

  @Test("35. A process that ends after storing and before delivering leaves one that goes on")
  func killed() async throws {
    let store = MemoryTokenStore(apple.signIn("phone"))
    _ = try await handler(try client(store)).createZone().get()
    let former = handler(try client(EndingTokenStore(store)))
    let unheard = await former.modify([note("a")], token: 1)
    #expect(unheard.error?.code == .serverResponseLost)
    #expect(store.saves == 2)
    // What the former process had stored when it was gone is all that the next one has.
    let nextClient = try client(MemoryTokenStore(try store.load()))
    let next = handler(nextClient)
    // Nobody has heard that it was saved: it is sent again.
    #expect(await next.modify([note("a")], token: 1).itemCodes == ["a": .serverRecordChanged])
    #expect(try await next.fetch().get().changedRecords.count == 1)
    #expect(nextClient.signInNeeded == nil)
    #expect(apple.violations == [])
  }

  @Test(
    "35. A token that cannot be stored: the response counts as lost, and nothing goes on before it is"
  )
  func fullDisk() async throws {
    let store = MemoryTokenStore(apple.signIn("phone"))
    let phone = handler(try client(store))
    _ = try await phone.createZone().get()
    store.isFull = true
    #expect(await phone.modify([note("a")], token: 1).error?.code == .serverResponseLost)
    let count = requestCount
    #expect(await phone.fetch().error?.code == .serviceUnavailable)
    #expect(requestCount == count)
    store.isFull = false
    #expect(try await phone.fetch().get().changedRecords.count == 1)
  }

  @Test("36. Two sessions, 100 requests: never two in flight")
  func serial() async throws {
    let client = try client(MemoryTokenStore(apple.signIn("phone")))
    let zones = ["Notes", "Lists"].map { ZoneID(name: $0) }
    let sessions = zones.map { zoneID in
      CloudSyncSession(operationHandler: handler(client, zoneID: zoneID), zoneID: zoneID)
    }
    for session in sessions { session.start() }
    await withTaskGroup(of: Int.self) { group in
      for (session, zoneID) in zip(sessions, zones) {
        group.addTask {
          var saved = 0
          for number in 0..<50 {
            let record = Record(
              recordType: "Note",
              recordID: RecordID(name: "n\(number)", zoneID: zoneID),
              fields: ["x": 1]
            )
            let response = try? await session.perform(ModifyOperation(records: [record]))
            saved += response?.savedRecords.count ?? 0
          }
          return saved
        }
      }
      for await saved in group { #expect(saved == 50) }
    }
    for session in sessions { session.stop() }
    #expect(apple.mostInFlight == 1)
    #expect(requestCount >= 100)
    #expect(client.signInNeeded == nil)
  }

  @Test("37. A call that is cancelled in flight: its response is dropped, its token kept")
  func cancelled() async throws {
    let store = MemoryTokenStore(apple.signIn("phone"))
    let phone = handler(try client(store))
    _ = try await phone.createZone().get()
    let latch = Latch()
    apple.latch.withLock { $0 = latch }
    let attempt = Attempt(epoch: 1, number: 77)
    let context = RequestContext(
      attempt: attempt,
      writeToken: WriteToken(nonce: 1, number: 77),
      deadline: .distantFuture
    )
    let outcome = AsyncStream<Result<FetchOperation.Response, SyncError>> { stream in
      phone.handle(fetchOperation: FetchOperation(), context: context) {
        stream.yield($0)
        stream.finish()
      }
    }
    await latch.arrival()
    phone.cancel(attempt)
    await latch.open()
    var answers: [Result<FetchOperation.Response, SyncError>] = []
    for await answer in outcome { answers.append(answer) }
    #expect(answers.count == 1 && answers.first?.error?.code == .operationCancelled)
    #expect(store.saves == 2)
    _ = try await phone.fetch().get()
  }

  @Test("37. A call that is cancelled while it waits for its turn sends nothing")
  func cancelledInLine() async throws {
    let client = try client(MemoryTokenStore(apple.signIn("phone")))
    _ = try await handler(client).createZone().get()
    let latch = Latch()
    apple.latch.withLock { $0 = latch }
    async let first = handler(client).fetch()
    await latch.arrival()
    let second = handler(client)
    let attempt = Attempt(epoch: 1, number: 2)
    let code = Locked<SyncError.Code?>(nil)
    let (done, finish) = AsyncStream<Void>.makeStream()
    second.handle(
      fetchOperation: FetchOperation(),
      context: RequestContext(
        attempt: attempt,
        writeToken: WriteToken(nonce: 1, number: 2),
        deadline: .distantFuture
      )
    ) { result in
      code.withLock { $0 = result.error?.code }
      finish.finish()
    }
    second.cancel(attempt)
    await latch.open()
    for await _ in done {}
    _ = try await first.get()
    #expect(code.withLock { $0 } == .operationCancelled)
    #expect(requestCount == 2)
  }

  @Test(
    "38. A lost response: the stored token is tried once, then 9, the address, and a new sign-in goes on"
  )
  func lostResponse() async throws {
    let store = MemoryTokenStore(apple.signIn("phone"))
    let client = try client(store)
    let published = Locked<[SignInRequest?]>([])
    let subscription = client.signInPublisher.sink { request in
      published.withLock { $0.append(request) }
    }
    defer { subscription.cancel() }
    let phone = handler(client)
    _ = try await phone.createZone().get()
    transport.onRequest { _, _ in
      .alter { (_) throws(HTTPTransportError) in
        throw HTTPTransportError(.sent, "the connection was lost")
      }
    }
    #expect(await phone.modify([note("a")], token: 1).error?.code == .serverResponseLost)
    transport.onRequest { _, _ in nil }
    var before = requestCount
    #expect(await phone.modify([note("a")], token: 1).error?.code == .notAuthenticated)
    // Once with the token, once without to hear where to sign in.
    #expect(requestCount == before + 2)
    #expect(client.signInNeeded?.address == AppleService.signInAddress)
    before = requestCount
    #expect(await phone.fetch().error?.code == .notAuthenticated)
    #expect(await Self.status(client) == .noAccount)
    #expect(requestCount == before)

    try await client.signIn(webToken: apple.signIn("phone"))
    #expect(client.signInNeeded == nil)
    let again = await phone.modify([note("a")], token: 1)
    // It was saved the first time.
    #expect(again.itemCodes == ["a": .serverRecordChanged])
    let addresses = published.withLock { $0.map { $0?.address } }
    #expect(addresses == [AppleService.signInAddress, nil])
  }

  @Test("38. A session waits for the account, and goes on by itself after the sign-in")
  func session() async throws {
    let client = try client(MemoryTokenStore(nil))
    let session = CloudSyncSession(operationHandler: handler(client), zoneID: ServiceWorld.zoneID)
    session.appendMiddleware(AccountStatusMiddleware(provider: client.accountStatus))
    client.follow(session)
    let needs = client.signInPublisher.values(buffering: .all)
    session.start()
    async let saved = session.perform(ModifyOperation(records: [note("a")]))
    for await need in needs where need?.address == AppleService.signInAddress { break }
    #expect(transport.requests.allSatisfy { $0.path.hasSuffix("users/caller") })
    try await client.signIn(webToken: apple.signIn("phone"))
    #expect(try await saved.savedRecords.count == 1)
    session.stop()
  }

  @Test("38. A token that somebody puts into the store by hand is used")
  func byHand() async throws {
    let store = MemoryTokenStore("spent")
    let client = try client(store)
    #expect(await Self.status(client) == .noAccount)
    #expect(client.signInNeeded != nil)
    try store.save(apple.signIn("phone"))
    #expect(await Self.status(client) == .available)
    #expect(client.signInNeeded == nil)
  }

  private static func status(_ client: WebServicesClient) async -> AccountStatus {
    await withCheckedContinuation { continuation in
      client.accountStatus.ask { status, _ in continuation.resume(returning: status) }
    }
  }

  @Test(
    "38. A refusal that says where to sign in is not asked about again; a bare 421 is a network"
  )
  func refusals() async throws {
    apple.refusal.withLock { $0 = (421, "AUTHENTICATION_REQUIRED") }
    let client = try client(MemoryTokenStore("spent"))
    transport.onRequest { (_, _) throws(HTTPTransportError) in
      .answer(HTTPResponse(status: 421, "<html>misdirected</html>"))
    }
    #expect(await handler(client).fetch().error?.code == .networkFailure)
    #expect(client.signInNeeded == nil)
    transport.onRequest { (_, _) throws(HTTPTransportError) in
      .answer(
        HTTPResponse(
          status: 421,
          #"{"serverErrorCode":"AUTHENTICATION_REQUIRED","reason":"r","redirectURL":"javascript:x"}"#
        )
      )
    }
    #expect(await handler(client).fetch().error?.code == .notAuthenticated)
    // An address that is none is not for a browser.
    #expect(client.signInNeeded?.address == nil && client.signInNeeded?.reason == "r")
  }

  @Test("39. Signs in tokens arrive unchanged, and are in no error, description or dump")
  func signs() async throws {
    let token = apple.signIn("phone")
    let client = try client(MemoryTokenStore(token))
    _ = try await handler(client).createZone().get()
    let target = try #require(transport.requests.first?.target)
    #expect(
      target.hasSuffix("?ckAPIToken=api%2B%2F%3Dtoken&ckWebAuthToken=w1%2B%2F%3D%25%26%3F%23%3B")
    )
    transport.onRequest { (_, _) throws(HTTPTransportError) in
      throw HTTPTransportError(.sent, "the connection was lost")
    }
    let error = await handler(client).fetch().error
    for text in ["\(error as Any)", "\(token)", String(reflecting: token), "\(client)"] {
      #expect(!text.contains("w1+") && !text.contains("w1%"))
    }
    var dumped = ""
    dump(client, to: &dumped)
    #expect(!dumped.contains("w1+") && !dumped.contains("api+"))
  }
}

/// Stores a token, and then nothing of the response goes on to anybody: the process is gone.
private final class EndingTokenStore: WebTokenStore {
  private let store: MemoryTokenStore

  init(_ store: MemoryTokenStore) { self.store = store }

  func load() throws(WebTokenStoreError) -> Secret? { try store.load() }

  func save(_ token: Secret) throws(WebTokenStoreError) {
    try store.save(token)
    throw WebTokenStoreError("the process has ended")
  }
}
