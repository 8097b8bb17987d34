#if canImport(CloudKit)
import CloudSyncCore

/// An error of CloudKit's as the core knows it.
struct CloudKitFailure: Sendable {
  /// The error of the whole call.
  var error: SyncError
  /// The errors of single records, where it tells them; looked into, never iterated.
  var items: [RecordID: SyncError] = [:]
  /// What became known of records on the way.
  var systemFields: [SystemFields] = []

  /// A failure without items.
  init(_ error: SyncError) { self.error = error }
}
#endif
