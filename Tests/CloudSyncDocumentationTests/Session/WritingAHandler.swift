import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSession
import Foundation
import Testing

// SAMPLE: CloudSyncCore/WritingAHandler.md
/// A cloud in memory: a list of changes, of which each record's last one counts.
actor ListCloud: AsyncOperationHandler {
  private var changes: [(id: RecordID, record: Record?)] = []

  func createZone(_: CreateZoneOperation, context: RequestContext) -> Bool { true }
  func createSubscription(_: CreateSubscriptionOperation, context: RequestContext) -> Bool { true }

  func modify(_ operation: ModifyOperation, context: RequestContext) -> ModifyOperation.Response {
    var response = ModifyOperation.Response()
    for edit in operation.records {
      switch save(edit) {
      case .success(let saved): response.savedRecords.append(saved)
      case .failure(let error): response.failures.append(ItemFailure(edit.recordID, error))
      }
    }
    for id in operation.recordIDsToDelete {
      changes.append((id, nil))
      response.deletedRecordIDs.append(id)
    }
    return response
  }

  private func save(_ edit: Record) -> Result<Record, SyncError> {
    let stored = changes.last { $0.id == edit.recordID }?.record
    if stored?.changeTag != edit.changeTag {
      guard let stored else { return .failure(SyncError(.unknownItem)) }
      return .failure(SyncError(.serverRecordChanged, serverRecord: stored))
    }
    // The fields that are set, over those that are there.
    let saved = edit.merged(into: stored).withChangeTag("\(changes.count + 1)")
    changes.append((saved.recordID, saved))
    return .success(saved)
  }

  func fetch(
    _ operation: FetchOperation,
    context: RequestContext
  ) throws(SyncError) -> FetchOperation.Response {
    if !operation.recordIDs.isEmpty { return lookUp(operation.recordIDs) }
    var from = 0
    if let token = operation.changeToken {
      // A token that this cloud has not given.
      guard let number = Int(String(decoding: token.bytes, as: UTF8.self)), number <= changes.count
      else { throw SyncError(.changeTokenExpired) }
      from = number
    }
    let page = changes[from..<min(from + 200, changes.count)]
    var response = FetchOperation.Response(
      changeToken: ChangeToken(Data("\(page.endIndex)".utf8)),
      hasMore: page.endIndex < changes.count
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

  private func lookUp(_ ids: [RecordID]) -> FetchOperation.Response {
    var response = FetchOperation.Response(changeToken: nil)
    for id in ids {
      if let record = changes.last(where: { $0.id == id })?.record {
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
