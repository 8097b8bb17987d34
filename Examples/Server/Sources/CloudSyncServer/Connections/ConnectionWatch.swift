import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTPTypes

/// Closes a connection whose client takes too long: it sees the bytes as they come, before they are a message.
final class ByteWatch: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// What the client is about.
  private enum Phase {
    case idle
    /// Its headers come.
    case head
    /// Its body comes, since a time, and had so many bytes so far.
    case body(since: NIODeadline, isAsset: Bool)
    /// It waits for the response.
    case waiting
  }

  /// How often a body is looked at.
  private static let pace = TimeAmount.seconds(5)

  private let limits: ServerLimits
  private var phase = Phase.idle
  private var bodyByteCount = 0
  private var timer: Scheduled<Void>?

  init(limits: ServerLimits) { self.limits = limits }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch phase {
    case .idle:
      phase = .head
      schedule(after: .seconds(limits.headerSeconds), context) { $0.close(promise: nil) }
    case .body: bodyByteCount += Self.unwrapInboundIn(data).readableBytes
    case .head, .waiting: break
    }
    context.fireChannelRead(data)
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

  /// The headers are here.
  func headCame(isAsset: Bool, _ context: ChannelHandlerContext) {
    phase = .body(since: context.eventLoop.now, isAsset: isAsset)
    bodyByteCount = 0
    schedule(after: Self.pace, context) { [self] in check($0) }
  }

  /// The body is here.
  func bodyCame() {
    timer?.cancel()
    phase = .waiting
  }

  /// The response is written, and the client has the next word.
  func responseLeft() {
    if case .waiting = phase { phase = .idle }
  }

  private func check(_ context: ChannelHandlerContext) {
    guard case .body(let start, let isAsset) = phase else { return }
    let seconds = (context.eventLoop.now - start).nanoseconds / 1_000_000_000
    let isLate = seconds >= (isAsset ? limits.assetSeconds : limits.bodySeconds)
    if isLate || bodyByteCount < Int(seconds) * limits.bodyBytesPerSecond {
      return context.close(promise: nil)
    }
    schedule(after: Self.pace, context) { [self] in check($0) }
  }

  private func schedule(
    after amount: TimeAmount,
    _ context: ChannelHandlerContext,
    _ body: @escaping (ChannelHandlerContext) -> Void
  ) {
    timer?.cancel()
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: amount) { body(context) }
  }
}

/// Tells the watch what the bytes have been, and closes a connection after a response that says so.
final class MessageWatch: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  /// How long a client may go on sending what nobody wants, so that it reads the response.
  private static let patience = TimeAmount.seconds(1)

  private var bytes: ByteWatch?
  private var isLast = false

  func handlerAdded(context: ChannelHandlerContext) {
    bytes = try? context.pipeline.syncOperations.handler(type: ByteWatch.self)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch Self.unwrapInboundIn(data) {
    case .head(let head):
      bytes?.headCame(isAsset: head.path?.hasPrefix("/assets/") == true, context)
      if head.headerFields[.expect]?.lowercased() == "100-continue" {
        let part = HTTPResponsePart.head(HTTPResponse(status: .continue))
        context.writeAndFlush(Self.wrapOutboundOut(part), promise: nil)
      }
    case .end: bytes?.bodyCame()
    case .body: break
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch Self.unwrapOutboundIn(data) {
    case .head(let head): isLast = head.headerFields[.connection]?.lowercased() == "close"
    case .body: break
    case .end:
      bytes?.responseLeft()
      if isLast {
        let channel = context.channel
        context.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
      }
    }
    context.write(data, promise: promise)
  }
}
