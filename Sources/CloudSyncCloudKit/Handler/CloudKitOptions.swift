#if canImport(CloudKit)
public import CloudSyncAssets
public import CloudSyncCore
public import Foundation

/// How a ``CloudKitOperationHandler`` makes its requests.
public struct CloudKitOptions: Sendable {
  /// Of what pushes tell.
  public enum Subscription: Sendable, Hashable {
    /// Of every change in the database: one subscription for all its zones.
    case database
    /// Of changes in the session's zone alone; not for the shared database.
    case zone
  }

  /// Whether one bad record keeps all others of its request from being saved.
  public var isAtomic = false
  /// Of what pushes tell.
  public var subscription = Subscription.database
  /// The ID of the subscription; nil for one that is made of the scope, or of scope and zone.
  ///
  /// Name the one that an earlier version of the app has made: otherwise its pushes go on beside the new ones.
  public var subscriptionID: String?
  /// How urgent requests are; what is less than `.userInitiated` the system may put off for hours.
  public var qualityOfService = QualityOfService.userInitiated
  /// How long a request may go without data, at most.
  public var requestTimeout = Duration.seconds(60)
  /// How long a request may take, at most; the session's own deadline is shorter by default.
  public var resourceTimeout = Duration.seconds(7 * 86_400)
  /// Whether the cellular network may be used.
  public var allowsCellularAccess = true
  /// The name under which the requests are listed in CloudKit's console.
  public var groupName = "CloudSync"
  /// Whether requests carry the session's write token as `clientChangeTokenData`.
  ///
  /// Apple documents that a repeated one is ignored, but not how that is answered: try it with the conformance
  /// suite before you turn it on.
  public var sendsClientChangeToken = false
  /// How many changes a page brings at most; nil leaves it to the server.
  public var pageSize: Int?
  /// What timestamps are rounded down to when they are submitted.
  ///
  /// Set a millisecond if the conformance suite finds that your container keeps no more.
  public var timestampUnit = Duration.microseconds(1)
  /// How much the cache of asset files may hold.
  public var assetLimits = AssetCacheLimits()
  /// Called when the store of system fields fails; the requests go on, and cost a look-up more.
  public var onStoreError: (@Sendable (SystemFieldsStoreError) -> Void)?
  /// The clock, by which deadlines are told.
  public var now: @Sendable () -> Timestamp = SyncEnvironment.live.now

  /// Creates the defaults.
  public init() {}
}
#endif
