import CloudSyncCore
import CloudSyncSimulator
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Handlers for tests")
struct HandlerTests {
  private static let zoneID = ZoneID(name: "Notes")

  private static func context(_ number: UInt64) -> RequestContext {
    RequestContext(
      attempt: Attempt(epoch: 1, number: number),
      writeToken: WriteToken(nonce: 1, number: number),
      deadline: Timestamp(nanoseconds: 0)
    )
  }

  private static func save(_ names: [String], deleting deletions: [String] = []) -> SyncWork {
    func id(_ name: String) -> RecordID { RecordID(name: name, zoneID: zoneID) }
    return .modify(
      ModifyOperation(
        records: names.map { Record(recordType: "Note", recordID: id($0)) },
        recordIDsToDelete: deletions.map(id)
      )
    )
  }

  private final class Answers: Sendable {
    private let storage = Locked<[SyncError.Code?]>([])
    var codes: [SyncError.Code?] { storage.withLock { $0 } }
    var take: WorkHandler.Completion {
      { [storage] result in
        let code: SyncError.Code? = if case .failure(let error) = result { error.code } else { nil }
        storage.withLock { $0.append(code) }
      }
    }
  }

  @Test("A scripted handler notes what was asked otherwise, and what nobody asked for")
  func mismatches() {
    let world = SimulatedEnvironment()
    let handler = ScriptedOperationHandler(
      in: world,
      [.modify(saving: ["a"], deleting: ["b"]), .fetch(.twice(.success, again: .seconds(1)))]
    )
    let answers = Answers()
    handler.handle(Self.save(["b"]), context: Self.context(1), completion: answers.take)
    handler.handle(
      Self.save(["a"], deleting: ["b"]),
      context: Self.context(2),
      completion: answers.take
    )

    #expect(answers.codes == [.invalidArguments, nil])
    #expect(handler.mismatches.map(\.call) == [1])
    #expect(
      handler.mismatches.first?.description
        == "call 1: expected modify saving [a] deleting [b], asked modify saving [b] deleting []"
    )
    #expect(handler.remaining.map(\.mode) == [.fetch])

    handler.handle(
      .fetch(FetchOperation()),
      context: Self.context(3),
      completion: answers.take
    )
    world.advance(by: .seconds(1))
    #expect(answers.codes.count == 4)
    handler.handle(.fetch(FetchOperation()), context: Self.context(4), completion: answers.take)
    #expect(handler.mismatches.last?.expected == nil)
  }

  @Test("A recording handler remembers calls, answers and cancellations")
  func recording() {
    let world = SimulatedEnvironment()
    let script = ScriptedOperationHandler(
      in: world,
      [.modify(.twice(.success, again: .seconds(1))), .fetch(.never)]
    )
    let handler = RecordingOperationHandler(script)
    let answers = Answers()
    handler.handle(Self.save(["a"]), context: Self.context(1), completion: answers.take)
    handler.handle(.fetch(FetchOperation()), context: Self.context(2), completion: answers.take)
    handler.cancel(Attempt(epoch: 1, number: 2))
    world.advance(by: .seconds(1))

    #expect(handler.exchanges.map(\.work.mode) == [.modify, .fetch])
    #expect(handler.exchanges.map(\.answers.count) == [2, 0])
    #expect(handler.exchanges.map(\.isCancelled) == [false, true])
    #expect(script.cancelled == [Attempt(epoch: 1, number: 2)])
  }

  // MARK: Faults

  private static func faulty(
    _ point: FaultPoint,
    _ ratio: FaultPlan.Ratio = FaultPlan.Ratio(1, in: 1),
    steps: Int,
    seed: UInt64 = 1,
    change: @escaping FaultyOperationHandler.WorldChange = { _ in false }
  ) -> (SimulatedEnvironment, RecordingOperationHandler, FaultyOperationHandler) {
    let world = SimulatedEnvironment()
    let script = ScriptedOperationHandler(
      in: world,
      (0..<steps).map { _ in .modify() }
    )
    let recording = RecordingOperationHandler(script)
    var plan = FaultPlan.none
    plan[point] = ratio
    let handler = FaultyOperationHandler(
      recording,
      in: world,
      seed: seed,
      plan: plan,
      change: change
    )
    return (world, recording, handler)
  }

  @Test(
    "A fault does what its name says",
    arguments: [
      (FaultPoint.requestLost, 0, 1), (.responseLost, 1, 1), (.duplicated, 1, 2), (.late, 1, 1),
      (.throttle, 0, 1), (.zoneBusy, 0, 1), (.serviceUnavailable, 0, 1), (.refusal, 0, 1),
      (.limitExceeded, 0, 1), (.assetMissing, 0, 1), (.quotaFull, 0, 1), (.signedOut, 0, 1),
      (.zonePurged, 0, 1),
    ]
  )
  func faults(point: FaultPoint, carriedOut: Int, answered: Int) {
    let (world, base, handler) = Self.faulty(point, steps: 9)
    let answers = Answers()
    handler.handle(Self.save(["a", "b"]), context: Self.context(1), completion: answers.take)
    world.runToEnd()

    #expect(base.exchanges.count == carriedOut)
    #expect(answers.codes.count == answered)
    #expect(handler.coverage[point] == 1)
    #expect(handler.coverage.cells.map(\.count).reduce(0, +) == answered)
  }

  @Test("A response out of order comes after that to the next request")
  func outOfOrder() {
    let (world, base, handler) = Self.faulty(.outOfOrder, steps: 2)
    let first = Answers()
    let second = Answers()
    handler.handle(Self.save(["a"]), context: Self.context(1), completion: first.take)
    world.runToEnd()
    #expect(base.exchanges.count == 1 && first.codes.isEmpty)
    handler.plan = .none
    handler.handle(Self.save(["b"]), context: Self.context(2), completion: second.take)
    world.runToEnd()
    #expect(first.codes.count == 1 && second.codes.count == 1)
  }

  @Test("A handler is released though it holds a response for a request that never comes")
  func isReleased() {
    weak var released: FaultyOperationHandler?
    do {
      let (world, _, handler) = Self.faulty(.outOfOrder, steps: 1)
      handler.handle(Self.save(["a"]), context: Self.context(1)) { _ in }
      world.runToEnd()
      released = handler
      #expect(released != nil)
    }
    #expect(released == nil)
  }

  @Test("A change of the world is made before the request, which goes on")
  func worldChange() {
    let changes = Locked<[FaultPoint]>([])
    let (world, base, handler) = Self.faulty(.zoneDeleted, steps: 1) { point in
      changes.withLock { $0.append(point) }
      return true
    }
    handler.handle(Self.save(["a"]), context: Self.context(1)) { _ in }
    world.runToEnd()
    #expect(changes.withLock { $0 } == [.zoneDeleted])
    #expect(base.exchanges.count == 1)
  }

  @Test("The same seed draws the same faults")
  func isDeterministic() {
    func codes(_ seed: UInt64) -> [SyncError.Code?] {
      let (world, _, handler) = Self.faulty(
        .throttle,
        FaultPlan.Ratio(1, in: 3),
        steps: 40,
        seed: seed
      )
      let answers = Answers()
      for number in 1...40 {
        handler.handle(
          Self.save(["a"]),
          context: Self.context(UInt64(number)),
          completion: answers.take
        )
        world.runToEnd()
      }
      return answers.codes
    }
    #expect(codes(3) == codes(3))
    #expect(codes(3) != codes(4))
  }

  @Test("A plan is read from a list and written as one")
  func plans() throws {
    var plan = FaultPlan.none
    plan[.responseLost] = FaultPlan.Ratio(1, in: 20)
    plan[.killed] = FaultPoint.killed.usualRatio
    #expect(plan.description == "response-lost=1/20,killed")
    #expect(try FaultPlan(parsing: plan.description) == plan)
    #expect(try FaultPlan(parsing: "default") == .default)
    #expect(try FaultPlan(parsing: "none") == FaultPlan.none)
    let calm = FaultPlan.default.without(.killed).without(.late)
    #expect(calm.description == "default,-late,-killed")
    #expect(try FaultPlan(parsing: calm.description) == calm)
    #expect(FaultPoint.allCases.map(\.usualRatio.hits).allSatisfy { $0 > 0 })
    for text in ["", "nonsense", "killed=", "killed=2", "killed=3/2", "killed=-1/2", "killed=1/0"] {
      #expect(throws: FaultPlan.ParsingError.self) { try FaultPlan(parsing: text) }
    }
  }

  @Test("Every point has a place of its own")
  func places() {
    var coverage = FaultCoverage()
    for point in FaultPoint.allCases { coverage.count(point) }
    #expect(FaultPoint.allCases.allSatisfy { coverage[$0] == 1 })
    let cell = FaultCoverage.Cell(mode: .fetch, code: .zoneBusy, point: .zoneBusy)
    coverage.count(cell)
    #expect(coverage.cells.map(\.cell) == [cell])
    coverage.add(coverage)
    #expect(coverage[cell] == 2)
  }

  @Test("A campaign is not asked for faults that its devices cannot have")
  func missingPoints() {
    var coverage = FaultCoverage()
    for point in FaultPoint.allCases where !point.isOfStorage { coverage.count(point) }
    let notes = coverage.missing(for: .default)
    #expect(!notes.contains(FaultPoint.migrated.rawValue))
    let databases = FaultCoverage().missing(for: .default, hasStorage: true)
    #expect(databases.contains(FaultPoint.migrated.rawValue))
    #expect(!databases.contains(FaultPoint.dirtyTail.rawValue))
    #expect(FaultCoverage().missing(for: .default).contains(FaultPoint.dirtyTail.rawValue))
  }
}
