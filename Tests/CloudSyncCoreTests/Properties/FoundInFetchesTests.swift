#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

import CloudSyncCore
import CloudSyncTestSupport
import Testing

/// What the random scripts found about pages, and about clocks that are set.
@Suite("Found by random scripts: pages and clocks")
struct FoundInFetchesTests {
  @Test("A page that was delivered and not acknowledged is offered again after a restore")
  func unacknowledgedPage() throws {
    var configuration = SyncConfiguration()
    configuration.acknowledgesPages = true
    let bench = SessionHarness(configuration: configuration)
    bench.start()
    bench.session.fetch()
    bench.world.run()
    #expect(bench.pages.entries.map(\.page.number) == [1])
    let bytes = Locked<Data?>(nil)
    bench.session.snapshot { data in bytes.withLock { $0 = data } }
    bench.world.run()

    let next = SessionHarness(restoring: try SyncArchive(#require(bytes.withLock { $0 })))
    next.start()

    #expect(next.pages.entries.map(\.page.number) == [1])
    #expect(next.state.explain(at: next.world.now).reasons == .acknowledgement)
  }

  @Test("The first page from nothing says so, also when the zone is lost in the middle of a run")
  func beginnings() throws {
    let bench = SessionHarness()
    bench.handler.change { script in
      script.fetch = { operation, number in
        if number == 1 { return .failure(.zoneNotFound) }
        return .success(
          .init(changeToken: ChangeToken(text: "t\(number)"), hasMore: number < 3)
        )
      }
    }
    bench.start()
    bench.session.fetch()
    bench.world.run()

    #expect(bench.pages.entries.map(\.isBeginning) == [true, true, false])
    #expect(bench.pages.entries.map(\.startedOver) == [true, true, true])
  }

  @Test("A run from nothing that is cut short is gone on with, and still says what is gone")
  func cutShort() throws {
    let bench = SessionHarness()
    bench.handler.change { script in
      script.fetch = { operation, number in
        number == 1
          ? .never
          : .success(.init(changeToken: ChangeToken(text: "t\(number)"), hasMore: number == 0))
      }
    }
    bench.start()
    let id = bench.session.fetch()
    bench.world.run()
    bench.session.cancel(id)
    bench.session.fetch()
    bench.world.run()

    #expect(bench.pages.entries.map(\.isLast) == [false, true])
    #expect(bench.pages.entries.map(\.startedOver) == [true, true])
    #expect(bench.pages.entries.map(\.isBeginning) == [true, false])
  }

  @Test("A look-up that is cancelled does not hide that a run from nothing was cut short")
  func cutShortThenLookup() throws {
    let bench = SessionHarness()
    bench.handler.change { script in
      script.fetch = { operation, number in
        number == 1 || number == 2
          ? .never
          : .success(.init(changeToken: ChangeToken(text: "t\(number)"), hasMore: number == 0))
      }
    }
    bench.start()
    let id = bench.session.fetch()
    bench.world.run()
    bench.session.cancel(id)
    let lookup = bench.session.fetch(FetchOperation(lookingUp: [SessionHarness.id("a")]))
    bench.world.run()
    bench.session.cancel(lookup)
    bench.session.fetch()
    bench.world.run()

    #expect(bench.pages.entries.map(\.isLast) == [false, true])
    #expect(bench.pages.entries.map(\.startedOver) == [true, true])
  }

  @Test("A clock set back costs one more wait at most, although nothing else happens")
  func clockSetBack() throws {
    let bench = SessionHarness()
    bench.start()
    bench.handler.change { script in
      script.modify = { operation, number in
        number == 0
          ? .failure(.zoneBusy, retryAfter: .seconds(20))
          : .success(ScriptedHandler.allSaved(operation))
      }
    }
    try bench.modify([SessionHarness.record("a")])
    bench.world.run()
    bench.world.jumpClock(by: .seconds(-86_400))

    bench.world.advance(by: .seconds(60))

    #expect(bench.completions.entries.count == 1)
  }

  @Test("A timer that was set before the clock was set forward does not hold later ones back")
  func clockSetForward() throws {
    let bench = SessionHarness()
    bench.start()
    bench.handler.change { script in
      script.modify = { operation, number in
        switch number {
        case 0: .failure(.zoneBusy, retryAfter: .seconds(7_200))
        case 1: .failure(.networkFailure)
        default: .success(ScriptedHandler.allSaved(operation))
        }
      }
    }
    try bench.modify([SessionHarness.record("a")])
    bench.world.run()
    bench.world.jumpClock(by: .seconds(86_400))
    bench.session.connectivityChanged()
    bench.world.run()
    #expect(bench.handler.modifyCalls.count == 2)

    bench.world.advance(by: .seconds(3))

    #expect(bench.completions.entries.count == 1)
  }
}
