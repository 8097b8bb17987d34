import CloudSyncLocalCloud
import CloudSyncSession

/// Reads all pages of a zone.
struct PageReader {
  let connection: LocalCloudConnection

  init(_ connection: LocalCloudConnection) { self.connection = connection }

  func pages() throws -> [FetchOperation.Response] {
    var pages: [FetchOperation.Response] = []
    var token: ChangeToken?
    while true {
      let answer = Answer()
      let number = UInt64(pages.count + 1)
      connection.handle(
        fetchOperation: FetchOperation(changeToken: token),
        context: RequestContext(
          attempt: Attempt(epoch: 1, number: number),
          writeToken: WriteToken(nonce: 1, number: number),
          deadline: .distantFuture
        )
      ) { answer.result = $0 }
      guard let page = try answer.result?.get() else {
        throw SyncError(.internalError, "the cloud has not answered")
      }
      pages.append(page)
      token = page.changeToken
      if !page.hasMore { return pages }
    }
  }

  private final class Answer: @unchecked Sendable {
    // It is unchecked because the local cloud answers on the caller's thread.
    var result: Result<FetchOperation.Response, SyncError>?
  }
}

/// A cloud that gives pages which were made before, one after the other.
final class PageHandler: OperationHandler, @unchecked Sendable {
  // It is unchecked because every benchmark uses it from one thread at a time.
  private let pages: [FetchOperation.Response]
  private var next = 0

  init(_ pages: [FetchOperation.Response]) { self.pages = pages }

  func handle(
    createZoneOperation: CreateZoneOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) { completion(.success(true)) }

  func handle(
    createSubscriptionOperation: CreateSubscriptionOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) { completion(.success(true)) }

  func handle(
    modifyOperation: ModifyOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
  ) {
    let saved = modifyOperation.records.map { $0.withChangeTag("1") }
    completion(.success(ModifyOperation.Response(savedRecords: saved, deletedRecordIDs: [])))
  }

  func handle(
    fetchOperation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  ) {
    guard next < pages.count else {
      return completion(.success(FetchOperation.Response(changeToken: pages.last?.changeToken)))
    }
    next += 1
    completion(.success(pages[next - 1]))
  }
}
