import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("AccountStatusMiddleware")
struct AccountStatusMiddlewareTests {
  /// A provider that answers as a test says, or never.
  private final class Provider: Sendable {
    private let state = Locked<(AccountStatus, AccountIdentity?, isSilent: Bool)>(
      (.available, AccountIdentity("ann"), false)
    )
    let questions = Collector<AccountStatusProvider.Completion>()

    func say(_ status: AccountStatus, _ identity: String? = "ann", isSilent: Bool = false) {
      state.withLock { $0 = (status, identity.map { AccountIdentity($0) }, isSilent) }
    }

    var middleware: AccountStatusMiddleware {
      AccountStatusMiddleware { completion in
        self.questions.add(completion)
        let (status, identity, isSilent) = self.state.withLock { $0 }
        if !isSilent { completion(status, identity) }
      }
    }

    var count: Int { questions.entries.count }
  }

  private func bench(_ provider: Provider) -> SessionHarness {
    let bench = SessionHarness()
    bench.session.appendMiddleware(provider.middleware)
    return bench
  }

  @Test("It asks at every start, and nothing is sent before the response")
  func asksAtStart() throws {
    let provider = Provider()
    provider.say(.available, isSilent: true)
    let bench = bench(provider)
    try bench.modify([SessionHarness.record("a")])
    bench.world.run()
    #expect(provider.count == 0)

    bench.start()
    #expect(provider.count == 1 && bench.handler.calls.isEmpty && bench.state.isStarting)
    #expect(bench.state.hasGoodAccountStatus == nil)

    provider.questions.entries[0](.available, nil)
    bench.world.run()
    #expect(bench.completions.entries.count == 1 && bench.state.hasGoodAccountStatus == true)

    provider.say(.available, nil)
    bench.session.stop()
    bench.session.start()
    bench.world.run()
    #expect(provider.count == 2)
  }

  @Test(
    "An account that cannot be used pauses the session, and is asked about ever more rarely",
    arguments: [
      (AccountStatus.noAccount, AccountTrouble.signedOut), (.restricted, .restricted),
      (.couldNotDetermine, .undetermined), (.temporarilyUnavailable, .temporarilyUnavailable),
    ]
  )
  func away(status: AccountStatus, trouble: AccountTrouble) throws {
    let provider = Provider()
    provider.say(status, nil)
    let bench = bench(provider)
    let told = Collector<AccountStatus>()
    bench.session.accountStatusSubject.sink { told.add($0) }
    try bench.modify([SessionHarness.record("a")])
    bench.start()
    bench.world.advance(by: .seconds(3_600))

    #expect(bench.state.accountState == .away(trouble) || bench.state.accountState == .asking)
    #expect(bench.handler.calls.isEmpty && bench.state.modifyQueue.count == 1)
    #expect((8...40).contains(provider.count))
    #expect(told.entries.allSatisfy { $0 == status })

    provider.say(.available)
    bench.session.accountDidChange()
    bench.world.run()
    #expect(bench.completions.entries.count == 1)
    #expect(told.entries.last == .available)
  }

  @Test("When told of a change it asks, and holds everything back until the response")
  func accountDidChange() throws {
    let provider = Provider()
    let bench = bench(provider)
    bench.start()
    provider.say(.noAccount, nil)
    bench.session.accountDidChange()
    try bench.modify([SessionHarness.record("a")])
    bench.world.run()

    #expect(provider.count == 2)
    #expect(bench.handler.modifyCalls.isEmpty)
    #expect(bench.state.accountState == .away(.signedOut))
  }

  @Test("Another account quarantines the work until the app decides")
  func switched() throws {
    let provider = Provider()
    let bench = bench(provider)
    bench.start()
    provider.say(.available, "bob")
    bench.session.accountDidChange()
    try bench.modify([SessionHarness.record("a")])
    bench.world.advance(by: .seconds(3_600))
    #expect(bench.handler.modifyCalls.isEmpty)
    #expect(bench.session.explain().reasons.contains(.accountSwitched))

    bench.session.resolveAccountSwitch(.adopt)
    bench.world.run()

    #expect(bench.completions.entries.count == 1)
    #expect(bench.state.epoch == 2)
  }

  @Test("What was cancelled on its way is not sent to the account that takes the rest over")
  func cancelledBeforeAdoption() throws {
    let provider = Provider()
    let bench = bench(provider)
    bench.handler.change { $0.modify = { _, _ in .never } }
    bench.start()
    let id = try bench.modify([SessionHarness.record("a")])
    bench.world.run()
    bench.session.cancel(id)
    bench.world.run()
    #expect(bench.handler.modifyCalls.count == 1 && bench.failures.entries.isEmpty)
    provider.say(.available, "bob")
    bench.session.accountDidChange()
    bench.world.run()
    bench.handler.change { $0 = ScriptedHandler.Script() }
    bench.session.resolveAccountSwitch(.adopt)
    bench.world.run()

    #expect(
      bench.failures.entries.map { $0.error.itemErrors.map(\.error.code) } == [[.outcomeUnknown]]
    )
    #expect(bench.handler.modifyCalls.count == 1 && bench.completions.entries.isEmpty)
    #expect(bench.state.hasWorkQueued == false && bench.brokenInvariant == nil)
  }

  @Test("Only the response to the last question counts, and only once")
  func lateAnswers() throws {
    let provider = Provider()
    provider.say(.available, isSilent: true)
    let bench = bench(provider)
    bench.start()
    bench.session.accountDidChange()
    bench.world.run()
    #expect(provider.count == 2)

    provider.questions.entries[0](.noAccount, nil)
    bench.world.run()
    #expect(bench.state.accountState == .asking)

    provider.questions.entries[1](.available, AccountIdentity("ann"))
    bench.world.run()
    #expect(bench.state.accountState == .ready(AccountIdentity("ann")))
  }

  @Test("A provider that never answers is asked again after the timeout, not in between")
  func silence() throws {
    let provider = Provider()
    provider.say(.available, isSilent: true)
    let bench = bench(provider)
    try bench.modify([SessionHarness.record("a")])
    bench.start()
    bench.world.advance(by: .seconds(299))
    #expect(provider.count == 1)

    bench.world.advance(by: .seconds(2))
    #expect(provider.count == 2)
    provider.questions.entries[1](.available, nil)
    bench.world.run()

    #expect(bench.completions.entries.count == 1)
  }

  @Test("A response of the cloud that nobody is signed in has the provider asked")
  func cloudSaysSo() throws {
    let provider = Provider()
    let bench = bench(provider)
    bench.handler.change { script in
      script.modify = { operation, number in
        number == 0
          ? .failure(.notAuthenticated) : .success(ScriptedHandler.allSaved(operation))
      }
    }
    try bench.modify([SessionHarness.record("a")])
    bench.start()
    #expect(bench.state.accountState == .away(.signedOut))

    bench.world.advance(by: .seconds(10))

    #expect(provider.count == 2)
    #expect(bench.completions.entries.count == 1)
  }

  @Test("A restored session asks before anything is sent")
  func restored() async throws {
    let provider = Provider()
    let first = bench(provider)
    first.start()
    first.session.stop()
    try first.modify([SessionHarness.record("a")])
    let bytes = Collector<SyncArchive>()
    first.session.snapshot { data in
      if let archive = try? SyncArchive(data) { bytes.add(archive) }
    }
    first.world.run()
    let archive = try #require(bytes.entries.first)

    let silent = Provider()
    silent.say(.available, isSilent: true)
    let second = SessionHarness(restoring: archive)
    second.session.appendMiddleware(silent.middleware)
    second.start()
    #expect(silent.count == 1 && second.handler.calls.isEmpty)
    silent.questions.entries[0](.available, AccountIdentity("ann"))
    second.world.run()

    #expect(second.completions.entries.count == 1)
  }

  @Test("Without it the session has one nameless account that is always good")
  func without() {
    let bench = SessionHarness()
    bench.start()

    #expect(bench.state.accountState == .noProvider)
    #expect(bench.state.hasGoodAccountStatus == true && bench.state.hasStarted)
  }
}
