#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("SyncEssence")
struct SyncEssenceTests {
  /// A session that goes on from an essence, in the same world.
  private static func session(
    from essence: SyncEssence,
    in bench: SessionHarness,
    provider: AccountStatusProvider? = nil
  ) throws -> (CloudSyncSession, ScriptedHandler) {
    let handler = ScriptedHandler(in: bench.world)
    // As stored: by its bytes.
    let session = CloudSyncSession(
      restoring: try SyncEssence(essence.data),
      operationHandler: handler,
      environment: bench.world.environment
    )
    if let provider { session.appendMiddleware(AccountStatusMiddleware(provider: provider)) }
    return (session, handler)
  }

  @Test("Zone and subscription are known, nothing is queued, and the epoch is a new one")
  func goesOn() throws {
    let bench = SessionHarness()
    bench.start()
    try bench.modify([SessionHarness.record("a")])
    bench.world.run()
    bench.session.stop()
    try bench.modify([SessionHarness.record("b")])
    bench.world.run()
    let before = bench.state
    let (session, handler) = try Self.session(from: before.essence, in: bench)

    #expect(session.state.epoch == before.epoch + 1)
    #expect(session.state.essence.epoch == before.epoch + 1)
    #expect(session.state.hasWorkQueued == false)
    #expect(session.state.isHalted == false)
    #expect(session.state.brokenInvariant(.all) == nil)
    session.start()
    let id = try session.modify(ModifyOperation(records: [SessionHarness.record("b")]))
    bench.world.run()

    #expect(handler.calls.map(\.mode) == [.modify])
    #expect(id.epoch == before.epoch + 1)
    let tokens = Set(bench.handler.calls.map(\.token) + handler.calls.map(\.token))
    #expect(tokens.count == bench.handler.calls.count + handler.calls.count)
  }

  @Test("A function of client and server resolves the conflicts of whoever goes on")
  func resolvesConflicts() throws {
    let server = SessionHarness.record("a", ["x": 5], tag: "s")
    let script = ScriptedHandler.Script(modify: { operation, number in
      let refusal = ItemFailure(
        SessionHarness.id("a"),
        SyncError(.serverRecordChanged, serverRecord: server)
      )
      return number == 0
        ? .now(.success(.init(failures: [refusal])))
        : .success(ScriptedHandler.allSaved(operation))
    })
    let bench = SessionHarness()
    let handler = ScriptedHandler(in: bench.world, script: script)
    let session = CloudSyncSession(
      restoring: bench.state.essence,
      operationHandler: handler,
      resolveConflict: { client, server in
        var merged = server
        merged["x"] = .int64(7)
        return client["x"] == 1 ? merged : nil
      },
      environment: bench.world.environment
    )
    session.start()
    try session.modify(ModifyOperation(records: [SessionHarness.record("a", ["x": 1])]))
    bench.world.run()

    #expect(handler.modifyCalls.count == 2)
    #expect(handler.modifyCalls.last?.saves.first?["x"] == 7)
    #expect(handler.modifyCalls.last?.saves.first?.changeTag == "s")
  }

  @Test("Page numbers ascend from one session to the next, however often it is restored")
  func pages() throws {
    let bench = SessionHarness()
    let numbers = Collector<UInt64>()
    var essence = bench.state.essence
    for _ in 0..<4 {
      let (session, _) = try Self.session(from: essence, in: bench)
      session.fetchWorkCompletedSubject.sink { _, page in numbers.add(page.page.number) }
      essence = session.state.essence
      session.start()
      session.fetch()
      bench.world.run()
      session.reset()
      session.start()
      session.fetch()
      bench.world.run()
      essence = session.state.essence
    }

    #expect(numbers.entries.count == 8)
    #expect(numbers.entries == numbers.entries.sorted())
    #expect(Set(numbers.entries).count == 8)
  }

  @Test("A server's wait is obeyed, and what was learnt of sizes is kept")
  func gateAndLimits() throws {
    let bench = SessionHarness(
      limits: RequestLimits(items: 8),
      script: ScriptedHandler.Script(modify: { operation, number in
        switch number {
        case 0: .failure(.limitExceeded)
        case 1: .failure(.requestRateLimited, retryAfter: .seconds(60))
        default: .success(ScriptedHandler.allSaved(operation))
        }
      })
    )
    bench.start()
    try bench.modify((0..<8).map { SessionHarness.record("r\($0)") })
    bench.world.run()
    let essence = bench.state.essence
    bench.session.stop()
    bench.world.run()
    let (session, handler) = try Self.session(from: essence, in: bench)
    session.start()
    try session.modify(
      ModifyOperation(records: (0..<8).map { SessionHarness.record("r\($0)") })
    )
    bench.world.advance(by: .seconds(59))
    #expect(handler.modifyCalls.isEmpty)
    bench.world.advance(by: .seconds(20))

    #expect(handler.modifyCalls.first?.saves.count == 4)
  }

  @Test("The reason of a halt is kept until the next start")
  func halt() throws {
    let bench = SessionHarness(
      script: ScriptedHandler.Script(createZone: { _ in
        .failure(.badContainer)
      })
    )
    bench.start()
    try bench.modify([SessionHarness.record("a")])
    bench.world.run()
    let reason = try #require(bench.state.haltReason)
    let (session, _) = try Self.session(from: bench.state.essence, in: bench)

    #expect(bench.state.essence.halt == reason)
    #expect(session.state.haltReason == reason)
    session.start()
    bench.world.run()
    #expect(session.state.isHalted == false)
  }

  @Test("An open decision about another account stays open, with and without a provider")
  func accountSwitch() throws {
    let identity = Locked(AccountIdentity("first"))
    let provider = AccountStatusProvider { answer in
      answer(.available, identity.withLock { $0 })
    }
    let bench = SessionHarness()
    bench.session.appendMiddleware(AccountStatusMiddleware(provider: provider))
    bench.start()
    identity.withLock { $0 = AccountIdentity("second") }
    bench.session.accountDidChange()
    bench.world.run()
    let essence = bench.state.essence
    #expect(essence.accountOwner == AccountIdentity("first"))
    #expect(essence.accountNewcomer == AccountIdentity("second"))

    for provider in [nil, provider] {
      let (session, handler) = try Self.session(from: essence, in: bench, provider: provider)
      session.start()
      try session.modify(ModifyOperation(records: [SessionHarness.record("a")]))
      bench.world.run()
      #expect(handler.calls.isEmpty)
      #expect(session.state.essence.accountNewcomer == AccountIdentity("second"))

      session.resolveAccountSwitch(.adopt)
      bench.world.run()
      #expect(session.state.essence.accountOwner == AccountIdentity("second"))
      #expect(session.state.essence.accountNewcomer == nil)
      #expect(handler.modifyCalls.count == 1)
    }
  }

  @Test("A lost zone that waits for the app's decision still waits")
  func lostZone() throws {
    var configuration = SyncConfiguration()
    configuration.zonePolicy.missing = .ask
    let bench = SessionHarness(
      configuration: configuration,
      script: ScriptedHandler.Script(modify: { _, _ in .failure(.zoneNotFound) })
    )
    bench.start()
    try bench.modify([SessionHarness.record("a")])
    bench.world.run()
    #expect(bench.state.essence.zoneState == .lost(.missing))
    let (session, handler) = try Self.session(from: bench.state.essence, in: bench)
    session.start()
    try session.modify(ModifyOperation(records: [SessionHarness.record("a")]))
    bench.world.run()
    #expect(handler.calls.isEmpty)

    session.decideZone(.recreate)
    bench.world.run()
    #expect(handler.calls.map(\.mode) == [.createZone, .createSubscription, .modify])
  }

  @Test("Work changes nothing of it, so that it is stored rarely")
  func changesRarely() throws {
    let bench = SessionHarness()
    bench.start()
    let essence = bench.state.essence
    for number in 0..<20 {
      try bench.modify([SessionHarness.record("r\(number)")])
      bench.session.fetch()
      bench.world.run()
      #expect(bench.state.essence == essence)
    }
  }

  @Test("It survives JSON and bytes; damaged bytes are refused and never trap")
  func coding() throws {
    let bench = SessionHarness()
    bench.start()
    let essence = bench.state.essence
    #expect(try SyncEssence(essence.data) == essence)
    let json = try JSONEncoder().encode(essence)
    #expect(try JSONDecoder().decode(SyncEssence.self, from: json) == essence)
    #expect(essence.data.count < 200)

    for length in 0..<essence.data.count {
      #expect(throws: CodedError.self) { _ = try SyncEssence(essence.data.prefix(length)) }
    }
    var generator = SplitMix64(seed: 8)
    for _ in 0..<2_000 {
      var bytes = essence.data
      let place = Int(generator.below(UInt64(bytes.count)))
      bytes[bytes.startIndex + place] = UInt8(truncatingIfNeeded: generator.next())
      if let read = try? SyncEssence(bytes) {
        let state = SyncState(restoring: read, configuration: SyncConfiguration(), nonce: 1)
        #expect(state.brokenInvariant(.all) == nil)
      }
    }
  }
}
