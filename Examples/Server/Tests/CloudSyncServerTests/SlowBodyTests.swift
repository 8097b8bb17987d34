import NIOCore
import NIOEmbedded
import Testing

@testable import CloudSyncServer

/// What a connection is closed for is told by the loop's clock, which a test turns.
@Suite("Connections of clients that take their time")
struct SlowBodyTests {
  /// A connection that has begun a request, and its watch.
  private struct Bench {
    let channel: EmbeddedChannel
    let watch: ByteWatch
    let limits: ServerLimits

    init() throws {
      limits = ServerLimits()
      watch = ByteWatch(limits: limits)
      channel = EmbeddedChannel()
      try channel.pipeline.syncOperations.addHandler(watch)
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
      try send(1)
    }

    func send(_ count: Int) throws {
      try channel.writeInbound(ByteBuffer(repeating: 0x20, count: count))
    }

    func headCame(isAsset: Bool) throws {
      watch.headCame(
        isAsset: isAsset,
        try channel.pipeline.syncOperations.context(handler: watch)
      )
    }

    /// How many seconds the connection is open while so many bytes come each second; as many as there may be.
    func openSeconds(bytesPerSecond count: Int, upTo limit: Int64) throws -> Int64 {
      for second in 0..<limit {
        guard channel.isActive else { return second }
        try send(count)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
      }
      return limit
    }
  }

  @Test("Headers that do not end are waited for so long")
  func headers() throws {
    let bench = try Bench()
    #expect(
      try bench.openSeconds(bytesPerSecond: 1, upTo: 1_000) == bench.limits.headerSeconds
    )
  }

  @Test("A body that trickles ends the connection", arguments: [false, true])
  func trickle(isAsset: Bool) throws {
    let bench = try Bench()
    try bench.headCame(isAsset: isAsset)
    #expect(try bench.openSeconds(bytesPerSecond: 100, upTo: 1_000) == 5)
  }

  @Test("A body that is just fast enough has its time, that of an asset is longer")
  func slow() throws {
    for isAsset in [false, true] {
      let bench = try Bench()
      try bench.headCame(isAsset: isAsset)
      let seconds = isAsset ? bench.limits.assetSeconds : bench.limits.bodySeconds
      #expect(try bench.openSeconds(bytesPerSecond: 2_000, upTo: 10_000) == seconds)
    }
  }

  @Test("A body that has come in time leaves the connection open")
  func whole() throws {
    let bench = try Bench()
    try bench.headCame(isAsset: true)
    try bench.send(4_000)
    bench.watch.bodyCame()
    #expect(try bench.openSeconds(bytesPerSecond: 0, upTo: 2_000) == 2_000)
  }
}
