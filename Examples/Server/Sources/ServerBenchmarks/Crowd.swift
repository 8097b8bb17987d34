import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#endif

/// Many clients at a time, each on a thread of its own.
enum Crowd {
  /// Lets clients work, and waits for all; an error of any ends the figure.
  static func run(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let problem = Mutex<String?>(nil)
    let group = DispatchGroup()
    for number in 0..<count {
      group.enter()
      let thread = Thread {
        do { try body(number) } catch { problem.withLock { $0 = $0 ?? "\(error)" } }
        group.leave()
      }
      thread.stackSize = 262_144
      thread.start()
    }
    group.wait()
    if let problem = problem.withLock({ $0 }) { throw BenchmarkFailure(problem) }
  }

  /// Devices that save five records every ten seconds each, and fetch: how long their requests take.
  ///
  /// - Returns: The durations of all requests in milliseconds, sorted.
  static func devices(_ server: BenchServer, tokens: [String], seconds: Int) throws -> [Double] {
    let times = Mutex<[Double]>([])
    let start = ContinuousClock.now
    let port = server.port
    try run(tokens.count) { number in
      let client = try BenchClient(port: port)
      var last = ""
      var round = 0
      // They do not all come at the same moment.
      var next = start + .milliseconds(10_000 * number / tokens.count)
      while Baselines.seconds(next - start) < Double(seconds) {
        let wait = Baselines.seconds(next - ContinuousClock.now)
        if wait > 0 { usleep(UInt32(wait * 1e6)) }
        let names = (0..<5).map { "\(number)-\(round)-\($0)" }
        let save = BenchServer.save(
          names,
          token: tokens[number],
          writeToken: "\(String(number + 1, radix: 16))-\(String(round + 1, radix: 16))"
        )
        let fetch = BenchServer.fetch(tokens[number], after: last.isEmpty ? nil : last)
        for (message, isFetch) in [(save, false), (fetch, true)] {
          let begin = ContinuousClock.now
          let body = try client.ask(message)
          let time = Baselines.seconds(ContinuousClock.now - begin) * 1_000
          times.withLock { $0.append(time) }
          if isFetch {
            last = BenchServer.syncToken(body)
          } else if body.firstRange(of: Array("serverErrorCode".utf8)) != nil {
            throw BenchmarkFailure("a record was refused")
          }
        }
        round += 1
        next += .seconds(10)
      }
    }
    return times.withLock { $0.sorted() }
  }

  /// What comes of many that wait.
  struct Polls {
    var bytes: Int
    /// Milliseconds from a change until a device has fetched it: of the first, half, and all of them.
    var first, median, last: Double
  }

  /// Lets devices wait for a change, makes one, and lets them fetch it.
  static func polls(_ server: BenchServer, tokens: [String], fetching: Int) throws -> Polls {
    let before = try server.residentBytes()
    var clients: [BenchClient] = []
    for token in tokens.dropFirst() {
      let client = try BenchClient(port: server.port)
      let path = "/database/1/cloudsync/production/tokens/create"
      let body = try client.ask(BenchClient.request("POST", path, token: token, body: "{}"))
      let text = String(decoding: body, as: UTF8.self)
      guard let start = text.range(of: "/courier/1/")?.lowerBound else {
        throw BenchmarkFailure("no address to wait at")
      }
      let poll = BenchClient.request("GET", String(text[start...].prefix { $0 != "\"" }))
      try client.ask(poll)
      try client.send(poll)
      clients.append(client)
    }
    let bytes = try server.residentBytes() - before
    let writer = try BenchClient(port: server.port)
    let save = BenchServer.save(["change"], token: tokens[0], writeToken: "1-1")
    let start = ContinuousClock.now
    try writer.send(save)
    var times: [Double] = []
    // In the order in which they are told; so many of them fetch, as fast as one client can.
    var open = clients.indices.map {
      pollfd(fd: clients[$0].socketNumber, events: Int16(POLLIN), revents: 0)
    }
    var waiting = Set(clients.indices)
    while !waiting.isEmpty {
      guard poll(&open, nfds_t(open.count), 20_000) > 0 else {
        throw BenchmarkFailure("\(waiting.count) devices were not told")
      }
      for place in open.indices where open[place].revents != 0 {
        guard waiting.remove(place) != nil else { continue }
        let body = try clients[place].answer()
        if body.isEmpty { throw BenchmarkFailure("a poll has ended without a change") }
        if times.count < fetching { try clients[place].ask(BenchServer.fetch(tokens[place + 1])) }
        times.append(Baselines.seconds(ContinuousClock.now - start) * 1_000)
        open[place].fd = -1
      }
    }
    try writer.answer()
    return Polls(
      bytes: bytes,
      first: times[0],
      median: times[times.count / 2],
      last: times[times.count - 1]
    )
  }
}
