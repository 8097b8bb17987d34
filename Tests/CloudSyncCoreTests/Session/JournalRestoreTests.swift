#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

import CloudSyncCore
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

/// A process that is killed right after one of its events was journaled: before the event's effects.
private final class KillableProcess: Sendable {
  private struct Life: Sendable {
    var isAlive = true
    var events = 0
    var bytes = Data()
    var journaled: [ModifyOperation] = []
    var completed: [OperationID] = []
  }

  private let life = Locked(Life())
  let session: CloudSyncSession

  init(
    over cloud: StubCloud,
    in world: VirtualEnvironment,
    restoring bytes: Data? = nil,
    dyingAfter last: Int
  ) throws {
    let handler = KillableHandler(cloud) { [life] in life.withLock { $0.isAlive } }
    session = try CloudSyncSession(
      journal: bytes,
      operationHandler: handler,
      zoneID: SessionHarness.zoneID,
      resolver: .client,
      environment: world.environment
    )
    session.journal { [life] bytes in
      life.withLock { life in
        guard life.isAlive else { return }
        life.bytes.append(bytes)
        // The first bytes are a snapshot, every further frame is an event.
        life.events += 1
        if life.events > last { life.isAlive = false }
      }
    }
    session.eventsPublisher.sink { [life] record in
      guard case .doWork(.modify(let operation)) = record.event else { return }
      life.withLock { life in
        if life.events <= last || record.sequence <= UInt64(last) {
          life.journaled.append(operation)
        }
      }
    }
    session.modifyWorkCompletedSubject.sink { [life] operation, _ in
      life.withLock { if $0.isAlive { $0.completed.append(operation.id) } }
    }
  }

  var isAlive: Bool { life.withLock { $0.isAlive } }
  var bytes: Data { life.withLock { $0.bytes } }
  var events: Int { life.withLock { $0.events } }
  var completed: [OperationID] { life.withLock { $0.completed } }
  /// What the journal holds of the app's edits.
  var journaled: [ModifyOperation] { life.withLock { $0.journaled } }
}

/// Passes calls and answers on as long as its process lives.
private struct KillableHandler: WorkHandler {
  let cloud: StubCloud
  let isAlive: @Sendable () -> Bool

  init(_ cloud: StubCloud, isAlive: @escaping @Sendable () -> Bool) {
    self.cloud = cloud
    self.isAlive = isAlive
  }

  var limits: RequestLimits { cloud.limits }

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    guard isAlive() else { return }
    cloud.handle(work, context: context) { [isAlive] result in
      if isAlive() { completion(result) }
    }
  }
}

@Suite("A session restored at any point of its life")
struct JournalRestoreTests {
  /// What the app does, step by step; each record gets higher numbers in the order of its edits.
  private static let steps: [@Sendable (CloudSyncSession, StubCloud) throws -> Void] = [
    { session, _ in session.start() },
    { session, _ in
      try session.modify(ModifyOperation(records: [.note("a", 1), .note("b", 1)]))
      try session.modify(ModifyOperation(records: [.note("a", 2)]))
    },
    { session, _ in session.fetch() },
    { session, cloud in
      _ = cloud.save(SessionHarness.record("b", ["y": 9]))
      try session.modify(ModifyOperation(records: [.note("b", 3), .note("c", 3)]))
      try session.modify(ModifyOperation())
    },
    { session, _ in
      session.stop()
      try session.modify(ModifyOperation(records: [.note("c", 4)]))
      session.start()
    },
    { session, _ in
      try session.modify(
        ModifyOperation(records: [.note("d", 5)], recordIDsToDelete: [SessionHarness.id("a")])
      )
    },
    { session, _ in session.fetch(FetchOperation(startingOver: true)) },
  ]

  /// A cloud that is slow, loses a response, is busy, and never answers one call.
  private static func cloud(in world: VirtualEnvironment) -> StubCloud {
    var options = StubCloud.Options()
    options.delay = .milliseconds(300)
    options.limits = RequestLimits(items: 2)
    return StubCloud(in: world, options: options) { call, _ in
      switch call {
      case 3: .lostAfter
      case 5: .failure(SyncError(.serviceUnavailable, retryAfter: .seconds(20)))
      case 7: .neverAfter
      default: nil
      }
    }
  }

  /// Runs the steps in a process that dies after so many events, and the rest in another one.
  private static func run(
    dyingAfter last: Int
  ) throws -> (first: KillableProcess, second: KillableProcess?, cloud: StubCloud) {
    let world = VirtualEnvironment()
    let cloud = cloud(in: world)
    let first = try KillableProcess(over: cloud, in: world, dyingAfter: last)
    var second: KillableProcess?
    world.run()
    for step in steps {
      if !first.isAlive, second == nil {
        second = try KillableProcess(
          over: cloud,
          in: world,
          restoring: first.bytes,
          dyingAfter: .max
        )
        world.run()
        second?.session.start()
      }
      try step((second ?? first).session, cloud)
      world.advance(by: .milliseconds(400))
    }
    _ = world.runToEnd(limit: .seconds(3_600))
    if !first.isAlive, second == nil {
      second = try KillableProcess(over: cloud, in: world, restoring: first.bytes, dyingAfter: .max)
      world.run()
      second?.session.start()
      _ = world.runToEnd(limit: .seconds(3_600))
    }
    return (first, second, cloud)
  }

  @Test("Killed after any of its events, it goes on with nothing lost and nothing out of order")
  func killedAnywhere() throws {
    let whole = try Self.run(dyingAfter: .max)
    #expect(whole.second == nil)
    #expect(whole.first.events > 30)

    for last in 1..<whole.first.events {
      let (first, second, cloud) = try Self.run(dyingAfter: last)

      let label = "killed after event \(last)"
      let survivor = try #require(second, "\(label)")
      #expect(survivor.session.state.hasWorkQueued == false, "\(label)")
      #expect(survivor.session.state.brokenInvariant(.all) == nil, "\(label)")
      #expect(survivor.session.state.parkedRecords.isEmpty, "\(label)")
      let accepted = Set((first.journaled + survivor.journaled).map(\.id))
      #expect(Set(first.completed + survivor.completed) == accepted, "\(label)")
      for process in [first, survivor] {
        #expect(process.completed == process.completed.sorted(), "\(label)")
        #expect(Set(process.completed).count == process.completed.count, "\(label)")
      }
      for name in ["a", "b", "c", "d"] {
        let stored = cloud.changes.filter { $0.recordID.name == name }
          .compactMap { $0.edit?["x"]?.int64Value }
        #expect(stored == stored.sorted(), "\(label): \(name) went back")
      }
    }
  }
}
