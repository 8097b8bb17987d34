import CloudSyncCore
import CloudSyncTestSupport
import Testing

@testable import CloudSyncEventLog

/// Small logs for the tests of reading.
enum SmallLog {
  /// A session that starts and saves one record.
  static func make() throws -> [UInt8] {
    let bench = SessionHarness()
    let recorder = EventRecorder(.ring(), redactor: .none)
    recorder.attach(to: bench.session)
    bench.start()
    try bench.modify([.note("r", 1)])
    bench.world.run()
    recorder.detach(from: bench.session)
    bench.world.run()
    return recorder.data(redactor: .none).map { Array($0) } ?? []
  }

  static func kind(_ line: [UInt8]) -> String {
    let text = String(decoding: line, as: UTF8.self)
    return LogLine.kinds.map { "\($0)" }.first { text.contains("\"kind\":\"\($0)\",\"payload\"") }
      ?? "none"
  }

  /// The number of the event that a line is about.
  static func sequence(_ line: [UInt8]) -> UInt64? {
    switch try? LineForm.read(LogLine.self, line) {
    case .event(let record): record.sequence
    case .input(let input): input.sequence
    case .effect(let effects): effects.sequence
    case .digest(let digest): digest.sequence
    case .header, nil: nil
    }
  }

  static func sequences(_ log: EventLog) throws -> [UInt64] {
    var found: [UInt64] = []
    try log.forEachStep { (step) throws(LogError) in
      found.append(step.sequence)
      return true
    }
    return found
  }

  /// How opening fails.
  static func failure(_ bytes: [UInt8]) throws -> LogError {
    try #require(throws: LogError.self) { try EventLog(bytes: bytes) }
  }
}
