import CloudSyncSession

extension OperationHandler {
  private func context(_ number: UInt64) -> RequestContext {
    RequestContext(
      attempt: Attempt(epoch: 1, number: number),
      writeToken: WriteToken(nonce: 7, number: number),
      deadline: .distantFuture
    )
  }

  func createZone(_ zoneID: ZoneID) async -> Result<Bool, SyncError> {
    await withCheckedContinuation { continuation in
      handle(createZoneOperation: CreateZoneOperation(zoneID: zoneID), context: context(1)) {
        continuation.resume(returning: $0)
      }
    }
  }

  func modify(
    _ records: [Record],
    token: UInt64
  ) async -> Result<ModifyOperation.Response, SyncError> {
    await withCheckedContinuation { continuation in
      handle(modifyOperation: ModifyOperation(records: records), context: context(token)) {
        continuation.resume(returning: $0)
      }
    }
  }

  func fetch(after token: ChangeToken? = nil) async -> Result<FetchOperation.Response, SyncError> {
    await withCheckedContinuation { continuation in
      handle(fetchOperation: FetchOperation(changeToken: token), context: context(2)) {
        continuation.resume(returning: $0)
      }
    }
  }

  /// All records of the zone, page after page.
  func fetchAll() async throws -> [Record] {
    var records: [Record] = []
    var token: ChangeToken?
    while true {
      let page = try await fetch(after: token).get()
      records += page.changedRecords
      token = page.changeToken
      if !page.hasMore { return records }
    }
  }
}

extension Result where Failure == SyncError {
  var error: SyncError? { if case .failure(let error) = self { error } else { nil } }
}

let notes = ZoneID(name: "Notes")

func note(_ name: String, _ fields: [String: FieldValue] = ["x": 1], tag: String? = nil) -> Record {
  Record(
    recordType: "Note",
    recordID: RecordID(name: name, zoneID: notes),
    fields: fields,
    changeTag: tag
  )
}
