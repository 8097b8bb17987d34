import CloudSyncCore
import CloudSyncTestSupport
import Testing

/// What is given up is told so, and what is in nobody's hands waits.
@Suite("Work that is given up, and accounts that nobody can name")
struct GivenUpTests {
  @Test("A checkpoint behind work that is given up fails with it", arguments: [false, true])
  func checkpoint(isSwitched: Bool) throws {
    let user = Locked("ann")
    let harness = SessionHarness(
      script: ScriptedHandler.Script(modify: { _, _ in .failure(.networkFailure) })
    )
    if isSwitched {
      harness.session.appendMiddleware(
        AccountStatusMiddleware { $0(.available, AccountIdentity(user.withLock { $0 })) }
      )
    }
    harness.start()
    try harness.modify([.note("a", 1)])
    let checkpoint = try harness.modify()
    harness.world.advance(by: .milliseconds(100))
    if isSwitched {
      user.withLock { $0 = "bob" }
      harness.session.accountDidChange()
      harness.world.advance(by: .milliseconds(100))
      harness.session.resolveAccountSwitch(.discard)
    } else {
      harness.session.reset()
    }
    harness.world.advance(by: .milliseconds(100))

    #expect(harness.completions.entries.isEmpty)
    let failed = harness.failures.entries.compactMap { failure -> OperationID? in
      if case .modify(let operation) = failure.work { operation.id } else { nil }
    }
    #expect(failed.count == 2 && failed.last == checkpoint)
  }

  @Test("An account without a name does not end the wait for the app's decision")
  func namelessAccount() throws {
    let user = Locked<AccountIdentity?>(AccountIdentity("ann"))
    let status = Locked(AccountStatus.available)
    let harness = SessionHarness()
    harness.session.appendMiddleware(
      AccountStatusMiddleware { $0(status.withLock { $0 }, user.withLock { $0 }) }
    )
    harness.start()
    user.withLock { $0 = AccountIdentity("bob") }
    harness.session.accountDidChange()
    harness.world.run()
    try harness.modify([.note("secret", 1)])
    for next in [AccountStatus.available, .noAccount, .available] {
      status.withLock { $0 = next }
      user.withLock { $0 = nil }
      harness.session.accountDidChange()
      harness.world.advance(by: .seconds(3_600))
      #expect(harness.handler.modifyCalls.isEmpty, "\(next)")
    }

    status.withLock { $0 = .available }
    user.withLock { $0 = AccountIdentity("ann") }
    harness.session.accountDidChange()
    harness.world.run()
    #expect(harness.completions.entries.count == 1)
  }

  @Test("A fetch that is submitted while records are looked up begins at its token")
  func fetchDuringLookup() {
    let harness = SessionHarness(
      script: ScriptedHandler.Script(fetch: { operation, _ in
        let token = operation.isLookup ? nil : ChangeToken(text: "end")
        return .after(.seconds(1), .success(.init(changeToken: token)))
      })
    )
    harness.start()
    harness.session.fetch(FetchOperation(lookingUp: [SessionHarness.id("a")]))
    harness.world.advance(by: .milliseconds(500))
    harness.session.fetch(FetchOperation(changeToken: ChangeToken(text: "5")))
    harness.world.advance(by: .seconds(10))

    let tokens = harness.handler.fetchCalls.compactMap(\.fetch).map(\.changeToken)
    #expect(tokens.last == ChangeToken(text: "5"))
  }

  @Test("A session whose zone the app has given up is idle")
  func abandoned() throws {
    let harness = SessionHarness(
      script: ScriptedHandler.Script(
        modify: { _, _ in .failure(.userDeletedZone) },
        fetch: { _, _ in .success(.init(changeToken: ChangeToken(text: "1"), hasMore: true)) }
      )
    )
    harness.start()
    harness.session.fetch()
    try harness.modify([.note("a", 1)])
    harness.world.advance(by: .milliseconds(100))
    harness.session.decideZone(.abandon)
    harness.world.advance(by: .seconds(1))

    #expect(harness.state.hasWorkQueued == false)
    #expect(harness.state.progress.isMoreToFetch == false)
  }
}
