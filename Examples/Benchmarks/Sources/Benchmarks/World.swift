import CloudSyncSession
import Foundation

/// What the session is measured in without a run loop: jobs run where they are given, timers never.
enum World {
  private struct DeadTimer: SyncTimer {
    func schedule(after nanoseconds: Int64) {}
    func cancel() {}
  }

  static let immediate = SyncEnvironment(
    now: { Timestamp(nanoseconds: 1_700_000_000_000_000_000) },
    nonce: { 7 },
    makeExecutor: { .immediate },
    makeTimer: { _, _ in DeadTimer() }
  )

  static let zoneID = ZoneID(name: "Notes")

  static func record(_ number: Int, fields: Int = 5) -> Record {
    var record = Record(
      recordType: "Note",
      recordID: RecordID(name: "note-\(number)", zoneID: zoneID)
    )
    for field in 0..<fields { record["field\(field)"] = .int64(Int64(number &+ field)) }
    return record
  }

  static func operations(_ count: Int, from first: Int = 0) -> [ModifyOperation] {
    (first..<first + count).map { ModifyOperation(records: [record($0)]) }
  }
}

/// A handler that answers at once, or keeps the response until it is asked for.
final class BenchmarkHandler: OperationHandler, @unchecked Sendable {
  // It is unchecked because every benchmark uses it from one thread at a time.
  let limits: RequestLimits
  let answersAtOnce: Bool
  @exclusivity(unchecked) private(set) var requests = 0
  @exclusivity(unchecked) private var waiting: (() -> Void)?
  @exclusivity(unchecked) var answer:
    (ModifyOperation) -> Result<ModifyOperation.Response, SyncError> = { operation in
      .success(
        ModifyOperation.Response(
          savedRecords: operation.records.map { $0.withChangeTag("1") },
          deletedRecordIDs: operation.recordIDsToDelete
        )
      )
    }

  init(items: Int = 400, answersAtOnce: Bool) {
    limits = RequestLimits(items: items)
    self.answersAtOnce = answersAtOnce
  }

  /// Gives the response that is waited for.
  func answerNow() {
    let answer = waiting
    waiting = nil
    answer?()
  }

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
    requests += 1
    let result = answer(modifyOperation)
    if answersAtOnce { completion(result) } else { waiting = { completion(result) } }
  }

  func handle(
    fetchOperation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  ) { completion(.success(FetchOperation.Response(changeToken: ChangeToken(Data([1]))))) }
}
