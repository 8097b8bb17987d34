import CloudSyncCore
import Foundation
import CloudSyncTestSupport
import Testing

@Suite("No data is lost, and no signal is wrong")
struct DataLossTests {
  static let oneTimeFaults: [StubCloud.Fault] = [
    .failure(.networkFailure), .failure(.serviceUnavailable, retryAfter: .seconds(3)),
    .failure(.zoneBusy), .failure(.limitExceeded), .failure(.operationCancelled), .lostBefore,
    .lostAfter, .never, .neverAfter, .duplicate(again: .seconds(1)),
  ]

  // MARK: Order

  @Test(
    "A retry never moves work behind later work",
    arguments: oneTimeFaults,
    [true, false]
  )
  func retryKeepsOrder(fault: StubCloud.Fault, checksTags: Bool) throws {
    var options = StubCloud.Options()
    options.delay = .seconds(1)
    options.checksChangeTags = checksTags
    options.knowsWriteTokens = checksTags
    let bench = CloudHarness(options: options) { number, _ in number == 2 ? fault : nil }
    bench.session.start()
    bench.world.advance(by: .seconds(5))

    try bench.modify([.note("r", 1)])
    bench.world.run()
    try bench.modify([.note("r", 2)])
    #expect(bench.world.runToEnd())

    #expect(bench.cloud["r"]?["x"] == 2)
    let stored = bench.values(of: "r")
    #expect(stored == stored.filter { $0 == 1 } + stored.filter { $0 == 2 })
    #expect(bench.completions.entries.map(\.id.number) == [1, 2])
    #expect(bench.wrongs == [])
  }

  @Test(
    "A record that was deleted after a failed save stays deleted",
    arguments: oneTimeFaults
  )
  func deletionAfterFailedSave(fault: StubCloud.Fault) throws {
    var options = StubCloud.Options()
    options.delay = .seconds(1)
    let bench = CloudHarness(options: options) { number, _ in number == 2 ? fault : nil }
    bench.session.start()
    bench.world.advance(by: .seconds(5))

    try bench.modify([.note("r", 1)])
    bench.world.run()
    try bench.modify(delete: ["r"])
    #expect(bench.world.runToEnd())

    #expect(bench.cloud["r"] == nil)
    #expect(bench.values(of: "r").last == .some(nil))
    #expect(bench.completions.entries.map(\.id.number) == [1, 2])
    #expect(bench.wrongs == [])
  }

  @Test("Conflict resolution never moves work behind later work", arguments: [true, false])
  func conflictKeepsOrder(isAtomic: Bool) throws {
    var options = StubCloud.Options()
    options.delay = .seconds(1)
    options.isAtomic = isAtomic
    let bench = CloudHarness(options: options)
    bench.cloud.save(.note("r", 0))
    bench.session.start()
    bench.world.advance(by: .seconds(5))

    try bench.modify([.note("r", 1), .note("other", 1)])
    bench.world.run()
    try bench.modify([.note("r", 2)])
    #expect(bench.world.runToEnd())

    #expect(bench.cloud["r"]?["x"] == 2)
    let stored = bench.values(of: "r").dropFirst()
    #expect(Array(stored) == stored.filter { $0 == 1 } + stored.filter { $0 == 2 })
    #expect(bench.completions.entries.map(\.id.number) == [1, 2])
    #expect(bench.wrongs == [])
  }

  @Test("A large operation goes before a small one submitted later", arguments: [true, false])
  func submissionOrder(isBusy: Bool) throws {
    let bench = CloudHarness()
    bench.start()
    if isBusy { try bench.modify([.note("busy", 0)]) }

    try bench.modify((0..<800).map { .note("r\($0)", 1) })
    try bench.modify([.note("r0", 2)])
    bench.world.run()

    #expect(bench.values(of: "r0").last == 2)
    #expect(bench.completions.entries.map(\.id.number) == (isBusy ? [1, 2, 3] : [1, 2]))
    #expect(bench.cloud.records.count == (isBusy ? 801 : 800))
    #expect(bench.wrongs == [])
  }

  // MARK: Checkpoints

  @Test("A checkpoint is announced only when everything before it is saved")
  func checkpointAfterFailure() throws {
    let bench = CloudHarness { number, _ in number == 2 ? .failure(.networkFailure) : nil }
    for index in 0..<10 { bench.cloud.save(.note("old\(index)", 0)) }
    bench.start()
    let counts = Collector<[Int]>()
    let cloud = bench.cloud
    bench.session.modifyWorkCompletedSubject.sink { operation, response in
      guard operation.checkpointID != nil else { return }
      counts.add([
        cloud.records.count, response.savedRecords.count, response.deletedRecordIDs.count,
      ])
    }

    try bench.session.modify(
      ModifyOperation(
        records: (0..<400).map { .note("r\($0)", 1) },
        recordIDsToDelete: (0..<10).map { SessionHarness.id("old\($0)") },
        checkpointID: UUID(uuidString: "00000000-0000-0000-0000-000000000001")
      )
    )
    #expect(bench.world.runToEnd())

    #expect(counts.entries == [[400, 400, 10]])
    #expect(bench.cloud.modifications.map(\.itemCount) == [400, 400, 10])
    #expect(bench.wrongs == [])
  }

  @Test("A checkpoint survives splitting, with saves only as well", arguments: [0, 5])
  func checkpointOfLargeOperation(deletions: Int) throws {
    let bench = CloudHarness()
    bench.start()
    let checkpoint = UUID(uuidString: "00000000-0000-0000-0000-000000000002")

    try bench.session.modify(
      ModifyOperation(
        records: (0..<900).map { .note("r\($0)", 1) },
        recordIDsToDelete: (0..<deletions).map { SessionHarness.id("gone\($0)") },
        checkpointID: checkpoint,
        userInfo: ["why": "test"]
      )
    )
    bench.world.run()

    #expect(bench.cloud.modifications.count == 3)
    #expect(bench.completions.entries.map(\.operation.checkpointID) == [checkpoint])
    #expect(bench.completions.entries.map(\.operation.userInfo) == [["why": "test"]])
    #expect(bench.completions.entries.map(\.response.savedRecords.count) == [900])
  }

  // MARK: Errors that dropped work

  @Test("A code that nobody knows halts with its work kept")
  func unknownCode() throws {
    let bench = CloudHarness { number, _ in number == 2 ? .failure(.unknown(9999)) : nil }
    bench.start()
    let id = try bench.modify([.note("r", 1)])
    bench.world.runToEnd()

    #expect(bench.state.haltReason?.error.code == .unknown(9999))
    #expect(bench.state.haltReason?.operations == [id])
    #expect(bench.state.modifyQueue.map(\.id) == [id])
    #expect(bench.completions.entries.isEmpty && bench.failures.entries.isEmpty)

    bench.start()
    #expect(bench.completions.entries.map(\.id) == [id])
    #expect(bench.cloud["r"]?["x"] == 1)
  }

  @Test("An item with a code that nobody knows is parked and shown")
  func unknownItemCode() throws {
    var options = StubCloud.Options()
    options.refuse = { id, _ in id.name == "odd" ? SyncError(.unknown(9999)) : nil }
    let bench = CloudHarness(options: options)
    bench.start()
    try bench.modify([.note("odd", 1), .note("even", 1)])
    bench.world.runToEnd()

    #expect(bench.completions.entries.map(\.response.unsaved) == [[SessionHarness.id("odd")]])
    #expect(bench.state.parkedRecords.map(\.error.code) == [.unknown(9999)])
    #expect(bench.state.parkedRecords.map { $0.edit?["x"] } == [1])
    #expect(bench.cloud["even"]?["x"] == 1)
    #expect(bench.state.isHalted == false)
  }

  @Test(
    "An edit of a record that the server no longer has is saved anew, or parked and named",
    arguments: [MissingRecordPolicy.recreate, .park]
  )
  func missingRecord(policy: MissingRecordPolicy) throws {
    var configuration = SyncConfiguration()
    configuration.missingRecordPolicy = policy
    let bench = CloudHarness(configuration: configuration)
    bench.start()
    try bench.modify([.note("gone", 1, tag: "t0"), .note("here", 1)])
    bench.world.runToEnd()

    let isNew = policy == .recreate
    #expect(bench.cloud["gone"]?["x"] == (isNew ? 1 : nil))
    #expect(
      bench.completions.entries.map(\.response.unsaved) == [
        isNew ? [] : [SessionHarness.id("gone")]
      ]
    )
    #expect(bench.state.parkedRecords.map(\.error.code) == (isNew ? [] : [.unknownItem]))
    #expect(bench.cloud["here"]?["x"] == 1)
    #expect(bench.wrongs == [])
  }

  @Test("The saved part of a partial failure is reported, with its change tags")
  func partialSuccess() throws {
    var options = StubCloud.Options()
    options.isAtomic = false
    let bench = CloudHarness(options: options)
    for index in 0..<3 { bench.cloud.save(.note("r\(index)", 0)) }
    bench.start()
    try bench.modify((0..<10).map { .note("r\($0)", 1) })
    bench.world.runToEnd()

    let saved = bench.completions.entries.flatMap(\.response.savedRecords)
    #expect(bench.completions.entries.count == 1)
    #expect(saved.count == 10)
    for record in saved {
      #expect(bench.cloud[record.recordID.name]?.changeTag == record.changeTag)
    }
    #expect(bench.cloud.modifications.map(\.itemCount) == [10, 3])
  }

  @Test("A conflict that is the response to a whole request loses none of its items")
  func conflictOfWholeRequest() throws {
    let bench = CloudHarness { number, _ in number == 2 ? .failure(.serverRecordChanged) : nil }
    bench.cloud.save(.note("old", 0))
    bench.start()
    try bench.modify((0..<10).map { .note("r\($0)", 1) }, delete: ["old"])
    bench.world.runToEnd()

    #expect(bench.completions.entries.map(\.response.savedRecords.count) == [10])
    #expect(
      bench.completions.entries.map(\.response.deletedRecordIDs) == [[SessionHarness.id("old")]]
    )
    #expect(bench.cloud.records.count == 10)
    #expect(bench.state.isHalted == false)
  }

  @Test("A push during a fetch is answered by one more fetch")
  func pushDuringFetch() {
    var options = StubCloud.Options()
    options.delay = .seconds(1)
    let bench = CloudHarness(options: options)
    bench.cloud.save(.note("r", 1))
    bench.session.start()
    bench.world.advance(by: .seconds(5))

    bench.session.fetch()
    bench.world.run()
    bench.cloud.save(.note("r", 2))
    bench.session.fetch()
    bench.world.runToEnd()

    #expect(bench.cloud.count(of: .fetch) == 2)
    #expect(bench.pages.entries.map { $0.changedRecords.first?["x"] } == [1, 2])
    #expect(bench.state.fetchQueue.isEmpty)
  }
}
