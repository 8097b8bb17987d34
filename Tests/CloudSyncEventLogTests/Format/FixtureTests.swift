import CloudSyncCore
import Foundation
import CloudSyncTestSupport
import Testing

@testable import CloudSyncEventLog

/// Logs of every released version of the format, and the documentation's examples, which are theirs.
///
/// `CLOUDSYNC_WRITE_FIXTURE=1 swift test --filter FixtureTests` writes the present version's log and
/// the examples anew: only before its release.
@Suite("Released formats", .serialized)
struct FixtureTests {
  private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()
  static let documentation = tests.deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Sources/CloudSyncEventLog/Documentation.docc/EventLogFormat.md")

  private static func fixture(_ version: Int) -> String {
    tests.appendingPathComponent("Fixtures/format-\(version).jsonl").path
  }

  /// A run with a line of every kind.
  private static func record() throws -> [UInt8] {
    var script = ScriptedHandler.Script()
    script.modify = { operation, call in
      call == 0
        ? .failure(SyncError(.networkFailure, "no network"))
        : .success(ScriptedHandler.allSaved(operation))
    }
    let bench = SessionHarness(script: script)
    let recorder = EventRecorder(.ring(), redactor: .none)
    bench.session.start()
    bench.world.run()
    recorder.attach(to: bench.session)
    bench.world.run()
    bench.session.appendMiddleware(AccountStatusMiddleware { $0(.available, AccountIdentity("u")) })
    bench.world.run()
    try bench.modify([SessionHarness.record("tea", ["title": "Tea", "cups": 2, "strength": 0.5])])
    bench.world.runToEnd()
    recorder.detach(from: bench.session)
    bench.world.run()
    return recorder.data(redactor: .none).map { Array($0) } ?? []
  }

  @Test("The present version's log is what is recorded today")
  func present() throws {
    let path = Self.fixture(LogHeader.formatVersion)
    let today = try Self.record()
    if ProcessInfo.processInfo.environment["CLOUDSYNC_WRITE_FIXTURE"] != nil {
      try Data(today).write(to: URL(fileURLWithPath: path))
      try Self.writeExamples(LineForm.lines(today))
    }
    let lines = LineForm.lines([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))

    #expect(
      LineForm.lines(today).map { String(decoding: $0, as: UTF8.self) }
        == lines.map { String(decoding: $0, as: UTF8.self) }
    )
    #expect(Set(lines.map(SmallLog.kind)) == Set(LogLine.kinds.map { "\($0)" }))
  }

  @Test(
    "A log of every version folds, verifies and re-runs",
    arguments: 3...LogHeader.formatVersion
  )
  func released(version: Int) throws {
    let log = try EventLog(path: Self.fixture(version))

    #expect(log.mismatch == nil && log.hasEnded && log.warnings == [])
    #expect(log.count > 5)
    #expect(try Replay.rerun(log).divergences.map(\.description) == [])
  }

  /// Puts the longest line of each kind but the header into the documentation, where one stands now.
  private static func writeExamples(_ lines: [[UInt8]]) throws {
    let text = String(decoding: try Data(contentsOf: documentation), as: UTF8.self)
    let kinds = LogLine.kinds.map { "\($0)" }
    let written = text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { line -> String in
        guard line.hasPrefix("{\"version\"") else { return String(line) }
        guard let kind = kinds.first(where: { line.contains(",\"kind\":\"\($0)\",\"payload\"") }),
          let example = example(of: kind, in: lines)
        else { return String(line) }
        return String(decoding: example, as: UTF8.self)
      }
    try Data(written.joined(separator: "\n").utf8).write(to: documentation)
  }

  /// The line of a kind that shows most: a response that a middleware changed, and what it became.
  private static func example(of kind: String, in lines: [[UInt8]]) -> [UInt8]? {
    let all = lines.filter { SmallLog.kind($0) == kind }
    let words = ["input": "\"workFailure\"", "event": "\"retry\"", "effect": "\"call\""]
    return all.first { line in
      words[kind].map { String(decoding: line, as: UTF8.self).contains($0) } ?? false
    } ?? all.last
  }

  @Test("Every example of the documentation is a line of the present version's log")
  func documented() throws {
    let text = String(decoding: try Data(contentsOf: Self.documentation), as: UTF8.self)
    let path = Self.fixture(LogHeader.formatVersion)
    let lines = LineForm.lines([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
    let examples = text.split(separator: "\n").filter { $0.hasPrefix("{\"version\"") }
    for example in examples {
      let line = Array(example.utf8)
      #expect(lines.contains(line), "\(example.prefix(80))")
      #expect(throws: Never.self) { try LineForm.read(LogLine.self, line) }
    }
    #expect(examples.map { SmallLog.kind(Array($0.utf8)) } == LogLine.kinds.map { "\($0)" })
  }
}
