import CloudSyncCore
import CloudSyncTestSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A middleware that does nothing but bear a name.
private struct Bystander: Middleware {
  let name: String
  func run(
    event: SyncEvent,
    context: MiddlewareContext,
    next: (SyncEvent) -> SyncEvent
  ) -> SyncEvent {
    next(event)
  }
}

extension StressCall {
  /// Whether nothing that was begun goes on after it.
  fileprivate var isDestructive: Bool {
    switch self {
    case .stop, .reset, .switchAccount, .loseZone: true
    default: false
    }
  }
}

extension LiveStressTest {
  /// What one thread does: so many calls that its seed chooses.
  func call(as member: Int, times: Int) {
    var random = SplitMix64(seed: plan.seed &* 7_919 &+ UInt64(member))
    let calls = plan.kind.calls
    for step in 0..<times {
      // A crowd that never waits would end all work before any of it is done.
      if random.chance(1, in: 3) { catchUp() }
      let call = calls[random.below(calls.count)]
      if call.isDestructive, !random.chance(1, in: 4) { continue }
      made.withLock { _ = $0.insert(call) }
      work(call, member, step, &random)
      order(call, &random)
      look(call, member, step, &random)
      happen(call, &random)
    }
  }

  /// Submits something, or gives it up.
  private func work(_ call: StressCall, _ member: Int, _ step: Int, _ random: inout SplitMix64) {
    let shared = Self.sharedNames[random.below(Self.sharedNames.count)]
    switch call {
    case .modifyOwn:
      let name = "t\(member).\(random.below(3))"
      modify([.note(name, step)], edit: (name, step))
    case .modifyShared: modify([.note(shared, step)])
    case .deleteShared: modify([], delete: [shared])
    case .modifyRefused: modify([.note(Self.refusedName, step)])
    case .modifyNothing: modify([])
    case .breakRule:
      let twins = ModifyOperation(records: [.note("twin", 1), .note("twin", 2)])
      do {
        try session.modify(twins) { [wrongs] _ in wrongs.add("a refused call was completed") }
        wrongs.add("a broken rule was accepted")
      } catch {}
    case .fetch: fetch(FetchOperation())
    case .fetchAnew: fetch(FetchOperation(startingOver: true))
    case .performModify, .performAndCancel:
      let ticket = issue()
      let task = Task {
        do throws {
          let operation = ModifyOperation(records: [.note(shared, step)])
          end(ticket, .success(try await session.perform(operation)))
        } catch {
          end(ticket, .failure(error as? SyncError ?? SyncError(.internalError)))
        }
      }
      tasks.add(task)
      if call == .performAndCancel { task.cancel() }
    case .performFetch: tasks.add(Task { _ = try? await session.perform(FetchOperation()) })
    case .cancel:
      // What only this thread edits is not given up.
      tasks.add(
        Task {
          let id = session.fetch()
          session.cancel(id)
          if let id = try? session.modify(ModifyOperation(records: [.note(shared, step)])) {
            session.cancel(id)
          }
          session.cancel(OperationID(epoch: 1, number: UInt64.max))
        }
      )
    default: break
    }
  }

  /// Tells the session to do something.
  private func order(_ call: StressCall, _ random: inout SplitMix64) {
    let recordIDs =
      random.chance(1, in: 2)
      ? nil : [SessionHarness.id(Self.refusedName), SessionHarness.id("none")]
    switch call {
    case .start: session.start()
    case .stop: session.stop()
    case .reset: session.reset()
    case .retryNow: session.retryNow()
    case .connectivityChanged: session.connectivityChanged()
    case .retryParked: session.retryParked(recordIDs)
    case .dropParked: session.dropParked(recordIDs)
    case .acknowledge:
      session.acknowledge(
        lastPage ?? PageID(number: 1),
        random.chance(1, in: 3) ? .notNow : .stored
      )
    case .accountDidChange: session.accountDidChange()
    case .switchAccount:
      switchAccount(to: random.chance(1, in: 2) ? "A" : "B")
      session.accountDidChange()
    case .resolveAccountSwitch:
      session.resolveAccountSwitch(AccountSwitchDecision.allCases[random.below(3)])
    case .decideZone: session.decideZone(random.chance(1, in: 4) ? .abandon : .recreate)
    default: break
    }
  }

  /// Looks at the session, or has it told.
  private func look(_ call: StressCall, _ member: Int, _ step: Int, _ random: inout SplitMix64) {
    switch call {
    case .addMiddleware: addMiddleware(named: "\(member).\(step)", &random)
    case .journal: writeJournal()
    case .snapshot: session.snapshot { [weak self] in self?.check($0) }
    case .awaitSnapshot: tasks.add(Task { check(await session.snapshot()) })
    case .explain:
      if session.explain().description.isEmpty { wrongs.add("the session explains nothing") }
    case .state:
      if let broken = session.state.brokenInvariant(.all) { wrongs.add(broken) }
      _ = (session.state.modifyQueue.count, session.state.wantsMoreWork, session.state.progress)
    case .idle: tasks.add(Task { _ = await session.idle(upTo: .milliseconds(20)) })
    case .fetchNow: tasks.add(Task { _ = await session.fetchNow(upTo: .milliseconds(20)) })
    case .sink: _ = subscriptions()
    case .sinkAndCancel: for subscription in subscriptions() { subscription.cancel() }
    case .values: follow(isWhole: random.chance(1, in: 2))
    case .status:
      #if canImport(Observation)
      if #available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *) {
        tasks.add(Task { @MainActor in _ = SyncStatus(of: session).explanation })
      }
      #endif
    default: break
    }
  }

  /// Something happens in the world.
  private func happen(_ call: StressCall, _ random: inout SplitMix64) {
    switch call {
    case .otherDevice:
      cloud.stub.save(.note(Self.sharedNames[random.below(Self.sharedNames.count)], -1))
    case .loseZone:
      cloud.stub.loseZone(SyncError(random.chance(1, in: 2) ? .zoneNotFound : .userDeletedZone))
    case .expireTokens: cloud.stub.expireTokens()
    case .releaseAnswers: cloud.releaseAnswers()
    default: break
    }
  }

  private func addMiddleware(named name: String, _ random: inout SplitMix64) {
    switch random.below(3) {
    case 0: session.appendMiddleware(Bystander(name: name))
    case 1: session.insertMiddleware(Bystander(name: name), before: "WorkMiddleware")
    default: session.insertMiddleware(Bystander(name: name), after: "SubjectMiddleware")
    }
  }

  /// Subscribes to everything.
  private func subscriptions() -> [SyncSubscription] {
    [
      session.statePublisher.sink { _ in },
      session.eventsPublisher.filter { $0.sequence % 2 == 0 }.sink { _ in },
      session.fetchWorkCompletedSubject.map(\.1).sink { _ in },
      session.modifyWorkCompletedSubject.compactMap { $1.failures.first }.sink { _ in },
      session.workFailedSubject.publisher.sink { _ in },
      session.haltedSubject.sink { _ in },
      session.accountStatusSubject.sink { _ in },
      session.zoneSubject.sink { _ in },
      session.progressSubject.sink { _ in },
      session.parkedSubject.sink { _ in },
    ]
  }

  /// Follows the session until it is released; the order of its states must be theirs.
  private func follow(isWhole: Bool) {
    let states = session.statePublisher.values(buffering: isWhole ? .all : .newest)
    followers.add(
      Task { [wrongs] in
        var last: UInt64 = 0
        for await state in states {
          if state.eventCount < last { wrongs.add("a state came after a newer one") }
          last = state.eventCount
        }
      }
    )
  }

  /// Checks that bytes of the session restore to a state that is whole.
  private func check(_ bytes: Data) {
    do {
      if let broken = try SyncArchive(bytes).state.brokenInvariant(.all) { wrongs.add(broken) }
    } catch {
      wrongs.add("\(error)")
    }
  }
}
