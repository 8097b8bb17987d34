import CloudSyncCore
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A session that is called from inside one kind of callback.
private final class Insider: Sendable {
  /// From where it is called.
  enum Place: Sendable, CaseIterable {
    case modifyCompletion, fetchCompletion, modified, fetched, failed, halted, state, event
    case progress, zone, account, parked, resolver, expiredToken, provider, handler, handlerCancel
    case journal, snapshot
  }

  /// What it is told there.
  enum Order: Sendable, CaseIterable {
    case start, stop, reset, cancel, modify, stopAndStart, resetAndStart, stopAndReset, everything
  }

  let world = VirtualEnvironment()
  let cloud: StubCloud
  let session: CloudSyncSession
  let order: Order
  let place: Place
  /// How often a submission ended, and whether it was kept.
  let endings = Collector<(number: Int, code: SyncError.Code?)>()
  let submitted = Locked(0)
  /// What was submitted after a reset, in the same callback.
  let afterReset = Collector<Int>()
  let wrongs = Collector<String>()
  let wasThere = Locked(0)
  private let last = Locked<OperationID?>(nil)
  private let mayNotSend = Locked(true)
  private let hook: Locked<(@Sendable (Place) -> Void)?>

  init(_ place: Place, _ order: Order) {
    let hook = Locked<(@Sendable (Place) -> Void)?>(nil)
    let at: @Sendable (Place) -> Void = { place in hook.withLock { $0 }?(place) }
    self.hook = hook
    self.place = place
    self.order = order
    var options = StubCloud.Options()
    options.limits = RequestLimits(items: 2)
    options.delay = .milliseconds(10)
    options.hasZone = false
    options.refuse = { id, _ in id.name == "bad" ? SyncError(.invalidArguments) : nil }
    cloud = StubCloud(in: world, options: options) { number, _ in
      at(.handler)
      if number == 7 { return .never }
      return number % 11 == 9 ? .failure(.internalError) : nil
    }
    session = CloudSyncSession(
      operationHandler: ReportingHandler(cloud) { at(.handlerCancel) },
      zoneID: SessionHarness.zoneID,
      resolver: ConflictResolver { client, _ in
        at(.resolver)
        return client
      },
      resolveExpiredChangeToken: {
        at(.expiredToken)
        return nil
      },
      environment: world.environment
    )
    listen(at)
    session.appendMiddleware(
      AccountStatusMiddleware { completion in
        at(.provider)
        completion(.available, nil)
      }
    )
    hook.withLock { $0 = { [weak self] in self?.arrive(at: $0) } }
  }

  private func listen(_ at: @escaping @Sendable (Place) -> Void) {
    session.eventsPublisher.sink { [weak self] record in
      switch record.event {
      case .halt, .reset: self?.mayNotSend.withLock { $0 = true }
      case .start: self?.mayNotSend.withLock { $0 = false }
      case .startWork, .retryWork:
        if self?.mayNotSend.withLock({ $0 }) == true, self?.session.state.flight != nil,
          self?.session.state.flight?.startedBy == record.sequence
        {
          self?.wrongs.add("event \(record.sequence) sends while the session is stopped")
        }
      default: break
      }
      at(.event)
    }
    session.statePublisher.sink { _ in at(.state) }
    session.haltedSubject.sink { _ in at(.halted) }
    session.progressSubject.sink { _ in at(.progress) }
    session.zoneSubject.sink { _ in at(.zone) }
    session.accountStatusSubject.sink { _ in at(.account) }
    session.parkedSubject.sink { _ in at(.parked) }
    session.modifyWorkCompletedSubject.sink { _ in at(.modified) }
    session.fetchWorkCompletedSubject.sink { _ in at(.fetched) }
    session.workFailedSubject.sink { _ in at(.failed) }
    session.journal { _ in at(.journal) }
  }

  /// Gives the order, the first few times.
  private func arrive(at place: Place) {
    guard place == self.place else { return }
    let times = wasThere.withLock { times in
      times += 1
      return times
    }
    guard times <= 3 else { return }
    let id = last.withLock { $0 }
    switch order {
    case .start: session.start()
    case .stop: session.stop()
    case .reset:
      session.reset()
      afterReset.add(submit())
    case .cancel: if let id { session.cancel(id) }
    case .modify: submit()
    case .stopAndStart:
      session.stop()
      session.start()
    case .resetAndStart:
      session.reset()
      afterReset.add(submit())
      session.start()
    case .stopAndReset:
      session.stop()
      submit()
      session.reset()
    case .everything:
      session.stop()
      session.retryNow()
      session.connectivityChanged()
      session.retryParked()
      session.dropParked()
      session.accountDidChange()
      session.decideZone(.recreate)
      session.resolveAccountSwitch(.adopt)
      session.snapshot { _ in }
      session.statePublisher.sink { _ in }.cancel()
      _ = (session.explain(), session.state.hasWorkQueued)
      session.start()
    }
  }

  /// Submits one record.
  @discardableResult
  func submit(_ name: String? = nil) -> Int {
    let number = submitted.withLock { count in
      count += 1
      return count
    }
    let record = Record.note(name ?? "r\(number % 3)", number)
    do {
      let id = try session.modify(ModifyOperation(records: [record])) { [endings, weak self] in
        if case .failure(let error) = $0 {
          endings.add((number, error.code))
        } else {
          endings.add((number, nil))
        }
        self?.arrive(at: .modifyCompletion)
      }
      last.withLock { $0 = id }
    } catch {
      wrongs.add("\(error)")
    }
    return number
  }

  func fetch() {
    session.fetch { [weak self] _ in self?.arrive(at: .fetchCompletion) }
  }

  /// A life with a bit of everything in it.
  func live() {
    session.start()
    for round in 0..<6 {
      submit()
      submit(round % 2 == 0 ? "bad" : nil)
      cloud.save(.note("r1", -round))
      fetch()
      world.advance(by: .milliseconds(15))
      session.snapshot { [weak self] _ in self?.arrive(at: .snapshot) }
      if round == 2 { cloud.expireTokens() }
      if round == 3 {
        session.stop()
        submit()
        if let id = last.withLock({ $0 }) { session.cancel(id) }
      }
      session.retryParked()
      session.start()
      world.advance(by: .seconds(400))
    }
    for _ in 0..<8 {
      session.start()
      world.advance(by: .seconds(1_000))
    }
  }
}

/// A handler that tells when it is asked to give a call up.
private final class ReportingHandler: WorkHandler {
  let cloud: StubCloud
  let onCancel: @Sendable () -> Void
  var limits: RequestLimits { cloud.limits }

  init(_ cloud: StubCloud, onCancel: @escaping @Sendable () -> Void) {
    self.cloud = cloud
    self.onCancel = onCancel
  }

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    cloud.handle(work, context: context, completion: completion)
  }

  func cancel(_ attempt: Attempt) {
    cloud.cancel(attempt)
    onCancel()
  }
}

@Suite("Concurrency: calls from inside every callback")
struct ConcurrencyReentrancyTests {
  @Test("Orders given inside a callback do what their names say", arguments: Insider.Place.allCases)
  private func orders(at place: Insider.Place) {
    // Every fourth order at a place, the others at the next ones; all of them in the long run.
    let number = Insider.Place.allCases.firstIndex(of: place) ?? 0
    for (index, order) in Insider.Order.allCases.enumerated()
    where SuiteSize.isLong || (index + number) % 4 == 0 {
      let insider = Insider(place, order)
      insider.live()
      let endings = insider.endings.entries
      let after = Set(insider.afterReset.entries)

      let what: Comment = "\(place), \(order)"
      #expect(insider.wasThere.withLock { $0 } > 0, what)
      #expect(endings.map(\.number).sorted() == Array(1...insider.submitted.withLock { $0 }), what)
      #expect(insider.wrongs.entries == [], what)
      #expect(insider.cloud.violations == [], what)
      #expect(insider.session.state.brokenInvariant(.all) == nil, what)
      #expect(insider.session.state.hasWorkQueued == false, what)
      let failed = endings.filter { $0.code != nil && $0.code != .reset && $0.code != .cancelled }
      #expect(failed.map(\.number) == [], what)
      // Only a reset that came later ends what was submitted after one.
      if let last = after.max() {
        #expect(endings.contains { $0.number == last && $0.code == nil }, what)
        #expect(endings.contains { $0.code == .reset } || place == .state, what)
      } else if order != .stopAndReset {
        #expect(!endings.contains { $0.code == .reset }, what)
      }
    }
  }
}
