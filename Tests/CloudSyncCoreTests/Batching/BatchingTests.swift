import CloudSyncCore
import Foundation
import CloudSyncTestSupport
import Testing

@Suite("Batching")
struct BatchingTests {
  @Test("Adjacent operations travel as one request, and each completes with what is its own")
  func adjacent() throws {
    let bench = SessionHarness()
    let checkpoint = try #require(UUID(uuidString: "00000000-0000-0000-0000-000000000001"))
    var ids: [OperationID] = []
    for number in 0..<20 {
      ids.append(
        try bench.session.modify(
          ModifyOperation(
            records: [SessionHarness.record("r\(number)")],
            recordIDsToDelete: [SessionHarness.id("d\(number)")],
            checkpointID: number == 7 ? checkpoint : nil,
            userInfo: ["number": "\(number)"]
          )
        )
      )
    }

    bench.start()

    #expect(bench.handler.modifyCalls.count == 1)
    #expect(bench.handler.modifyCalls[0].saves.count == 20)
    #expect(bench.handler.modifyCalls[0].deletions.count == 20)
    let ended = bench.completions.entries
    #expect(ended.map(\.id) == ids)
    for (number, end) in ended.enumerated() {
      #expect(end.operation.userInfo == ["number": "\(number)"])
      #expect(end.operation.checkpointID == (number == 7 ? checkpoint : nil))
      #expect(end.response.savedRecords.map(\.recordID.name) == ["r\(number)"])
      #expect(end.response.deletedRecordIDs == [SessionHarness.id("d\(number)")])
      #expect(end.response.unsaved.isEmpty)
    }
  }

  @Test("Saves and deletions count together against the limit", arguments: [1, 2, 3, 7, 10, 400])
  func items(limit: Int) throws {
    let bench = SessionHarness(limits: RequestLimits(items: limit))
    try bench.modify((0..<5).map { SessionHarness.record("a\($0)") }, delete: ["b", "c", "d"])
    try bench.modify([SessionHarness.record("e")], delete: ["f"])

    bench.start()

    let sizes = bench.handler.modifyCalls.map(\.names.count)
    #expect(sizes.dropLast().allSatisfy { $0 == limit } && sizes.allSatisfy { $0 <= limit })
    // A request names its saves before its deletions; the requests are in order all the same.
    let submitted = ["a0", "a1", "a2", "a3", "a4", "-b", "-c", "-d", "e", "-f"]
    var expected = submitted[...]
    for call in bench.handler.modifyCalls {
      #expect(Set(call.names) == Set(expected.prefix(limit)))
      expected = expected.dropFirst(limit)
    }
    #expect(expected.isEmpty)
    #expect(bench.completions.entries.map(\.id.number) == [1, 2])
    #expect(bench.completions.entries[0].response.savedRecords.count == 5)
    #expect(bench.brokenInvariant == nil)
  }

  @Test("A request holds no more bytes than the limit, and no fewer than would fit")
  func bytes() throws {
    let limits = RequestLimits(items: 400, bytes: 1_000)
    let bench = SessionHarness(limits: limits)
    var generator = SplitMix64(seed: 7)
    for number in 0..<60 {
      let data = Data(repeating: 1, count: 20 + generator.below(400))
      try bench.modify([SessionHarness.record("r\(number)", ["data": .data(data)])])
    }

    bench.start()

    let calls = bench.handler.modifyCalls
    let sizes = calls.map { $0.saves.map(\.byteCount) }
    #expect(calls.flatMap(\.names) == (0..<60).map { "r\($0)" })
    for (size, next) in zip(sizes, sizes.dropFirst()) {
      #expect(size.reduce(0, +) <= 1_000)
      #expect(size.reduce(0, +) + next[0] > 1_000)
    }
    #expect(bench.completions.entries.count == 60)
  }

  @Test("A record larger than the limit by itself is sent alone: the cloud decides")
  func largerThanTheLimit() throws {
    let bench = SessionHarness(limits: RequestLimits(items: 400, bytes: 1_000))
    let large = SessionHarness.record("large", ["data": .data(Data(repeating: 1, count: 5_000))])
    try bench.modify([SessionHarness.record("a"), large, SessionHarness.record("b")])

    bench.start()

    #expect(bench.handler.modifyCalls.map(\.names) == [["a"], ["large"], ["b"]])
    #expect(bench.completions.entries.count == 1)
  }

  @Test("A large operation travels as several requests and completes once, with everything")
  func large() throws {
    let bench = SessionHarness()
    try bench.modify(
      (0..<1_000).map { SessionHarness.record("r\($0)") },
      delete: (0..<100).map { "d\($0)" }
    )

    bench.start()

    #expect(bench.handler.modifyCalls.map(\.names.count) == [400, 400, 300])
    let response = try #require(bench.completions.entries.first).response
    #expect(bench.completions.entries.count == 1)
    #expect(response.savedRecords.map(\.recordID.name) == (0..<1_000).map { "r\($0)" })
    #expect(response.deletedRecordIDs.count == 100)
    #expect(bench.state.progress.done == 1_100)
  }

  @Test("The configuration's limits go before the handler's")
  func configuration() throws {
    var configuration = SyncConfiguration()
    configuration.limits = RequestLimits(items: 2)
    let bench = SessionHarness(configuration: configuration)
    try bench.modify((0..<5).map { SessionHarness.record("r\($0)") })

    bench.start()

    #expect(bench.handler.modifyCalls.map(\.names.count) == [2, 2, 1])
  }

  @Test("Limits below one item or byte are one, and every operation still goes through")
  func smallest() throws {
    let limits = RequestLimits(items: -3, bytes: 0)
    #expect(limits.items == 1 && limits.bytes == 1)
    let bench = SessionHarness(limits: limits)
    try bench.modify([SessionHarness.record("a"), SessionHarness.record("b")], delete: ["c"])

    bench.start()

    #expect(bench.handler.modifyCalls.map(\.names) == [["a"], ["b"], ["-c"]])
    #expect(bench.completions.entries.count == 1)
  }

  @Test("Empty operations complete in their place, without a request")
  func empty() throws {
    let bench = SessionHarness()
    try bench.modify()
    try bench.modify([SessionHarness.record("a")])
    try bench.modify()
    try bench.modify()
    try bench.modify([SessionHarness.record("b")])
    #expect(bench.completions.entries.isEmpty)
    bench.world.run()
    #expect(bench.completions.entries.map(\.id.number) == [1])

    bench.start()

    #expect(bench.handler.modifyCalls.map(\.names) == [["a", "b"]])
    #expect(bench.completions.entries.map(\.id.number) == [1, 2, 3, 4, 5])
    #expect(bench.brokenInvariant == nil)
  }

  @Test("4,000 one-record edits are 10 requests")
  func many() throws {
    let bench = SessionHarness()
    for number in 0..<4_000 { try bench.modify([SessionHarness.record("r\(number)")]) }

    bench.start()

    #expect(bench.handler.modifyCalls.count == 10)
    #expect(bench.completions.entries.map(\.id.number) == (1...4_000).map(UInt64.init))
  }

  @Test("Edits and pages take turns, so that a long queue does not hold up a fetch")
  func turns() throws {
    var script = ScriptedHandler.Script()
    script.fetch = { _, number in
      .success(.init(changeToken: ChangeToken(text: "\(number)"), hasMore: number < 4))
    }
    let bench = SessionHarness(limits: RequestLimits(items: 1), script: script)
    for number in 0..<5 { try bench.modify([SessionHarness.record("r\(number)")]) }
    bench.session.fetch()

    bench.start()

    let modes = bench.handler.calls.map(\.mode).dropFirst(2)
    #expect(modes.count == 10)
    #expect(zip(modes, modes.dropFirst()).allSatisfy { $0 != $1 })
  }
}
