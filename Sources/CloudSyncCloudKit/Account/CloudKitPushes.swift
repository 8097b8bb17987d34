#if canImport(CloudKit)
import CloudKit
public import CloudSyncCore

/// Gives the pushes of an app to the sessions that they are for.
///
/// ```swift
/// func application(
///   _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
/// ) async -> UIBackgroundFetchResult {
///   switch await pushes.take(userInfo, upTo: .seconds(20)) {
///   case .new?: .newData
///   case .nothing?, nil: .noData
///   case .failed?: .failed
///   }
/// }
/// ```
///
/// A push is a hint that may be late, merged with others or lost: fetch when the app comes to the front too.
public final class CloudKitPushes: Sendable {
  private struct Entry: Sendable {
    weak var session: CloudSyncSession?
    let identifiers: CloudKitIdentifiers
    let subscriptionID: String
  }

  private let entries = Locked<[Entry]>([])

  /// Creates the pushes of an app, which knows no sessions yet.
  public init() {}

  /// Has pushes about a handler's zone or database wake a session, for as long as the session exists.
  public func add(_ session: CloudSyncSession, handler: CloudKitOperationHandler) {
    entries.withLock { entries in
      entries.removeAll { $0.session == nil }
      entries.append(
        Entry(
          session: session,
          identifiers: handler.identifiers,
          subscriptionID: handler.subscriptionID
        )
      )
    }
  }

  /// Has the sessions that a push is for fetch.
  ///
  /// - Parameters:
  ///   - userInfo: What the system gave the app with the push.
  ///   - limit: How long the app may take; a fetch that has not ended by then goes on.
  /// - Returns: What the fetches brought; nil if the push is for none of the sessions.
  public func take(_ userInfo: [AnyHashable: Any], upTo limit: Duration) async -> FetchOutcome? {
    let sessions = sessions(for: userInfo)
    guard !sessions.isEmpty else { return nil }
    let outcomes = await withTaskGroup(of: FetchOutcome.self) { group in
      for session in sessions { group.addTask { await session.fetchNow(upTo: limit) } }
      return await group.reduce(into: [FetchOutcome]()) { $0.append($1) }
    }
    if outcomes.contains(.new) { return .new }
    return outcomes.contains(.failed) ? .failed : .nothing
  }

  /// The sessions whose scope or zone a push names.
  private func sessions(for userInfo: [AnyHashable: Any]) -> [CloudSyncSession] {
    guard let push = CKNotification(fromRemoteNotificationDictionary: userInfo),
      let subscriptionID = push.subscriptionID
    else { return [] }
    let scope = (push as? CKDatabaseNotification).map { DatabaseScope($0.databaseScope) }
    let zoneID = (push as? CKRecordZoneNotification)?.recordZoneID
    return entries.withLock { $0 }
      .filter { entry in
        guard UTF8Bytes.equal(entry.subscriptionID, subscriptionID) else { return false }
        let own = entry.identifiers.zoneID
        if let scope { return scope == own.scope }
        return zoneID.map { entry.identifiers.zoneID($0) == own } ?? false
      }
      .compactMap(\.session)
  }
}
#endif
