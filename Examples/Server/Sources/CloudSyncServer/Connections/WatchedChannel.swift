import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// A connection of Hummingbird's, watched from its first byte.
struct WatchedChannel: ServerChildChannel {
  typealias Value = HTTP1Channel.Value

  private let base: HTTP1Channel
  private let limits: ServerLimits
  private let metrics: ServerMetrics

  init(
    responder: @escaping HTTPChannelHandler.Responder,
    limits: ServerLimits,
    metrics: ServerMetrics
  ) {
    var decoder = HTTP1Channel.Configuration.DecoderConfiguration()
    decoder.maxHeaderListSize = limits.headerByteCount
    decoder.maxHeaderFieldSize = limits.headerByteCount
    decoder.maxHeaderFieldCount = 100
    base = HTTP1Channel(
      responder: responder,
      configuration: HTTP1Channel.Configuration(
        additionalChannelHandlers: [MessageWatch()],
        idleTimeout: .seconds(limits.idleSeconds),
        httpDecoderConfiguration: decoder
      )
    )
    self.limits = limits
    self.metrics = metrics
  }

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    metrics.connectionOpened()
    channel.closeFuture.whenComplete { [metrics] _ in metrics.connectionClosed() }
    return channel.eventLoop
      .makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(ByteWatch(limits: limits))
      }
      .flatMap { base.setup(channel: channel, logger: logger) }
  }

  func handle(value: Value, logger: Logger) async {
    await base.handle(value: value, logger: logger)
  }
}
