import CloudSyncCore
import CloudSyncService
import CloudSyncSimulator

/// A network in which requests are lost, and responses, and a server that is overloaded now and then.
final class DemoFaults: Sendable {
  /// What became of requests.
  struct Counts: Encodable {
    var requests = 0
    var lostRequests = 0
    /// Those whose work was done.
    var lostResponses = 0
    /// Those that were told to retry later.
    var postponed = 0
  }

  private struct State {
    var random: SeededRandom
    var isGood = false
    var counts = Counts()
  }

  private let service: CloudService
  private let state: Locked<State>

  init(_ service: CloudService, seed: UInt64) {
    self.service = service
    state = Locked(State(random: SeededRandom(seed: seed)))
  }

  /// Lets nothing go wrong any more.
  func end() { state.withLock { $0.isGood = true } }

  var counts: Counts { state.withLock { $0.counts } }

  var words: String {
    let counts = counts
    return
      "\(Phrase.count(counts.requests, "request")): \(counts.lostRequests) lost,"
      + " \(Phrase.count(counts.lostResponses, "response")) lost, \(counts.postponed) told to retry later"
  }

  func respond(
    to request: HTTPRequest,
    completion: @escaping @Sendable (HTTPResponse?) -> Void
  ) {
    let number = state.withLock { state in
      state.counts.requests += 1
      let number = state.isGood ? .max : state.random.below(12)
      if number == 0 { state.counts.lostRequests += 1 }
      if number == 1 { state.counts.lostResponses += 1 }
      if number == 2 { state.counts.postponed += 1 }
      return number
    }
    switch number {
    case 0: completion(nil)
    case 1: service.respond(to: request) { _ in completion(nil) }
    case 2: completion(HTTPResponse(status: 503))
    default: service.respond(to: request, completion: completion)
    }
  }
}
