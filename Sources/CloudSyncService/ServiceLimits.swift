/// How much one request to a ``CloudService`` may ask for, and how fast requests may come; checked before
/// anything is done.
public struct ServiceLimits: Sendable, Hashable {
  /// The operations of one modification, and the names of one look-up.
  public var items = 400
  /// The bytes of one body.
  public var bodyByteCount = 4_000_000
  /// The bytes of one asset.
  public var assetByteCount = 50_000_000
  /// The zones of one request.
  public var zones = 200
  /// How long a device waits for a change before it is told that there is none.
  public var pollDuration = Duration.seconds(50)
  /// How fast one device may send requests, and all devices of one account the bytes of assets; nil for as
  /// fast as they like.
  public var requests: ServiceRate? = ServiceRate(burst: 1_000, perSecond: 100)
  /// How fast wrong tokens may come from one address before it is not listened to; nil for no limit.
  public var wrongTokens: ServiceRate? = ServiceRate(burst: 50, perSecond: 1)

  /// How fast one account may upload the bytes of files, whether or not a record has them; nil for as fast as it likes.
  ///
  /// By default a gigabyte at once, and then as much in a day.
  public var uploadedBytes: ServiceRate? = ServiceRate(burst: 1_000_000_000, perSecond: 11_574)

  /// Creates the default limits.
  public init() {}
}
