import CloudSyncCore
import Foundation
import Testing

@Suite("HistoryKeepingHandler")
struct HistoryKeepingHandlerTests {
  private static let zoneID = ZoneID(name: "Notes")
  private static let (one, two, three) = (token("one"), token("two"), token("three"))

  private static func token(_ text: String) -> ChangeToken? { ChangeToken(Data(text.utf8)) }

  /// A cloud that answers with what it is told to, and remembers what it was shown.
  private final class Cloud: OperationHandler {
    let shown = Locked<[[ChangeToken]]>([])
    let token = Locked<ChangeToken?>(nil)
    let error = Locked<SyncError?>(nil)
    /// Answers that are held back.
    let late = Locked<[@Sendable () -> Void]>([])
    let isLate = Locked(false)

    private func answer<Value: Sendable>(
      _ context: RequestContext,
      _ value: Value,
      _ completion: @escaping @Sendable (Result<Value, SyncError>) -> Void
    ) {
      shown.withLock { $0.append(context.historyTokens) }
      let error = error.withLock { $0 }
      let answer: @Sendable () -> Void = {
        completion(error.map { .failure($0) } ?? .success(value))
      }
      if isLate.withLock({ $0 }) { return late.withLock { $0.append(answer) } }
      answer()
    }

    func handle(
      createZoneOperation: CreateZoneOperation,
      context: RequestContext,
      completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
    ) { answer(context, true, completion) }

    func handle(
      createSubscriptionOperation: CreateSubscriptionOperation,
      context: RequestContext,
      completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
    ) { answer(context, true, completion) }

    func handle(
      modifyOperation: ModifyOperation,
      context: RequestContext,
      completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
    ) {
      var response = ModifyOperation.Response()
      response.historyToken = token.withLock { $0 }
      answer(context, response, completion)
    }

    func handle(
      fetchOperation: FetchOperation,
      context: RequestContext,
      completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
    ) {
      var response = FetchOperation.Response(changeToken: nil)
      response.historyToken = token.withLock { $0 }
      answer(context, response, completion)
    }
  }

  private let cloud = Cloud()

  private func context() -> RequestContext {
    RequestContext(
      attempt: Attempt(epoch: 1, number: 1),
      writeToken: WriteToken(nonce: 1, number: 1),
      deadline: .distantFuture
    )
  }

  private func save(_ handler: HistoryKeepingHandler, telling token: ChangeToken?) {
    cloud.token.withLock { $0 = token }
    handler.handle(modifyOperation: ModifyOperation(), context: context()) { _ in }
  }

  private func fetch(_ handler: HistoryKeepingHandler, telling token: ChangeToken?) {
    cloud.token.withLock { $0 = token }
    handler.handle(fetchOperation: FetchOperation(), context: context()) { _ in }
  }

  private func createZone(_ handler: HistoryKeepingHandler) {
    handler.handle(
      createZoneOperation: CreateZoneOperation(zoneID: Self.zoneID),
      context: context()
    ) { _ in }
  }

  @Test("Each request shows what the response before it has told, or an earlier handler has left")
  func shows() throws {
    let (one, two) = (try #require(Self.one), try #require(Self.two))
    let handler = HistoryKeepingHandler(cloud, tokens: [one])

    save(handler, telling: two)
    fetch(handler, telling: nil)

    #expect(cloud.shown.withLock { $0 } == [[one], [two]])
    #expect(handler.tokens == [two])
  }

  @Test("What has changed is stored before the response is passed on")
  func storedFirst() throws {
    let order = Locked<[String]>([])
    let handler = HistoryKeepingHandler(cloud) { tokens in
      order.withLock { $0.append("stored \(tokens.count)") }
    }
    cloud.token.withLock { $0 = Self.one }
    handler.handle(modifyOperation: ModifyOperation(), context: context()) { _ in
      order.withLock { $0.append("answered") }
    }

    #expect(order.withLock { $0 } == ["stored 1", "answered"])
  }

  @Test("A late response takes nothing away that its request has not shown")
  func late() throws {
    let (one, two, three) = try (#require(Self.one), #require(Self.two), #require(Self.three))
    let handler = HistoryKeepingHandler(cloud, tokens: [one])
    cloud.isLate.withLock { $0 = true }
    save(handler, telling: two)
    cloud.isLate.withLock { $0 = false }
    save(handler, telling: three)

    for answer in cloud.late.withLock({ $0 }) { answer() }

    #expect(Set(handler.tokens) == [two, three])
  }

  @Test("Only a zone that is made again after it was lost is one without a history")
  func newZone() throws {
    let one = try #require(Self.one)
    let handler = HistoryKeepingHandler(cloud, tokens: [one])
    // A session that does not know of its zone makes it, and it is there.
    createZone(handler)
    #expect(handler.tokens == [one])

    cloud.error.withLock { $0 = SyncError(.zoneNotFound, isEncryptedDataReset: true) }
    fetch(handler, telling: nil)
    #expect(handler.tokens == [one])

    cloud.error.withLock { $0 = nil }
    createZone(handler)
    #expect(handler.tokens == [])
  }

  @Test("Neither equality nor coding knows of what a cloud tells of its history")
  func isNoContent() throws {
    var response = ModifyOperation.Response()
    response.historyToken = Self.one
    let copy = try JSONDecoder()
      .decode(ModifyOperation.Response.self, from: JSONEncoder().encode(response))

    #expect(copy == response && copy.historyToken == nil)
  }
}
