import CloudSyncCore
import CloudSyncSimulator
import CloudSyncTestSupport
import CloudSyncVirtualTime
import Testing

/// Edits of different versions of a record that travel as one: the other device's part stays.
@Suite("Edits that are merged, of different versions or without what they were made of")
struct MixedEditTests {
  private static let merge = ConflictResolver.fieldwise(
    ["n": .counterSum, "s": .setUnion, "v": .server],
    default: .client
  )

  private static func list(_ texts: String...) -> FieldValue { .list(texts.map { .string($0) }) }

  /// A session that has saved a record, and fails to look it up so often at first.
  private static func bench(
    _ fields: [String: FieldValue],
    items: Int = 400,
    failingLookups: Int = 0
  ) throws -> CloudHarness {
    var options = StubCloud.Options()
    options.limits = RequestLimits(items: items)
    options.delay = .seconds(1)
    let left = Locked(failingLookups)
    let bench = CloudHarness(options: options, resolver: merge) { _, work in
      guard case .fetch(let operation) = work, operation.isLookup else { return nil }
      return left.withLock { left in
        left -= 1
        return left < 0 ? nil : .failure(SyncError(.networkFailure))
      }
    }
    bench.start()
    bench.world.advance(by: .seconds(10))
    try bench.session.modify(ModifyOperation(records: [SessionHarness.record("a", fields)]))
    bench.world.advance(by: .seconds(10))
    return bench
  }

  @Test(
    "A second edit without an ancestor leaves what another device has added",
    arguments: [400, 1]
  )
  func withoutAncestors(_ items: Int) throws {
    let firsts: [[String: FieldValue]] = [["s": Self.list("a", "b")], ["t": "x"]]
    for first in firsts {
      let bench = try Self.bench(["s": Self.list("a"), "v": 1], items: items)
      var other = try #require(bench.cloud["a"])
      let tag = other.changeTag
      other["s"] = Self.list("a", "c")
      other["v"] = 100
      bench.cloud.save(other)
      try bench.session.modify(
        ModifyOperation(records: [SessionHarness.record("a", first, tag: tag)])
      )
      bench.world.run()
      // The first one is in flight.
      #expect(bench.state.isModifying)
      let second: [String: FieldValue] = ["s": Self.list("a", "d"), "v": 2]
      try bench.session.modify(
        ModifyOperation(records: [SessionHarness.record("a", second, tag: tag)])
      )
      bench.world.advance(by: .seconds(4_000))
      #expect(bench.state.isIdle)
      guard case .list(let elements)? = bench.cloud["a"]?["s"] else { return }
      #expect(elements.contains(.string("c")) && elements.contains(.string("d")))
      #expect(bench.cloud["a"]?["v"] == 100)
    }
  }

  @Test(
    "An edit of an older version beside one of the present is refused also where no look-up succeeds"
  )
  func failingLookups() throws {
    for (failures, isOwn) in [(0, false), (2, false), (2, true)] {
      let bench = try Self.bench(["n": 5], failingLookups: failures)
      let old = try #require(bench.cloud["a"])
      var other = old
      other["n"] = 105
      bench.cloud.save(other)
      var stale = old
      if isOwn {
        stale["n"] = 6
        try bench.session.modify(ModifyOperation(records: [stale], ancestors: [old]))
        bench.world.advance(by: .seconds(100))
      }
      bench.session.stop()
      bench.world.run()
      let now = try #require(bench.cloud["a"])
      var mine = now
      mine["t"] = "x"
      try bench.session.modify(ModifyOperation(records: [mine], ancestors: [now]))
      let shown = stale
      stale["n"] = isOwn ? 7 : 6
      try bench.session.modify(ModifyOperation(records: [stale], ancestors: [shown]))
      bench.session.start()
      bench.world.advance(by: .seconds(4_000))
      #expect(bench.state.isIdle)
      #expect(bench.cloud["a"]?["n"] == (isOwn ? 107 : 106), "failures \(failures), own \(isOwn)")
      #expect(bench.cloud["a"]?["t"] == "x")
    }
  }

  @Test(
    "Two queued edits of a record that somebody else has made anew add once each",
    arguments: [400, 1]
  )
  func madeAnewByOthers(_ items: Int) throws {
    var options = StubCloud.Options()
    options.limits = RequestLimits(items: items)
    let requests = Locked(0)
    let bench = CloudHarness(options: options, resolver: Self.merge) { _, work in
      guard work.isModify else { return nil }
      return requests.withLock {
        $0 += 1
        return $0 == 2 ? .failure(SyncError(.zoneNotFound)) : nil
      }
    }
    bench.start()
    try bench.session.modify(
      ModifyOperation(records: [SessionHarness.record("a", ["n": 5, "s": Self.list("a", "z")])])
    )
    bench.world.run()
    let old = try #require(bench.cloud["a"])
    bench.session.stop()
    bench.world.run()
    var once = old
    once["n"] = 6
    try bench.session.modify(ModifyOperation(records: [once], ancestors: [old]))
    var twice = once
    twice["n"] = 7
    twice["s"] = Self.list("z", "d")
    try bench.session.modify(ModifyOperation(records: [twice], ancestors: [once]))
    var other = old
    other["n"] = 100
    other["s"] = Self.list("a", "c", "z")
    bench.cloud.save(other)
    bench.session.start()
    bench.world.advance(by: .seconds(4_000))
    #expect(bench.state.isIdle)
    #expect(bench.cloud["a"]?["n"] == 102)
    guard case .list(let elements)? = bench.cloud["a"]?["s"] else { return }
    #expect(elements.contains(.string("c")) && !elements.contains(.string("a")))
  }
}
