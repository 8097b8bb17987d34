import CloudSyncCore

extension CloudHarness {
  /// A cloud with which much goes wrong, and which refuses the record `r13`.
  package static func eventful() -> CloudHarness {
    var options = StubCloud.Options()
    options.delay = .milliseconds(300)
    options.pageSize = 7
    options.itemLimit = 20
    options.refuse = { id, _ in id.name == "r13" ? SyncError(.invalidArguments, "no") : nil }
    return CloudHarness(options: options) { number, _ in
      switch number % 11 {
      case 3: .failure(.networkFailure)
      case 5: .lostAfter
      case 7: .failure(.requestRateLimited, retryAfter: .seconds(2))
      case 9: .duplicate(again: .milliseconds(50))
      case 10: .neverAfter
      default: nil
      }
    }
  }

  /// Edits, fetches, loses the zone, starts over, stops and starts, until all is done.
  package func runEventfully() throws {
    for index in 0..<9 { cloud.save(.note("r\(index)", 100)) }
    session.start()
    try modify((0..<50).map { .note("r\($0)", 1) }, delete: ["gone"])
    session.fetch()
    world.advance(by: .seconds(20))
    cloud.loseZone()
    for index in 0..<20 { try modify([.note("r\(index)", 2)]) }
    session.fetch(FetchOperation(startingOver: true))
    world.advance(by: .seconds(100))
    session.stop()
    session.start()
    world.runToEnd()
  }
}
