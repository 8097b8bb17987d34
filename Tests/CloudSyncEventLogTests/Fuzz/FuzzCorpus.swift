import CloudSyncCore
@testable import CloudSyncEventLog
import CloudSyncTestSupport

/// Small real logs, each of which begins in the middle of a run in which much goes wrong.
enum FuzzCorpus {
  /// How many events a log has.
  private static let length = 7

  /// The logs as lines, with values and without.
  static func make() throws -> [[[UInt8]]] {
    var logs: [[[UInt8]]] = []
    for redactor in [Redactor.none, .digests(salt: 5)] {
      let whole = try EventLog(bytes: try run(redactor))
      let last = whole.lastSequence ?? 0
      for start in stride(from: UInt64(0), to: last, by: length - 1) {
        logs.append(try slice(of: whole, from: start))
      }
    }
    return logs
  }

  /// The log of some events, with the state before them.
  static func slice(of log: EventLog, from start: UInt64) throws -> [[UInt8]] {
    var writer = LineWriter()
    func write(_ line: LogLine) {
      writer.beginLine()
      line.write(to: &writer)
      writer.endLine()
    }
    var state = try log.state(at: start)
    let header = LogHeader(
      time: log.header.time,
      middleware: log.middleware(before: start + 1),
      redaction: log.header.redaction,
      state: state
    )
    write(.header(header))
    try log.forEachStep(in: start + 1...start + UInt64(length)) { (step) throws(LogError) in
      for chain in step.chains { write(.input(chain)) }
      if let input = step.input { write(.input(input)) }
      write(.event(step.record))
      if !step.effects.isEmpty {
        write(.effect(LogEffects(sequence: step.sequence, effects: step.effects)))
      }
      state.reduce(step.record.event, at: step.record.time)
      return true
    }
    let digest = LogDigest.of(state)
    write(.digest(LogDigest(sequence: state.eventCount, digest: digest, isEnd: true)))
    return writer.bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
  }

  /// A short run that comes by most of what a session does.
  private static func run(_ redactor: Redactor) throws -> [UInt8] {
    var options = StubCloud.Options()
    options.delay = .milliseconds(300)
    options.pageSize = 3
    options.itemLimit = 4
    options.refuse = { id, _ in
      switch id.name {
      case "r3": SyncError(.invalidArguments, "no")
      case "r5": SyncError(.quotaExceeded, "full")
      default: nil
      }
    }
    var configuration = SyncConfiguration()
    configuration.acknowledgesPages = true
    let bench = CloudHarness(options: options, configuration: configuration) { number, _ in
      switch number % 13 {
      case 3: .failure(.networkFailure)
      case 5: .lostAfter
      case 7: .failure(.requestRateLimited, retryAfter: .seconds(2))
      case 9: .duplicate(again: .milliseconds(50))
      case 11: .neverAfter
      default: nil
      }
    }
    let recorder = EventRecorder(.ring(), redactor: redactor)
    recorder.attach(to: bench.session)
    try drive(bench)
    recorder.detach(from: bench.session)
    bench.world.runToEnd()
    return recorder.data(redactor: redactor).map { Array($0) } ?? []
  }

  private static func drive(_ bench: CloudHarness) throws {
    for index in 0..<4 { bench.cloud.save(.note("r\(index)", 100)) }
    bench.session.start()
    let first = try bench.modify((0..<5).map { .note("r\($0)", 1) }, delete: ["gone"])
    try bench.modify([.note("r1", 2), .note("s", 1)])
    bench.session.fetch()
    for round in 0..<6 {
      bench.world.advance(by: .seconds(3))
      for page in bench.pages.entries.suffix(1) {
        bench.session.acknowledge(page.page, round == 1 ? .notNow : .stored)
      }
      bench.cloud.save(.note("r\(round)", 200 + round))
      try bench.modify([.note("r\(round)", 3), .note("t\(round)", 1)])
    }
    bench.session.cancel(first)
    bench.session.retryParked()
    bench.world.advance(by: .seconds(5))
    bench.cloud.loseZone()
    try bench.modify([.note("r1", 5)])
    bench.session.fetch(FetchOperation(startingOver: true))
    bench.world.advance(by: .seconds(40))
    bench.session.appendMiddleware(AccountStatusMiddleware { $0(.available, AccountIdentity("a")) })
    bench.session.accountDidChange()
    bench.world.advance(by: .seconds(40))
    bench.session.stop()
    bench.session.start()
    bench.session.dropParked()
    bench.session.reset()
    bench.world.advance(by: .seconds(60))
  }
}
