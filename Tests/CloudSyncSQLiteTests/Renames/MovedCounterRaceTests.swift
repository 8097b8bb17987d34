import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

/// A device gives a row another key, and its requests reach the cloud one by one, or their responses get lost.
@Suite("Counters of rows that get other keys while requests are on their way")
struct MovedCounterRaceTests {
  private static let schema = "CREATE TABLE p(id TEXT PRIMARY KEY NOT NULL, u TEXT, n INTEGER)"
  private static let start: Int64 = 1_700_000_000_000
  private static let all = "SELECT id, n FROM p"

  private static var options: SyncEngineOptions {
    var options = SyncEngineOptions()
    options.defaultTable.merging.columns["n"] = .counter
    return options
  }

  private typealias Bench = (
    SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device, line: Locked<Line>
  )

  /// Two devices with a row, of which the first one's requests pass a line.
  private func bench() throws -> Bench {
    let bench = SyncHarness()
    let line = Locked(Line())
    bench.handler = { LinedHandler(base: $0, line: line) }
    let mac = try bench.device("mac", Self.schema, tables: ["p"], options: Self.options)
    bench.handler = { $0 }
    let phone = try bench.device("phone", Self.schema, tables: ["p"], options: Self.options)
    try mac.execute("INSERT INTO p VALUES('a', 'u', 1)", at: Self.start)
    try bench.sync(mac, phone)
    return (bench, mac, phone, line)
  }

  private func end(_ bench: Bench) throws {
    let (bench, mac, phone, line) = bench
    line.withLock { $0 = Line() }
    try bench.restart(mac, ["p"], Self.options)
    try bench.sync(mac, phone, mac)
    try bench.sync(mac, phone)
    for device in [mac, phone] { #expect(try bench.unclean(device) == [], "\(device.name)") }
  }

  @Test("What was added before the key changed is counted once, though its response was lost")
  func lostResponse() throws {
    let bench = try bench()
    let (harness, mac, phone, line) = bench
    try mac.execute("UPDATE p SET n = n + 2", at: Self.start + 1_000)
    line.withLock { $0.losesAnswers = true }
    mac.engine.sendChanges()
    harness.world.advance(by: .seconds(1))
    mac.engine.stop()
    try phone.execute("UPDATE p SET id = 'b'", at: Self.start + 2_000)
    try harness.sync(phone)
    try end(bench)
    for device in [mac, phone] {
      #expect(try device.lines(Self.all) == ["'b'|3"], "\(device.name)")
    }
  }

  @Test(
    "A row that has come under another key is not there under its former one, whatever has not come yet",
    arguments: [false, true]
  )
  func halfSent(addsBefore: Bool) throws {
    let bench = try bench()
    let (harness, mac, phone, line) = bench
    try mac.execute("UPDATE p SET id = 'b', n = n + 4", at: Self.start + 1_000)
    if addsBefore { try phone.execute("UPDATE p SET n = n + 7", at: Self.start + 2_000) }
    // The record that the row is now arrives; that of its former key does not.
    line.withLock { $0.passing = 1 }
    mac.engine.sendChanges()
    harness.world.advance(by: .seconds(1))
    mac.engine.stop()
    #expect(try harness.cloudNames().sorted() == ["a:p", "b:p"])
    try harness.sync(phone)
    #expect(try phone.lines(Self.all) == ["'b'|\(addsBefore ? 12 : 5)"])
    try phone.execute("UPDATE p SET n = n + 12 WHERE u = 'u'", at: Self.start + 3_000)
    try harness.sync(phone)
    try end(bench)
    let sum = addsBefore ? 24 : 17
    for device in [mac, phone] {
      #expect(try device.lines(Self.all) == ["'b'|\(sum)"], "\(device.name)")
    }
  }
}

/// What becomes of a device's saves.
private struct Line: Sendable {
  var losesAnswers = false
  /// How many records arrive; nil if all do.
  var passing: Int?
}

private struct LinedHandler: WorkHandler {
  let base: any OperationHandler
  let line: Locked<Line>

  var limits: RequestLimits {
    // Records go one by one, so that some may arrive.
    line.withLock { $0.passing } == nil
      ? base.limits : RequestLimits(items: 1, bytes: base.limits.bytes)
  }

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    guard case .modify = work else {
      return base.perform(work, context: context, completion: completion)
    }
    let (passes, answers) = line.withLock { line in
      defer { line.passing = line.passing.map { $0 - 1 } }
      return (line.passing.map { $0 > 0 } ?? true, !line.losesAnswers)
    }
    if !passes { return }
    base.perform(work, context: context) { if answers { completion($0) } }
  }
}
