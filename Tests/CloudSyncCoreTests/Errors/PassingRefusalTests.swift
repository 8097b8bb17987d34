import CloudSyncCore
import Testing

/// One record that the cloud always refuses with an error that should pass.
@Suite("A record that is refused in passing")
struct PassingRefusalTests {
  /// How the other records of a request fare.
  enum Others: CaseIterable, Sendable {
    case saved
    case refusedForIt
  }

  /// A handler that refuses the records whose names begin with "bad".
  static func script(
    _ code: SyncError.Code,
    retryAfter: Duration? = nil,
    others: Others = .saved,
    isMended: Locked<Bool> = Locked(false)
  ) -> ScriptedHandler.Script {
    ScriptedHandler.Script(modify: { operation, _ in
      let isBad: (RecordID) -> Bool = { $0.name.hasPrefix("bad") }
      var response = ScriptedHandler.allSaved(operation)
      guard !isMended.withLock({ $0 }), operation.records.contains(where: { isBad($0.recordID) })
      else { return .success(response) }
      response.failures = operation.records.filter { isBad($0.recordID) }
        .map { ItemFailure($0.recordID, SyncError(code, retryAfter: retryAfter)) }
      response.savedRecords.removeAll { isBad($0.recordID) }
      if others == .refusedForIt {
        response.failures += response.savedRecords.map {
          ItemFailure($0.recordID, SyncError(.batchRequestFailed))
        }
        response.savedRecords = []
      }
      return .success(response)
    })
  }

  @Test(
    "A day of one edit a minute: every completion arrives, and each edit costs the same",
    arguments: [3, 4, 6, 7, 23],
    Others.allCases
  )
  func day(code: Int, others: Others) throws {
    let isMended = Locked(false)
    let script = Self.script(
      SyncError.Code(rawValue: code),
      others: others,
      isMended: isMended
    )
    let bench = Bench(script: script)
    bench.start()
    let bad = try bench.modify([.note("bad", 1)])
    var mostOpen = 0
    for minute in 1...1_440 {
      try bench.modify([.note("r\(minute)", minute)])
      bench.world.advance(by: .seconds(60))
      mostOpen = max(mostOpen, bench.state.modify.open.count)
    }

    #expect(bench.completions.entries.count == 1_441)
    #expect(bench.completions.entries.first { $0.id == bad }?.response.unsaved == [Bench.id("bad")])
    #expect(bench.state.parkedRecords.map(\.error.code.rawValue) == [code])
    #expect(mostOpen <= 12)
    #expect(bench.handler.modifyCalls.count <= 1_440 + 250)
    #expect(bench.state.isHalted == false && bench.brokenInvariant == nil)
    isMended.withLock { $0 = true }
    bench.world.advance(by: .seconds(700))
    guard case .saved(let record)? = bench.parked.entries.last else {
      Issue.record("the record is not saved when the cloud takes it again")
      return
    }
    #expect(record.recordID == Bench.id("bad"))
    #expect(bench.state.parkedRecords.isEmpty)
  }

  @Test("Alone in its request it is charged only if another request was answered meanwhile")
  func alone() throws {
    let bench = Bench(script: Self.script(.zoneBusy))
    bench.start()
    try bench.modify([.note("bad", 1)])
    bench.world.advance(by: .seconds(7_200))
    #expect(bench.state.parkedRecords.isEmpty && bench.state.hasWorkQueued)

    for _ in 0..<12 {
      bench.session.fetch()
      bench.world.advance(by: .seconds(700))
    }
    #expect(bench.state.parkedRecords.map(\.error.code) == [.zoneBusy])
    #expect(bench.completions.entries.count == 1)
  }

  @Test(
    "A cloud that is away for every item of a request charges none",
    arguments: [3, 4, 6, 7, 23]
  )
  func allAway(code: Int) throws {
    let bench = Bench(script: Self.script(SyncError.Code(rawValue: code)))
    bench.start()
    try bench.modify([.note("bad1", 1), .note("bad2", 1)])
    bench.session.fetch()
    bench.world.advance(by: .seconds(86_400))
    #expect(bench.state.parkedRecords.isEmpty && bench.state.modifyQueue.count == 1)
  }

  @Test("It is tried again never before the time that the server asked for")
  func serversWait() throws {
    let bench = Bench(script: Self.script(.requestRateLimited, retryAfter: .seconds(3_000)))
    bench.start()
    try bench.modify([.note("bad", 1)])
    for number in 0..<40 {
      try bench.modify([.note("r\(number)", 1)])
      bench.world.advance(by: .seconds(4_000))
    }
    let times = bench.handler.modifyCalls.filter { $0.names.contains("bad") }.map(\.time)
    #expect(times.count >= 8)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0.distance(to: $1) >= 3_000_000_000_000 })
    #expect(bench.completions.entries.count == 41)
  }

  @Test("Many such records are tried again in full requests, and hold back nobody")
  func many() throws {
    let bench = Bench(script: Self.script(.zoneBusy))
    bench.start()
    for number in 0..<2_000 {
      try bench.modify([.note("bad\(number)", 1), .note("r\(number)", 1)])
    }
    bench.world.advance(by: .seconds(43_200))
    // Those that are left fill one request, and hold back nobody until others come.
    #expect(bench.state.parkedRecords.count > 1_600)
    for number in 0..<60 {
      try bench.modify([.note("early\(number)", 1)])
      bench.world.advance(by: .seconds(60))
    }
    let calls = bench.handler.modifyCalls.count
    for number in 0..<60 {
      try bench.modify([.note("late\(number)", 1)])
      bench.world.advance(by: .seconds(60))
    }
    let completed = bench.completions.entries.count
    #expect(completed == 2_120)
    // Six times an hour, in parts that their jitter makes.
    let made = bench.handler.modifyCalls.count - calls
    #expect(made <= 60 + 6 * 2_000)
    #expect(bench.brokenInvariant == nil)
  }

  @Test("A later edit of it takes a fresh budget, and `retryParked` too")
  func freshBudget() throws {
    let bench = Bench(script: Self.script(.zoneBusy))
    bench.start()
    try bench.modify([.note("bad", 1)])
    for number in 0..<20 {
      try bench.modify([.note("r\(number)", 1)])
      bench.world.advance(by: .seconds(60))
    }
    #expect(bench.state.parkedRecords.count == 1)
    let first = try bench.modify([.note("bad", 2), .note("s", 1)])
    bench.world.run()
    #expect(bench.state.parkedRecords.isEmpty)
    #expect(!bench.completions.entries.contains { $0.id == first })
    for number in 20..<40 {
      try bench.modify([.note("r\(number)", 1)])
      bench.world.advance(by: .seconds(60))
    }
    let ending = bench.completions.entries.first { $0.id == first }
    #expect(ending?.response.unsaved == [Bench.id("bad")])
    #expect(bench.state.parkedRecords.first?.edit?["x"] == 2)
  }

  @Test("A clock set back costs at most one more wait; a restart keeps the time")
  func clockAndRestart() async throws {
    let bench = Bench(script: Self.script(.zoneBusy))
    bench.start()
    try bench.modify([.note("bad", 1)])
    for number in 0..<10 {
      try bench.modify([.note("r\(number)", 1)])
      bench.world.advance(by: .seconds(60))
    }
    #expect(bench.state.parked.nextProbe != nil)
    bench.world.jumpClock(by: .seconds(-86_400))
    let calls = bench.handler.modifyCalls.count
    bench.world.advance(by: .seconds(1_300))
    #expect(bench.handler.modifyCalls.count > calls)

    let bytes = Locked<SyncArchive?>(nil)
    bench.session.snapshot { data in bytes.withLock { $0 = try? SyncArchive(data) } }
    bench.world.run()
    let archive = try #require(bytes.withLock { $0 })
    let next = Bench(restoring: archive, script: ScriptedHandler.Script())
    next.start()
    next.world.advance(by: .seconds(700))
    #expect(next.state.parkedRecords.isEmpty)
    guard case .saved? = next.parked.entries.last else {
      Issue.record("the record is not tried again after a restart")
      return
    }
  }

  @Test("A record refused because of another is tried again when that one is saved, and no sooner")
  func dependents() throws {
    let isMended = Locked(false)
    let bench = Bench(
      script: ScriptedHandler.Script(modify: { operation, _ in
        var response = ScriptedHandler.allSaved(operation)
        let parentIsSaved = isMended.withLock { $0 }
        for record in operation.records {
          let code: SyncError.Code? =
            switch record.recordID.name {
            case "parent", "other": parentIsSaved ? nil : .invalidArguments
            case "child": parentIsSaved ? nil : .referenceViolation
            default: nil
            }
          guard let code else { continue }
          response.savedRecords.removeAll { $0.recordID == record.recordID }
          response.failures.append(ItemFailure(record.recordID, SyncError(code)))
        }
        return .success(response)
      })
    )
    bench.start()
    let link = FieldValue.reference(Reference(recordID: Bench.id("parent")))
    try bench.modify([.note("parent", 1), .note("other", 1), Bench.record("child", ["p": link])])
    bench.world.run()
    #expect(bench.state.parkedRecords.count == 3)
    isMended.withLock { $0 = true }

    bench.session.retryParked([Bench.id("other")])
    bench.world.run()
    #expect(bench.state.parkedRecords.map(\.recordID.name) == ["parent", "child"])
    bench.session.retryParked([Bench.id("parent")])
    bench.world.run()
    #expect(bench.state.parkedRecords.isEmpty)
    #expect(bench.parked.entries.map(\.recordID.name) == ["other", "parent", "child"])
  }
}
