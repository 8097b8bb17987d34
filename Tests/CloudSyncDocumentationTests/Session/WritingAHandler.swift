import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSession
import Foundation
import Testing

// SAMPLE: CloudSyncCore/WritingAHandler.md
/// A cloud in memory: the last change of every record, in the order in which they were made.
actor ListCloud: AsyncOperationHandler {
  private var hasZone = false
  private var changes: [(position: Int, id: RecordID, record: Record?)] = []
  private var lastPosition = 0

  func createZone(_: CreateZoneOperation, context: RequestContext) -> Bool {
    hasZone = true
    return true
  }

  func createSubscription(_: CreateSubscriptionOperation, context: RequestContext) -> Bool { true }

  func modify(
    _ operation: ModifyOperation,
    context: RequestContext
  ) throws(SyncError) -> ModifyOperation.Response {
    let ids = operation.records.map(\.recordID) + operation.recordIDsToDelete
    guard hasZone else { throw SyncError(.zoneNotFound) }
    guard Set(ids).count == ids.count else { throw SyncError(.invalidArguments) }
    var response = ModifyOperation.Response()
    for edit in operation.records {
      switch save(edit) {
      case .success(let saved): response.savedRecords.append(saved)
      case .failure(let error): response.failures.append(ItemFailure(edit.recordID, error))
      }
    }
    for id in operation.recordIDsToDelete {
      change(id, to: nil)
      response.deletedRecordIDs.append(id)
    }
    return response
  }

  private func save(_ edit: Record) -> Result<Record, SyncError> {
    let stored = record(edit.recordID)
    if stored?.changeTag != edit.changeTag {
      guard let stored else { return .failure(SyncError(.unknownItem)) }
      return .failure(SyncError(.serverRecordChanged, serverRecord: stored))
    }
    // The fields that are set, over those that are there.
    let saved = edit.merged(into: stored).withChangeTag("\(lastPosition + 1)")
    change(edit.recordID, to: saved)
    return .success(saved)
  }

  private func record(_ id: RecordID) -> Record? { changes.first { $0.id == id }?.record }

  private func change(_ id: RecordID, to record: Record?) {
    changes.removeAll { $0.id == id }
    lastPosition += 1
    changes.append((lastPosition, id, record))
  }

  func fetch(
    _ operation: FetchOperation,
    context: RequestContext
  ) throws(SyncError) -> FetchOperation.Response {
    guard hasZone else { throw SyncError(.zoneNotFound) }
    if operation.isLookup { return lookUp(operation.recordIDs) }
    let position = try position(of: operation.changeToken)
    let new = changes.drop { $0.position <= position }
    let page = new.prefix(200)
    var response = FetchOperation.Response(
      changeToken: ChangeToken(Data("\(page.last?.position ?? position)".utf8)),
      hasMore: new.count > page.count
    )
    for change in page {
      if let record = change.record {
        response.changedRecords.append(record)
      } else {
        response.deletedRecords.append(DeletedRecord(recordID: change.id))
      }
    }
    return response
  }

  private func position(of token: ChangeToken?) throws(SyncError) -> Int {
    guard let token else { return 0 }
    guard let position = Int(String(decoding: token.bytes, as: UTF8.self)),
      position <= lastPosition
    else { throw SyncError(.changeTokenExpired) }  // this cloud has not given it
    return position
  }

  private func lookUp(_ ids: [RecordID]) -> FetchOperation.Response {
    var response = FetchOperation.Response(changeToken: nil)
    for id in ids {
      if let record = record(id) {
        response.changedRecords.append(record)
      } else {
        response.failures.append(ItemFailure(id, SyncError(.unknownItem)))
      }
    }
    return response
  }
}
// SAMPLE: end

@Suite("Writing a handler")
struct WritingAHandlerTests {
  // SAMPLE: CloudSyncCore/WritingAHandler.md
  @Test("The handler does what sessions expect")
  func conforms() async {
    var capabilities = ConformanceCapabilities()
    capabilities.hasParents = false
    capabilities.deletesWithTargets = false
    capabilities.knowsWriteTokens = false
    for check in OperationHandlerConformance.all {
      let cloud = ListCloud()
      let probe = ConformanceCloud(zoneID: ZoneID(name: "Notes"), capabilities: capabilities) { _ in
        AsyncHandlerAdapter(cloud)
      }
      for failure in await check.run(probe) { Issue.record("\(check): \(failure)") }
    }
  }
  // SAMPLE: end
}
