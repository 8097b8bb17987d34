import CloudSyncCore
import CloudSyncSimulator
import CloudSyncTestSupport
import CloudSyncVirtualTime
import Testing

/// A second edit of a record whose first one meets another device's edit: what each adds is added once.
@Suite("A second edit of a record that is in conflict")
struct SecondEditTests {
  /// When the second edit is made.
  enum Moment: CaseIterable, Sendable {
    /// While the first is in flight, the cloud having the other device's edit; and after a page has told of it.
    case inFlight, inFlightAfterPage
    /// While the server's record is looked up; and after a page has told of it.
    case lookedUp, lookedUpAfterPage
    /// While the first is in flight, a fetch being queued with it.
    case besideFetch
  }

  private static let merge = ConflictResolver.fieldwise(
    ["n": .counterSum, "s": .setUnion],
    default: .client
  )

  private static func number(_ record: Record?) -> Int64? {
    guard case .int64(let number)? = record?["n"] else { return nil }
    return number
  }

  private static func elements(_ record: Record?) -> [FieldValue] {
    guard case .list(let elements)? = record?["s"] else { return [] }
    return elements
  }

  /// The record with one more, and an element more.
  private static func added(_ element: String, to shown: Record) -> Record {
    var record = shown
    record["n"] = .int64((number(shown) ?? 0) + 1)
    record["s"] = .list(elements(shown) + [.string(element)])
    return record
  }

  /// A session that has saved the record, with what the app keeps of it.
  private static func bench(items: Int, tellsRecords: Bool) throws -> (CloudHarness, Locked<Record>)
  {
    var options = StubCloud.Options()
    options.limits = RequestLimits(items: items)
    options.delay = .seconds(1)
    options.tellsConflictingRecords = tellsRecords
    let bench = CloudHarness(options: options, resolver: merge)
    bench.start()
    bench.world.advance(by: .seconds(10))
    let first = SessionHarness.record("a", ["n": 5, "s": .list([.string("a")])])
    try bench.session.modify(ModifyOperation(records: [first]))
    bench.world.advance(by: .seconds(10))
    let stored = Locked(try #require(bench.cloud["a"]))
    bench.session.cloudChangesSubject.sink { change in
      for record in change.recordsToStore(stored: { _ in stored.withLock { $0 } }) {
        stored.withLock { $0 = record }
      }
    }
    return (bench, stored)
  }

  @Test("Nothing of another device's is overwritten", arguments: Moment.allCases, [400, 1])
  func nothingOverwritten(_ moment: Moment, _ items: Int) throws {
    let isLookedUp = moment == .lookedUp || moment == .lookedUpAfterPage
    let (bench, stored) = try Self.bench(items: items, tellsRecords: !isLookedUp)
    func add(_ element: String) throws {
      // As an app shows it: what is stored, with the edits that are not sent.
      let shown = try bench.session.state.unsentEdits.reduce(stored.withLock { $0 }) {
        try #require($1.applied(to: $0))
      }
      let edit = Self.added(element, to: shown)
      try bench.session.modify(ModifyOperation(records: [edit], ancestors: [shown]))
    }
    var other = try #require(bench.cloud["a"])
    other["n"] = 105
    other["s"] = .list([.string("a"), .string("c")])
    let seesPage = moment == .inFlightAfterPage || moment == .lookedUpAfterPage
    if seesPage || moment == .besideFetch {
      bench.session.stop()
      bench.world.run()
      if moment == .besideFetch { bench.session.fetch() }
      try add("b")
      bench.world.run()
      bench.cloud.save(other)
      bench.session.fetch()
      bench.session.start()
    } else {
      bench.cloud.save(other)
      try add("b")
    }
    bench.world.run()
    bench.advance(while: { !$0.isModifying })
    if isLookedUp { bench.advance(while: { $0.isModifying }) }
    try add("d")
    bench.world.advance(by: .seconds(4_000))
    #expect(bench.state.isIdle)
    #expect(Self.number(bench.cloud["a"]) == 107)
    #expect(Self.elements(bench.cloud["a"]).count == 4)
    #expect(bench.wrongs == [])
  }

  @Test("Two queued edits that do not travel together add once each", arguments: [1, 2, 400])
  func queued(_ items: Int) throws {
    let (bench, _) = try Self.bench(items: items, tellsRecords: true)
    let shown = try #require(bench.cloud["a"])
    bench.session.stop()
    bench.world.run()
    let once = Self.added("b", to: shown)
    try bench.session.modify(ModifyOperation(records: [once], ancestors: [shown]))
    try bench.modify([.note("b", 1)])
    try bench.session.modify(
      ModifyOperation(records: [Self.added("d", to: once)], ancestors: [once])
    )
    var other = shown
    other["n"] = 105
    bench.cloud.save(other)
    bench.session.start()
    bench.world.advance(by: .seconds(4_000))
    #expect(bench.state.isIdle)
    #expect(Self.number(bench.cloud["a"]) == 107)
    #expect(Self.elements(bench.cloud["a"]).count == 3)
  }

  @Test(
    "An edit made of what the conflict was resolved to, and one made beside it, meet a second conflict"
  )
  func secondConflict() throws {
    for isBeside in [false, true] {
      let (bench, _) = try Self.bench(items: 400, tellsRecords: true)
      let shown = try #require(bench.cloud["a"])
      var other = shown
      other["n"] = 105
      bench.cloud.save(other)
      let once = Self.added("b", to: shown)
      try bench.session.modify(ModifyOperation(records: [once], ancestors: [shown]))
      // Until the conflict is resolved; then another device adds once more.
      bench.advance(while: { Self.number($0.unsentEdits.first?.edit) != 106 })
      other = try #require(bench.cloud["a"])
      other["n"] = .int64((Self.number(other) ?? 0) + 1_000)
      bench.cloud.save(other)
      let seen = isBeside ? once : try #require(bench.state.unsentEdits.first?.applied(to: shown))
      try bench.session.modify(
        ModifyOperation(records: [Self.added("d", to: seen)], ancestors: [seen])
      )
      bench.world.advance(by: .seconds(4_000))
      #expect(bench.state.isIdle)
      #expect(Self.number(bench.cloud["a"]) == 1_107, "beside: \(isBeside)")
      #expect(Self.elements(bench.cloud["a"]).count == 3)
    }
  }
}

extension CloudHarness {
  /// Lets time pass while something holds, for a minute at most.
  fileprivate func advance(while condition: (SyncState) -> Bool) {
    var left = 600
    while left > 0, condition(state) {
      world.advance(by: .milliseconds(100))
      left -= 1
    }
    world.run()
  }
}
