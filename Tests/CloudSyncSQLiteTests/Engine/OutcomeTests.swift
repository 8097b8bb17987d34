import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("How a synchronization ends")
struct OutcomeTests {
  private static let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"

  /// A cloud that answers everything with one error, if there is one.
  private final class FailingHandler: WorkHandler {
    let error = Locked<SyncError?>(nil)
    private let handler: any OperationHandler

    init(_ handler: any OperationHandler) { self.handler = handler }

    func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
      if let error = error.withLock({ $0 }) { return completion(.failure(error)) }
      handler.perform(work, context: context, completion: completion)
    }
  }

  private func device(
    _ bench: SyncHarness
  ) throws -> (SyncHarness.Device, FailingHandler) {
    let device = try bench.device("mac", Self.schema, tables: ["notes"])
    let handler = FailingHandler(
      bench.cloud.connect(
        device: "mac",
        account: AccountIdentity("owner"),
        zoneID: bench.zoneID
      )
    )
    device.engine = try SyncEngine(
      database: device.database,
      tables: ["notes"],
      zoneID: bench.zoneID,
      operationHandler: handler,
      environment: bench.world.environment
    )
    return (device, handler)
  }

  private func outcome(
    _ device: SyncHarness.Device,
    upTo limit: Duration?,
    _ bench: SyncHarness
  ) -> String {
    let outcome = Locked("nothing")
    device.engine.syncChanges(upTo: limit) { result in
      outcome.withLock { outcome in
        outcome =
          switch result {
          case .done: "done"
          case .waiting: "waiting"
          case .halted(let error): "halted \(error.code)"
          case .stopped: "stopped"
          }
      }
    }
    bench.world.advance(by: .seconds(120))
    return outcome.withLock { $0 }
  }

  @Test("It is done, or the reason is told: stopped, offline for too long, halted")
  func outcomes() throws {
    let bench = SyncHarness()
    let (mac, handler) = try device(bench)
    #expect(outcome(mac, upTo: nil, bench) == "stopped")
    try mac.engine.start()
    #expect(outcome(mac, upTo: nil, bench) == "done")

    handler.error.withLock { $0 = SyncError(.networkUnavailable) }
    try mac.execute("INSERT INTO notes VALUES('a', 'A')")
    #expect(outcome(mac, upTo: .seconds(60), bench) == "waiting")
    #expect(outcome(mac, upTo: nil, bench) == "nothing")

    handler.error.withLock { $0 = nil }
    mac.engine.session?.connectivityChanged()
    bench.world.advance(by: .seconds(60))
    #expect(outcome(mac, upTo: .seconds(60), bench) == "done")
  }

  @Test("A halted engine is neither sending nor fetching, and its error is published")
  func halts() throws {
    let bench = SyncHarness()
    let (mac, handler) = try device(bench)
    let errors = Locked<[SyncError.Code]>([])
    mac.engine.cloudErrors.sink { error in errors.withLock { $0.append(error.code) } }
    try mac.engine.start()
    #expect(outcome(mac, upTo: nil, bench) == "done")
    handler.error.withLock { $0 = SyncError(.badDatabase) }
    try mac.execute("INSERT INTO notes VALUES('a', 'A')")

    #expect(outcome(mac, upTo: nil, bench) == "halted badDatabase")
    #expect(!mac.engine.isSending && !mac.engine.isFetching)
    #expect(errors.withLock { $0.contains(.badDatabase) })

    handler.error.withLock { $0 = nil }
    try mac.engine.start()
    #expect(outcome(mac, upTo: nil, bench) == "done")
    #expect(try bench.cloudNames() == ["a:notes"])
  }

  @Test("A stop ends the wait, and so does the halt that is there already")
  func endsOfWaits() throws {
    let bench = SyncHarness()
    let (mac, handler) = try device(bench)
    try mac.engine.start()
    handler.error.withLock { $0 = SyncError(.networkUnavailable) }
    let told = Locked<[String]>([])
    for limit in [nil, Duration.seconds(500)] {
      mac.engine.syncChanges(upTo: limit) { result in told.withLock { $0.append("\(result)") } }
    }
    bench.world.advance(by: .seconds(60))
    #expect(told.withLock { $0 } == [])
    mac.engine.stop()
    #expect(told.withLock { $0 } == ["stopped", "stopped"])
    bench.world.advance(by: .seconds(600))
    #expect(told.withLock { $0.count } == 2)

    handler.error.withLock { $0 = SyncError(.badDatabase) }
    try mac.engine.start()
    bench.world.advance(by: .seconds(60))
    #expect(outcome(mac, upTo: nil, bench) == "halted badDatabase")
    #expect(outcome(mac, upTo: .seconds(5), bench) == "halted badDatabase")
  }
}
