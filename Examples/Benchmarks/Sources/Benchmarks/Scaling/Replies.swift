import CloudSyncSession
import Foundation

/// What the cloud of the scaling benchmarks answers.
enum Replies {
  typealias Reply = Result<ModifyOperation.Response, SyncError>

  /// A record as somebody else has saved it.
  static func server(_ recordID: RecordID) -> Record {
    var record = Record(recordType: "Note", recordID: recordID).withChangeTag("2")
    record["field0"] = .int64(-1)
    return record
  }

  static func saved(_ operation: ModifyOperation) -> Reply { some(operation) { _ in nil } }

  static func refused(_ code: SyncError.Code) -> (ModifyOperation) -> Reply {
    { some($0) { _ in SyncError(code) } }
  }

  static func halfRefused(_ operation: ModifyOperation) -> Reply {
    var place = 0
    return some(operation) { _ in
      place += 1
      return place % 2 == 0 ? SyncError(.invalidArguments) : nil
    }
  }

  /// Conflicts, but for what has been merged with the server's record.
  static func conflicts(_ operation: ModifyOperation) -> Reply {
    some(operation) { record in
      record.changeTag == "2"
        ? nil : SyncError(.serverRecordChanged, serverRecord: server(record.recordID))
    }
  }

  /// The same, without the server's record: it has to be looked up.
  static func bareConflicts(_ operation: ModifyOperation) -> Reply {
    some(operation) { $0.changeTag == "2" ? nil : SyncError(.serverRecordChanged) }
  }

  /// A partial failure of which half are conflicts, and the others were refused with them.
  static func partialFailure(_ operation: ModifyOperation) -> Reply {
    if operation.records.allSatisfy({ $0.changeTag == "2" }) { return saved(operation) }
    let items = operation.records.enumerated()
      .map { place, record in
        let isConflict = place % 2 == 0 && record.changeTag != "2"
        return ItemFailure(
          record.recordID,
          isConflict
            ? SyncError(.serverRecordChanged, serverRecord: server(record.recordID))
            : SyncError(.batchRequestFailed)
        )
      }
    let hasConflict = items.contains { $0.error.code == .serverRecordChanged }
    return hasConflict ? .failure(SyncError(.partialFailure, itemErrors: items)) : saved(operation)
  }

  /// Saves what nothing is said against.
  static func some(
    _ operation: ModifyOperation,
    failing error: (Record) -> SyncError?
  ) -> Reply {
    var response = ModifyOperation.Response(deletedRecordIDs: operation.recordIDsToDelete)
    for record in operation.records {
      if let error = error(record) {
        response.failures.append(ItemFailure(record.recordID, error))
      } else {
        response.savedRecords.append(record.withChangeTag("3"))
      }
    }
    return .success(response)
  }

  static func page(_ number: Int, hasMore: Bool = true) -> FetchOperation.Response {
    FetchOperation.Response(changeToken: token(number), hasMore: hasMore)
  }

  static func token(_ number: Int) -> ChangeToken? { ChangeToken(Data("token \(number)".utf8)) }
}
