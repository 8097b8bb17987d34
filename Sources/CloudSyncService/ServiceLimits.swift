/// How much one request to a ``CloudService`` may ask for; checked before anything is done.
public struct ServiceLimits: Sendable, Hashable {
  /// The operations of one modification, and the names of one look-up.
  public var items = 400
  /// The bytes of one body.
  public var bodyByteCount = 4_000_000
  /// The bytes of one asset.
  public var assetByteCount = 50_000_000
  /// The zones of one request.
  public var zones = 200

  /// Creates the default limits.
  public init() {}
}
