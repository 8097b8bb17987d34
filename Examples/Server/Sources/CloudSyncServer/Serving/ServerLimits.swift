public import CloudSyncService

/// How much clients may ask of a server.
public struct ServerLimits: Sendable {
  /// What the service checks of each request.
  public var service = ServiceLimits()
  /// The bytes of a request's headers.
  public var headerByteCount = 16_384
  /// How long the headers of a request may take.
  public var headerSeconds: Int64 = 10
  /// How long the body of a request may take that is no asset.
  public var bodySeconds: Int64 = 30
  /// How long the body of an asset may take: what it takes of the memory for bodies is the others' again after that.
  public var assetSeconds: Int64 = 600
  /// How many bytes a second a body has to bring, after its first five seconds.
  public var bodyBytesPerSecond = 1_024
  /// How long a connection may stay open without a request.
  public var idleSeconds: Int64 = 75
  /// The requests of one token that may be under way at a time.
  public var requestsOfToken = 16
  /// The connections of all clients.
  public var connections = 20_000
  /// The requests that wait for the store.
  public var waitingRequests = 2_000
  /// The bytes of all bodies that are being received.
  public var bodyBytesInMemory = 256_000_000
  /// The bytes of all bodies that are being received of one account, or the size of the largest asset if that is more.
  ///
  /// What an account promises and brings slowly is not the others' to wait for.
  public var bodyBytesOfAccount = 64_000_000
  /// How long requests may take that are under way when the server is to end.
  public var endSeconds: Int64 = 20

  /// Creates the default limits.
  public init() {}
}
