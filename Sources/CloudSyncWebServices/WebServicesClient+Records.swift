import CloudSyncAssets
public import CloudSyncCore
import CloudSyncWire

extension WebServicesClient {
  /// How long a call may take.
  private static let timeout = Duration.seconds(60)

  /// Looks records up, outside any session: in the public database, which has no feed, there is no other way.
  ///
  /// - Parameter recordIDs: The records, all of one zone.
  /// - Returns: Those that are there; one that is missing is among the failures as an unknown item. Assets have the
  ///   address of their file as location; those of Apple's service are left out, as nobody knows their digests.
  /// - Throws: The error of the request; nothing is retried.
  public func lookUp(
    _ recordIDs: [RecordID]
  ) async throws(SyncError) -> FetchOperation.Response {
    guard let zoneID = try Self.zone(of: recordIDs) else {
      return FetchOperation.Response(changeToken: nil)
    }
    let call = try WireCall.fetch(FetchOperation(lookingUp: recordIDs), in: zoneID).get()
    return try await perform(call, deadline: now.adding(Self.timeout))
  }

  /// Saves and deletes records, outside any session.
  ///
  /// - Parameters:
  ///   - operation: The records, all of one zone, without assets.
  ///   - isAtomic: Whether one bad record keeps the others from being saved; the public database does not know that.
  /// - Returns: What became of each; a conflict may be told without the server's record.
  /// - Throws: The error of the request; nothing is retried.
  public func modify(
    _ operation: ModifyOperation,
    isAtomic: Bool = false
  ) async throws(SyncError) -> ModifyOperation.Response {
    let recordIDs = operation.records.map(\.recordID) + operation.recordIDsToDelete
    guard let zoneID = try Self.zone(of: recordIDs) else { return ModifyOperation.Response() }
    guard operation.records.allSatisfy({ $0.assets.isEmpty }) else {
      throw SyncError(.invalidArguments, "files of assets travel in a session")
    }
    let modification = WireModification(operation, zoneID: zoneID, isAtomic: isAtomic)
    if let problem = modification.problem(in: format) { throw problem }
    let call = WireCall.modify(modification, writeToken: nil)
    return try await perform(call, deadline: now.adding(Self.timeout))
  }

  private static func zone(of recordIDs: [RecordID]) throws(SyncError) -> ZoneID? {
    guard let first = recordIDs.first?.zoneID else { return nil }
    guard recordIDs.allSatisfy({ $0.zoneID == first }) else {
      throw SyncError(.invalidArguments, "a request is for the records of one zone")
    }
    return first
  }
}
