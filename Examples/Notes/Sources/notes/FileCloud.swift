import CloudSyncSession

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An operation handler whose cloud is a JSON file: an example of how to write one.
///
/// It does what it is asked to do, once, and says what happened. It repeats nothing, splits nothing
/// and resolves no conflict: that is the session's part.
actor FileCloud: AsyncOperationHandler {
  /// What the cloud keeps.
  struct Contents: Codable {
    var version = 1
    /// Counts the changes; the number of a record's last change is its tag.
    var changes = 0
    /// Every record that ever was, in the order of its last change.
    var entries: [Entry] = []
    /// The last answers, so that a request that comes again is not carried out again.
    var answers: [Answer] = []
  }

  struct Entry: Codable {
    var change: Int
    var recordID: RecordID
    /// Nil for a record that was deleted.
    var record: Record?
  }

  struct Answer: Codable {
    var token: WriteToken
    var response: ModifyOperation.Response
  }

  private let path: String
  private let losesAnswers: Bool
  private let pageSize = 100

  init(path: String, losesAnswers: Bool = false) {
    self.path = path
    self.losesAnswers = losesAnswers
  }

  // MARK: Requests

  func createZone(
    _ operation: CreateZoneOperation,
    context: RequestContext
  ) async throws(SyncError) -> Bool {
    try whileLocked { () throws(SyncError) in
      if try read() == nil { try write(Contents()) }
    }
    return true
  }

  func createSubscription(
    _ operation: CreateSubscriptionOperation,
    context: RequestContext
  ) async throws(SyncError) -> Bool {
    true  // A file tells nobody that it has changed.
  }

  func modify(
    _ operation: ModifyOperation,
    context: RequestContext
  ) async throws(SyncError) -> ModifyOperation.Response {
    let response = try whileLocked { () throws(SyncError) in
      var contents = try existing()
      if let known = contents.answers.first(where: { $0.token == context.writeToken }) {
        return known.response
      }
      let response = contents.apply(operation)
      contents.answers = contents.answers.suffix(99)
      contents.answers.append(Answer(token: context.writeToken, response: response))
      try write(contents)
      return response
    }
    if losesAnswers {
      Output.line("cloud: the changes are made, and the response is lost")
      try? await Task.sleep(for: .seconds(86_400))
      throw SyncError(.serverResponseLost)
    }
    return response
  }

  func fetch(
    _ operation: FetchOperation,
    context: RequestContext
  ) async throws(SyncError) -> FetchOperation.Response {
    let contents = try whileLocked { () throws(SyncError) in try existing() }
    // After a conflict the session may ask how single records look now.
    if operation.isLookup { return contents.lookUp(operation.recordIDs) }
    var start = 0
    if let token = operation.changeToken {
      // The tokens are the cloud's own: here the number of the last change that was told.
      guard let number = Int(String(decoding: token.bytes, as: UTF8.self)),
        number <= contents.changes
      else { throw SyncError(.changeTokenExpired, "the token is not of this cloud") }
      start = number
    }
    return contents.page(after: start, atMost: pageSize)
  }

  // MARK: The file

  /// Runs a body while no other process uses the cloud.
  private func whileLocked<Value>(_ body: () throws(SyncError) -> Value) throws(SyncError) -> Value
  {
    guard FileAccess.isFolder(FileAccess.folder(of: path)) else {
      // Like a network that is away: the session waits and tries again.
      throw SyncError(.networkUnavailable, "the folder of \(path) is not there")
    }
    let result: Result<Value, SyncError>
    do throws(NotesError) {
      result = try FileAccess.whileLocked(path + ".lock") { () throws(NotesError) in
        do throws(SyncError) { return .success(try body()) } catch { return .failure(error) }
      }
    } catch { throw SyncError(.internalError, error.description) }
    return try result.get()
  }

  /// The contents of a cloud whose zone was created.
  private func existing() throws(SyncError) -> Contents {
    guard let contents = try read() else {
      throw SyncError(.zoneNotFound, "\(path) is not there")
    }
    return contents
  }

  private func read() throws(SyncError) -> Contents? {
    do throws(NotesError) { return try Contents.read(path) } catch {
      throw SyncError(.internalError, error.description)
    }
  }

  private func write(_ contents: Contents) throws(SyncError) {
    do throws(NotesError) { try FileAccess.replace(path, with: try encodedJSON(contents)) } catch {
      throw SyncError(.internalError, error.description)
    }
  }
}
