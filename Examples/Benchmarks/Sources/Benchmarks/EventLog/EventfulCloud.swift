import CloudSyncSession
import CloudSyncSimulator

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A cloud of one zone in memory with change tags, a feed of changes, and faults by number.
final class EventfulCloud: OperationHandler, @unchecked Sendable {
  // It is unchecked because the benchmark uses it from one thread.
  private let world: SimulatedEnvironment
  private var calls = 0
  private var tags = 0
  private var records: [String: Record] = [:]
  private var feed: [RecordID] = []
  private var hasZone = true
  /// Tokens carry it; another one makes them void.
  private var generation = 0
  private static let delay = Duration.milliseconds(300)

  init(in world: SimulatedEnvironment) { self.world = world }

  // MARK: Acting from outside

  /// Another device saves a record, whatever its tag.
  @discardableResult
  func save(_ edit: Record) -> Record {
    tags += 1
    let blank = Record(recordType: edit.recordType, recordID: edit.recordID)
    let before = records[edit.recordID.name] ?? blank
    let record = before.applying(edit).withChangeTag("t\(tags)")
    records[edit.recordID.name] = record
    feed.append(edit.recordID)
    return record
  }

  /// The zone disappears with all its records.
  func loseZone() {
    hasZone = false
    records = [:]
    feed = []
    generation += 1
  }

  // MARK: Answering

  /// Carries a request out, and answers it as the number of the call wants it.
  private func answer<Value: Sendable>(
    _ completion: @escaping @Sendable (Result<Value, SyncError>) -> Void,
    _ carryOut: () -> Result<Value, SyncError>
  ) {
    calls += 1
    switch calls % 97 {
    case 3: reply(.failure(SyncError(.networkFailure)), completion)
    case 25:
      _ = carryOut()
      reply(.failure(SyncError(.serverResponseLost)), completion)
    case 47:
      reply(.failure(SyncError(.requestRateLimited, retryAfter: .seconds(2))), completion)
    case 69:
      let result = carryOut()
      reply(result, completion)
      reply(result, completion)
    default: reply(carryOut(), completion)
    }
  }

  private func reply<Value: Sendable>(
    _ result: Result<Value, SyncError>,
    _ completion: @escaping @Sendable (Result<Value, SyncError>) -> Void
  ) {
    world.schedule(after: Self.delay) { completion(result) }
  }

  func handle(
    createZoneOperation: CreateZoneOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    answer(completion) {
      hasZone = true
      return .success(true)
    }
  }

  func handle(
    createSubscriptionOperation: CreateSubscriptionOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) { answer(completion) { hasZone ? .success(true) : .failure(SyncError(.zoneNotFound)) } }

  func handle(
    modifyOperation: ModifyOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
  ) {
    answer(completion) {
      guard hasZone else { return .failure(SyncError(.zoneNotFound)) }
      if modifyOperation.records.count > 20 { return .failure(SyncError(.limitExceeded)) }
      var response = ModifyOperation.Response()
      for edit in modifyOperation.records {
        if let error = refusal(of: edit) {
          response.failures.append(ItemFailure(edit.recordID, error))
        } else {
          response.savedRecords.append(save(edit))
        }
      }
      return .success(response)
    }
  }

  private func refusal(of edit: Record) -> SyncError? {
    if edit.recordID.name.hasSuffix("13") { return SyncError(.invalidArguments, "no") }
    let stored = records[edit.recordID.name]
    if stored?.changeTag == edit.changeTag { return nil }
    guard let stored else { return SyncError(.unknownItem) }
    return SyncError(.serverRecordChanged, clientRecord: edit, serverRecord: stored)
  }

  func handle(
    fetchOperation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  ) {
    answer(completion) {
      guard hasZone else { return .failure(SyncError(.zoneNotFound)) }
      if fetchOperation.isLookup { return .success(lookUp(fetchOperation.recordIDs)) }
      let parts = fetchOperation.changeToken.map {
        String(decoding: $0.bytes, as: UTF8.self).split(separator: ".").compactMap { Int($0) }
      }
      if let parts, parts.first != generation { return .failure(SyncError(.changeTokenExpired)) }
      let start = parts?.last ?? 0
      let end = min(feed.count, start + 7)
      // What is changed again later comes with that change.
      let page = feed[start..<end].enumerated()
        .filter { place, id in !feed[(start + place + 1)..<end].contains(id) }
      return .success(
        FetchOperation.Response(
          changedRecords: page.compactMap { records[$0.element.name] },
          changeToken: ChangeToken(Data("\(generation).\(end)".utf8)),
          hasMore: end < feed.count
        )
      )
    }
  }

  private func lookUp(_ recordIDs: [RecordID]) -> FetchOperation.Response {
    var response = FetchOperation.Response(changeToken: nil)
    for recordID in recordIDs {
      if let record = records[recordID.name] {
        response.changedRecords.append(record)
      } else {
        response.failures.append(ItemFailure(recordID, SyncError(.unknownItem)))
      }
    }
    return response
  }
}
