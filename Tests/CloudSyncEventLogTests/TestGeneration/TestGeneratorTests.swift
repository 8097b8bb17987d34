import CloudSyncCore
import CloudSyncEventLog
import CloudSyncLogTestGeneration
import Foundation
import CloudSyncTestSupport
import Testing

@Suite("TestGenerator")
struct TestGeneratorTests {
  /// A small scenario, and a configuration that is not the default one.
  private static func smallLog() throws -> EventLog {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      number == 0
        ? .after(.milliseconds(300), .success(ScriptedHandler.allSaved(operation)))
        : .failure(.badContainer, retryAfter: .seconds(3))
    }
    var configuration = SyncConfiguration()
    configuration.timeout = .seconds(60)
    return try ScriptHarness.log(SessionHarness(configuration: configuration, script: script)) {
      bench in
      bench.session.start()
      try bench.modify([.note("tea", 1)], delete: ["coffee"])
      bench.world.advance(by: .seconds(1))
      try bench.modify([SessionHarness.record("tea", ["x": 2, "text": "Earl \"Grey\""], tag: "+")])
      bench.world.advance(by: .milliseconds(1_500))
    }
  }

  @Test("A small run reads like this")
  func golden() throws {
    let source = try TestGenerator.swiftTest(
      for: Self.smallLog(),
      name: "A container is gone",
      isShortened: false
    )

    #expect(source == Self.whole)
  }

  @Test("A shortened run reads like this")
  func shortenedGolden() throws {
    let source = try TestGenerator.swiftTest(for: Self.smallLog(), name: "Gone \"\\(1)\"\n")

    #expect(source == Self.short)
  }

  @Test("A redacted log and foreign middleware are told in a comment")
  func remarks() throws {
    var script = SessionScript(zoneID: ZoneID(name: "Z"))
    script.redaction = .digests
    script.foreignMiddleware = ["Mine\nimport Evil"]
    let source = TestGenerator.swiftTest(for: script, name: "…", expecting: nil)

    #expect(source.contains("// The log was redacted: values are digests"))
    #expect(source.contains("// The session had middleware of the app's: Mine\\nimport Evil."))
    #expect(source.contains("func reproducesTheSession() throws"))
    #expect(source.contains("#expect(outcome.finalError == nil)"))
  }

  /// Run by `compile-check.sh`, which compiles and runs what is written here.
  @Test(
    "Generated files are written for the compile check",
    .enabled(if: ProcessInfo.processInfo.environment["CLOUDSYNC_GENERATE"] != nil)
  )
  func writeFiles() throws {
    let folder = try #require(ProcessInfo.processInfo.environment["CLOUDSYNC_GENERATE"])
    func write(_ log: EventLog, _ name: String, isShortened: Bool = false) throws {
      let source = try TestGenerator.swiftTest(for: log, name: name, isShortened: isShortened)
      let path = folder + "/" + name.replacing(" ", with: "") + "Tests.swift"
      try Data(source.utf8).write(to: URL(fileURLWithPath: path))
    }
    try write(Self.smallLog(), "Small")
    try write(Self.smallLog(), "Short", isShortened: true)
    try write(ScriptHarness.eventfulLog(), "Eventful")
    try write(ScriptHarness.hostileLog(redactor: .none), "Hostile")
    try write(ScriptHarness.hostileLog(redactor: .digests(salt: 7)), "Redacted")
    try write(Self.restoredLog(), "Restored")
  }

  /// A log that begins within a session's life.
  private static func restoredLog() throws -> EventLog {
    var script = ScriptedHandler.Script()
    script.modify = { _, _ in .after(.seconds(2), .failure(SyncError(.permissionFailure))) }
    return try ScriptHarness.log(SessionHarness(script: script)) { bench in
      bench.start()
      try bench.modify([.note("r", 1)])
    } _: { bench in
      bench.world.advance(by: .seconds(20))
    }
  }
}
