public import CloudSyncLocalCloud
public import CloudSyncService
public import CloudSyncSession
import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import UnixSignals

/// Where a server listens, and what it is told beside its store.
public struct ServerConfiguration: Sendable {
  /// Host and port of what devices ask; the port 0 is any that is free.
  public var listen: (host: String, port: Int) = ("127.0.0.1", 8_080)
  /// Host and port of what looks after it; nil for none.
  public var admin: (host: String, port: Int)? = ("127.0.0.1", 8_081)
  /// The container's name in paths.
  public var container = "cloudsync"
  /// What clients may ask for.
  public var limits = ServerLimits()
  /// The bytes that an account may hold.
  public var quota: Int64 = 1_000_000_000
  /// The threads that ask the store.
  public var threads = 8
  /// The clock of the cloud, by which records are dated and addresses end.
  public var now: @Sendable () -> Timestamp = SyncEnvironment.live.now

  /// Creates the defaults.
  public init() {}
}

/// A server around a store.
public struct ServerProgram: Sendable {
  private let configuration: ServerConfiguration
  private let cloud: LocalCloud
  private let service: CloudService
  private let pool: StorePool
  private let metrics = ServerMetrics()
  private let health: StoreHealth
  private let logger: Logger
  /// Whether tokens are looked for in a database, which may take long.
  private let isShared: Bool
  private let onListening: @Sendable (_ name: String, _ address: String) -> Void

  /// Creates a server; ``run()`` starts it.
  ///
  /// - Parameters:
  ///   - store: What it keeps records in.
  ///   - folder: The folder that has the files of assets, on the disk that must have room.
  ///   - tokens: Who may come in.
  ///   - secret: What addresses are signed with: 32 random bytes.
  ///   - configuration: Where it listens, and its limits.
  ///   - logger: Takes what happens.
  ///   - onChange: Hears of every change that comes through this server, where others have to be told of it; nil
  ///     where it is the only one. Tokens are then asked for on the threads of the store.
  ///   - onListening: Hears where it listens.
  public init(
    store: any LocalCloudStore,
    folder: String,
    tokens: any ServiceTokens,
    secret: [UInt8],
    configuration: ServerConfiguration,
    logger: Logger,
    onChange: (@Sendable (LocalCloudChange) -> Void)? = nil,
    onListening: @escaping @Sendable (_ name: String, _ address: String) -> Void
  ) {
    var options = LocalCloudOptions()
    // A number of its own tells one cloud from another by its tokens.
    options.seed = SyncEnvironment.live.nonce()
    options.quota = configuration.quota
    options.zoneLimit = 1_000
    options.schemaLimit = (types: 500, fields: 200)
    options.hasSchemaPerAccount = true
    options.assetByteLimit = Int64(configuration.limits.service.assetByteCount)
    let cloud = LocalCloud(
      store: store,
      options: options,
      assetFolder: "\(folder)/assets",
      now: configuration.now
    )
    self.cloud = cloud
    var limits = configuration.limits.service
    // Files that no record has count for no quota, and stay for a day.
    let quota = Int(clamping: configuration.quota)
    limits.uploadedBytes = ServiceRate(burst: quota, perSecond: quota / 86_400)
    service = CloudService(
      cloud: cloud,
      tokens: tokens,
      container: configuration.container,
      limits: limits,
      secret: secret,
      now: configuration.now
    )
    if let onChange {
      // The cloud has one listener, which so far is the service.
      cloud.onChange { [weak service] change in
        service?.announce(change)
        onChange(change)
      }
    }
    isShared = onChange != nil
    pool = StorePool(
      threadCount: configuration.threads,
      waitingLimit: configuration.limits.waitingRequests
    )
    health = StoreHealth(store: store, folder: folder)
    self.configuration = configuration
    self.logger = logger
    self.onListening = onListening
  }

  /// Tells devices of a change that another process has made; nil if nobody knows which.
  public func announce(_ change: LocalCloudChange?) { service.announce(change) }

  /// Serves until SIGTERM or SIGINT, or until the task is told to end gracefully.
  public func run() async throws {
    let limits = configuration.limits
    let responder = ServiceResponder(
      service: service,
      pool: pool,
      gate: RequestGate(
        requestLimit: limits.requestsOfToken,
        byteLimit: limits.bodyBytesInMemory,
        senderByteLimit: max(limits.bodyBytesOfAccount, limits.service.assetByteCount)
      ),
      limits: limits,
      metrics: metrics,
      health: health,
      logger: logger,
      waitsForTokens: isShared
    )
    var services: [any Service] = []
    if let admin = configuration.admin {
      let responder = AdminResponder(metrics: metrics, health: health, pool: pool, service: service)
      services.append(application(responder, name: "admin", at: admin, isWatched: false))
    }
    services.append(
      application(responder, name: "devices", at: configuration.listen, isWatched: true)
    )
    // They end in the opposite order: the polls first, which else would last.
    services.append(PollClock(service: service, health: health))
    services.append(AssetSweep(cloud: cloud, pool: pool, logger: logger))
    var group = ServiceGroupConfiguration(
      services: services,
      gracefulShutdownSignals: [.sigterm, .sigint],
      logger: logger
    )
    group.maximumGracefulShutdownDuration = .seconds(limits.endSeconds)
    try await ServiceGroup(configuration: group).run()
    pool.close()
  }

  private func application<Responder: HTTPResponder>(
    _ responder: Responder,
    name: String,
    at address: (host: String, port: Int),
    isWatched: Bool
  ) -> some Service where Responder.Context == ConnectionContext {
    let limits = configuration.limits
    let builder = HTTPServerBuilder { [metrics] responder -> any ServerChildChannel in
      if isWatched {
        return WatchedChannel(responder: responder, limits: limits, metrics: metrics)
      }
      return HTTP1Channel(responder: responder)
    }
    return Application(
      responder: responder,
      server: builder,
      configuration: ApplicationConfiguration(
        address: .hostname(address.host, port: address.port),
        backlog: 4_096,
        availableConnectionsDelegate: isWatched
          ? MaximumAvailableConnections(limits.connections, logger: logger) : nil
      ),
      onServerRunning: { [onListening] channel in
        let port = channel.localAddress?.port ?? address.port
        onListening(name, "http://\(address.host):\(port)")
      },
      logger: logger
    )
  }
}

/// Lets polls end in time, and all of them when the server ends.
private struct PollClock: Service {
  let service: CloudService
  let health: StoreHealth

  func run() async throws {
    await withGracefulShutdownHandler {
      while !Task.isCancelled, !Task.isShuttingDownGracefully {
        try? await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(1)) }
        service.answerPolls()
      }
      service.answerPolls(all: true)
    } onGracefulShutdown: {
      health.end()
    }
  }
}
