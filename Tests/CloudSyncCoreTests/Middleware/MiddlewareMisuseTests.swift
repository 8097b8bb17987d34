import CloudSyncCore
import CloudSyncTestSupport
import Testing

/// What a middleware may not do ends the process at once, with a message that says what to do.
@Suite("Misuse of the middleware chain")
struct MiddlewareMisuseTests {
  /// Does something wrong at the first event it sees.
  private struct Wrong: Middleware {
    enum Deed { case callsTwice, neverCalls, asksTooEarly }

    let name = "Wrong"
    let deed: Deed

    func run(
      event: SyncEvent,
      context: MiddlewareContext,
      next: (SyncEvent) -> SyncEvent
    ) -> SyncEvent {
      switch deed {
      case .callsTwice:
        _ = next(event)
        return next(event)
      case .neverCalls: return event
      case .asksTooEarly:
        context.dispatch(.noop)
        return next(event)
      }
    }
  }

  /// Has a wrong middleware at the end of the chain, or at its front.
  private static func commit(_ deed: Wrong.Deed, atEnd: Bool) {
    let bench = SessionHarness()
    if atEnd {
      bench.session.appendMiddleware(Wrong(deed: deed))
    } else {
      bench.session.insertMiddleware(Wrong(deed: deed), before: "SplittingMiddleware")
    }
    bench.start()
  }

  @Test("Calling next twice traps, at either end of the chain")
  func callsTwice() async {
    await #expect(processExitsWith: .failure) { Self.commit(.callsTwice, atEnd: true) }
    await #expect(processExitsWith: .failure) { Self.commit(.callsTwice, atEnd: false) }
  }

  @Test("Not calling next traps")
  func neverCalls() async {
    await #expect(processExitsWith: .failure) { Self.commit(.neverCalls, atEnd: true) }
  }

  @Test("Asking for an effect before next traps")
  func asksTooEarly() async {
    await #expect(processExitsWith: .failure) { Self.commit(.asksTooEarly, atEnd: false) }
  }

  @Test("A name that is taken, and a neighbour that is not there, trap")
  func names() async {
    await #expect(processExitsWith: .failure) {
      let bench = SessionHarness()
      bench.session.appendMiddleware(SpyMiddleware("ZoneMiddleware"))
      bench.world.run()
    }
    await #expect(processExitsWith: .failure) {
      let bench = SessionHarness()
      bench.session.insertMiddleware(SpyMiddleware(), before: "NoSuchMiddleware")
      bench.world.run()
    }
  }

  @Test("The same calls, made rightly, do not end the process")
  func rightly() async {
    await #expect(processExitsWith: .success) {
      let bench = SessionHarness()
      bench.session.appendMiddleware(
        SpyMiddleware(react: { event, context in
          if case .start = event { context.dispatch(.noop) }
        })
      )
      bench.start()
    }
  }
}
