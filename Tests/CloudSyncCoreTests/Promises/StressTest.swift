import CloudSyncCore
import CloudSyncTestSupport

/// A session in a virtual world in which a seed decides what goes wrong.
struct StressTest {
  let bench: CloudHarness
  private var random: SplitMix64
  /// Every value ever submitted is larger than those before it.
  private(set) var value = 0
  private(set) var submitted: [OperationID] = []
  /// What was submitted last for each of the few records, by operation.
  private(set) var edits: [(id: OperationID, name: String, value: Int?)] = []

  /// What may go wrong with a call.
  static let anyFault: [StubCloud.Fault] = [
    .failure(.networkFailure), .failure(.zoneBusy), .failure(.operationCancelled),
    .failure(.requestRateLimited, retryAfter: .seconds(7)), .failure(.limitExceeded),
    .failure(.accountTemporarilyUnavailable), .failure(.invalidArguments), .failure(.zoneNotFound),
    .lostBefore, .lostAfter, .never, .neverAfter, .duplicate(again: .milliseconds(10)),
    .duplicate(again: .seconds(2)), .delay(.seconds(3)), .delay(.seconds(400)),
  ]

  init(
    seed: UInt64,
    faults: [StubCloud.Fault] = anyFault,
    options change: (inout StubCloud.Options) -> Void = { _ in }
  ) {
    var options = StubCloud.Options()
    options.delay = .milliseconds(100)
    options.isAtomic = seed % 2 == 0
    options.failsAsError = seed % 4 < 2
    options.knowsWriteTokens = seed % 3 != 0
    options.limits = RequestLimits(items: 4)
    change(&options)
    bench = CloudHarness(options: options) { number, operation in
      guard number > 1, !faults.isEmpty else { return nil }
      var random = SplitMix64(seed: seed &* 1_000_003 &+ UInt64(number))
      let draw = random.next()
      guard draw % 3 == 0 else { return nil }
      let fault = faults[Int((draw / 3) % UInt64(faults.count))]
      // A fetch that is answered so ends as failed, which is no storm but a result.
      if operation.isFetch, case .failure = fault { return .failure(.networkFailure) }
      return fault
    }
    random = SplitMix64(seed: seed)
    bench.session.start()
    bench.world.advance(by: .seconds(1))
  }

  /// The seed's next number from 0 up to, but not including, a bound.
  mutating func below(_ bound: Int) -> Int { random.below(bound) }

  /// Submits an operation over a few of five records, and lets some time pass.
  mutating func submit(deleting: Bool = true) throws {
    var records: [Record] = []
    var deletions: [String] = []
    var names: [(String, Int?)] = []
    for name in ["a", "b", "c", "d", "e"] where below(3) == 0 {
      value += 1
      if deleting, below(6) == 0 {
        deletions.append(name)
        names.append((name, nil))
      } else {
        records.append(.note(name, value))
        names.append((name, value))
      }
    }
    let id = try bench.modify(records, delete: deletions)
    submitted.append(id)
    edits += names.map { (id, $0.0, $0.1) }
    pause()
  }

  /// Lets between nothing and two seconds pass.
  mutating func pause() {
    bench.world.advance(by: .milliseconds(below(4) == 0 ? below(2_000) : below(50)))
  }

  /// Waits until everything is done; a session that was halted is started again a few times.
  func settle() {
    for _ in 0..<20 {
      bench.world.runToEnd(limit: .seconds(100_000))
      if bench.state.isHalted || bench.state.phase == .created { bench.session.start() }
      bench.session.retryParked()
      if !bench.state.hasWorkQueued, bench.state.parkedRecords.isEmpty { return }
    }
  }
}
