import CloudSyncSession

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension FileCloud.Contents {
  /// Carries out a request, record by record: one that fails does not keep the others.
  mutating func apply(_ operation: ModifyOperation) -> ModifyOperation.Response {
    var response = ModifyOperation.Response()
    for edit in operation.records {
      switch save(edit) {
      case .success(let record): response.savedRecords.append(record)
      case .failure(let error): response.failures.append(ItemFailure(edit.recordID, error))
      }
    }
    for recordID in operation.recordIDsToDelete {
      if record(recordID) != nil { put(nil, recordID) }
      // A record that is gone already is deleted as well.
      response.deletedRecordIDs.append(recordID)
    }
    return response
  }

  /// Saves an edit if it was made from the record as it is now.
  private mutating func save(_ edit: Record) -> Result<Record, SyncError> {
    let present = record(edit.recordID)
    if present == nil, edit.changeTag != nil {
      return .failure(SyncError(.unknownItem, "the record was deleted"))
    }
    if let present, present.changeTag != edit.changeTag {
      let message = "the record was changed by another device"
      return .failure(SyncError(.serverRecordChanged, message, serverRecord: present))
    }
    // The fields of the edit go over those of the record; null takes one away.
    let whole = present ?? Record(recordType: edit.recordType, recordID: edit.recordID)
    return .success(put(whole.applying(edit), edit.recordID) ?? edit)
  }

  func record(_ recordID: RecordID) -> Record? {
    entries.first { $0.recordID == recordID }?.record
  }

  /// Stores a record under a new tag, or that it is gone.
  @discardableResult
  private mutating func put(_ record: Record?, _ recordID: RecordID) -> Record? {
    changes += 1
    let tagged = record?.withChangeTag("\(changes)")
    entries.removeAll { $0.recordID == recordID }
    entries.append(FileCloud.Entry(change: changes, recordID: recordID, record: tagged))
    return tagged
  }

  /// The next changes, with the token for those that follow.
  func page(after start: Int, atMost size: Int) -> FetchOperation.Response {
    let news = entries.drop { $0.change <= start }
    let page = news.prefix(size)
    // Whoever begins with nothing need not hear of what is gone.
    let deleted = start == 0 ? [] : page.filter { $0.record == nil }
    return FetchOperation.Response(
      changedRecords: page.compactMap(\.record),
      deletedRecords: deleted.map { DeletedRecord(recordID: $0.recordID, recordType: "Note") },
      changeToken: ChangeToken(Data("\(page.last?.change ?? start)".utf8)),
      hasMore: news.count > size
    )
  }

  /// Single records as they are now; those that do not exist as failures.
  func lookUp(_ recordIDs: [RecordID]) -> FetchOperation.Response {
    var response = FetchOperation.Response(changeToken: nil)
    for recordID in recordIDs {
      if let record = record(recordID) {
        response.changedRecords.append(record)
      } else {
        response.failures.append(ItemFailure(recordID, SyncError(.unknownItem)))
      }
    }
    return response
  }

  /// Reads the file of a cloud; nil if there is none.
  static func read(_ path: String) throws(NotesError) -> FileCloud.Contents? {
    guard let data = try FileAccess.read(path) else { return nil }
    let contents: FileCloud.Contents
    do { contents = try JSONDecoder().decode(FileCloud.Contents.self, from: data) } catch {
      throw NotesError(
        "\(path) is damaged (\(reason(error))); move it away: “notes sync” then fills a new one"
      )
    }
    guard contents.version == 1 else {
      throw NotesError("\(path) has version \(contents.version), this program reads version 1")
    }
    return contents
  }
}
