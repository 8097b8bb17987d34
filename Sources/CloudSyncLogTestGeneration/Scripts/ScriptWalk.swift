import CloudSyncCore

/// A walk over everything in a script, in a fixed order, that may change it on its way.
struct ScriptWalk {
  /// Whether a record to save or to delete, or an item of a response, stays; asked for one by one.
  var keepsItem: () -> Bool = { true }
  /// What a record becomes.
  var record: (Record) -> Record = { $0 }
  /// What an error becomes, apart from its items and records.
  var error: (SyncError) -> SyncError = { $0 }

  func callAsFunction(over script: SessionScript) -> SessionScript {
    var script = script
    for place in script.calls.indices {
      guard case .modify(let operation, let number) = script.calls[place].call else { continue }
      script.calls[place].call = .modify(walked(operation), as: number)
    }
    for place in script.answers.indices {
      guard case .result(let result) = script.answers[place].content else { continue }
      script.answers[place].content = .result(walked(result))
    }
    for place in script.decisions.indices {
      guard case .conflict(let id, .save(let edit)) = script.decisions[place] else { continue }
      script.decisions[place] = .conflict(id, .save(record(edit)))
    }
    return script
  }

  private func walked(_ operation: ModifyOperation) -> ModifyOperation {
    let records = kept(operation.records)
    let ancestors = operation.ancestors.filter { ancestor in
      records.contains { $0.recordID == ancestor.recordID }
    }
    return ModifyOperation(
      records: records,
      recordIDsToDelete: operation.recordIDsToDelete.filter { _ in keepsItem() },
      checkpointID: operation.checkpointID,
      userInfo: operation.userInfo,
      ancestors: ancestors.map(record)
    )
  }

  private func walked(
    _ result: Result<SyncWork.Result, SyncError>
  ) -> Result<SyncWork.Result, SyncError> {
    switch result {
    case .success(.modify(var response)):
      response.savedRecords = kept(response.savedRecords)
      response.deletedRecordIDs = response.deletedRecordIDs.filter { _ in keepsItem() }
      response.failures = kept(response.failures)
      return .success(.modify(response))
    case .success(.fetch(var response)):
      response.changedRecords = kept(response.changedRecords)
      response.deletedRecords = response.deletedRecords.filter { _ in keepsItem() }
      response.failures = kept(response.failures)
      return .success(.fetch(response))
    case .success: return result
    case .failure(let failure): return .failure(walked(failure))
    }
  }

  private func kept(_ records: [Record]) -> [Record] {
    records.filter { _ in keepsItem() }.map(record)
  }

  private func kept(_ failures: [ItemFailure]) -> [ItemFailure] {
    failures.filter { _ in keepsItem() }.map { ItemFailure($0.recordID, walked($0.error)) }
  }

  private func walked(_ failure: SyncError) -> SyncError {
    var result = error(failure)
    result.itemErrors = kept(result.itemErrors)
    result.clientRecord = result.clientRecord.map(record)
    result.serverRecord = result.serverRecord.map(record)
    result.ancestorRecord = result.ancestorRecord.map(record)
    return result
  }
}
