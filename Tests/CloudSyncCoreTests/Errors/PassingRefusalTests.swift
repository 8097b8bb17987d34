import CloudSyncCore
import CloudSyncTestSupport
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
    arguments: SuiteSize.pairs(2, [3, 4, 6, 7, 23], Others.allCases)
  )
  func day(code: Int, others: Others) throws {
    let isMended = Locked(false)
    let script = Self.script(
      SyncError.Code(rawValue: code),
      others: others,
      isMended: isMended
    )
    let harness = SessionHarness(script: script)
    harness.start()
    let bad = try harness.modify([.note("bad", 1)])
    var mostOpen = 0
    // One whole day is enough; what comes of it is seen after some hours.
    let minutes = others == .saved && code == 6 ? SuiteSize.count(480, long: 1_440) : 240
    for minute in 1...minutes {
      try harness.modify([.note("r\(minute)", minute)])
      harness.world.advance(by: .seconds(60))
      mostOpen = max(mostOpen, harness.state.modify.open.count)
    }

    #expect(harness.completions.entries.count == minutes + 1)
    #expect(
      harness.completions.entries.first { $0.id == bad }?.response.unsaved == [
        SessionHarness.id("bad")
      ]
    )
    #expect(harness.state.parkedRecords.map(\.error.code.rawValue) == [code])
    #expect(mostOpen <= 12)
    #expect(harness.handler.modifyCalls.count <= minutes + 250)
    #expect(harness.state.isHalted == false && harness.brokenInvariant == nil)
    isMended.withLock { $0 = true }
    harness.world.advance(by: .seconds(700))
    guard case .saved(let record)? = harness.parked.entries.last else {
      Issue.record("the record is not saved when the cloud takes it again")
      return
    }
    #expect(record.recordID == SessionHarness.id("bad"))
    #expect(harness.state.parkedRecords.isEmpty)
  }

  @Test(
    "One item's word that nobody is signed in counts for that item, where others are saved beside it",
    arguments: [9, 36]
  )
  func contradicted(code: Int) throws {
    let harness = SessionHarness(script: Self.script(SyncError.Code(rawValue: code)))
    harness.start()
    try harness.modify([.note("bad", 1), .note("r0", 0)])
    for minute in 1...60 {
      try harness.modify([.note("r\(minute)", minute)])
      // Together, so that the record is never alone.
      try harness.modify([.note("s\(minute)", minute)])
      harness.world.advance(by: .seconds(60))
    }
    #expect(harness.completions.entries.count >= 100)
    #expect(harness.state.hasGoodAccountStatus != false && harness.state.isHalted == false)
    #expect(harness.brokenInvariant == nil)
  }

  @Test("Alone in its request it is charged only if another request was answered meanwhile")
  func alone() throws {
    let harness = SessionHarness(script: Self.script(.zoneBusy))
    harness.start()
    try harness.modify([.note("bad", 1)])
    harness.world.advance(by: .seconds(7_200))
    #expect(harness.state.parkedRecords.isEmpty && harness.state.hasWorkQueued)

    for _ in 0..<12 {
      harness.session.fetch()
      harness.world.advance(by: .seconds(700))
    }
    #expect(harness.state.parkedRecords.map(\.error.code) == [.zoneBusy])
    #expect(harness.completions.entries.count == 1)
  }

  @Test(
    "A cloud that is away for every item of a request charges none",
    arguments: SuiteSize.some(2, of: [3, 4, 6, 7, 23])
  )
  func allAway(code: Int) throws {
    let harness = SessionHarness(script: Self.script(SyncError.Code(rawValue: code)))
    harness.start()
    try harness.modify([.note("bad1", 1), .note("bad2", 1)])
    harness.session.fetch()
    harness.world.advance(by: .seconds(86_400))
    #expect(harness.state.parkedRecords.isEmpty && harness.state.modifyQueue.count == 1)
  }

  @Test("Where a request takes one item, others have their turn, and nobody fetches")
  func oneItem() throws {
    let harness = SessionHarness(
      limits: RequestLimits(items: 1),
      script: Self.script(.zoneBusy)
    )
    harness.start()
    for number in 1...3 { try harness.modify([.note("bad\(number)", number)]) }
    for number in 1...5 { try harness.modify([.note("r\(number)", number)]) }
    harness.world.advance(by: .seconds(3_600))
    #expect(harness.completions.entries.count == 8)
    #expect(
      harness.completions.entries.map(\.response.savedRecords.count) == [0, 0, 0, 1, 1, 1, 1, 1]
    )
    #expect(harness.state.parkedRecords.count == 3 && harness.brokenInvariant == nil)
  }

  @Test("A save that waits for a refused deletion of its record holds back nobody")
  func blockedByDeletion() throws {
    let harness = SessionHarness(
      script: ScriptedHandler.Script(modify: { operation, _ in
        guard operation.recordIDsToDelete.isEmpty else {
          return .items(operation.recordIDsToDelete.map { ($0.name, .zoneBusy) })
        }
        return .success(ScriptedHandler.allSaved(operation))
      })
    )
    harness.start()
    try harness.modify(delete: ["a"])
    try harness.modify([.note("a", 1)])
    try harness.modify([.note("b", 1)])
    harness.world.advance(by: .seconds(3_600))
    #expect(harness.completions.entries.count == 3)
    #expect(harness.brokenInvariant == nil)
  }

  @Test("It is tried again never before the time that the server asked for")
  func serversWait() throws {
    let harness = SessionHarness(
      script: Self.script(.requestRateLimited, retryAfter: .seconds(3_000))
    )
    harness.start()
    try harness.modify([.note("bad", 1)])
    for number in 0..<40 {
      try harness.modify([.note("r\(number)", 1)])
      harness.world.advance(by: .seconds(4_000))
    }
    let times = harness.handler.modifyCalls.filter { $0.names.contains("bad") }.map(\.time)
    #expect(times.count >= 8)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0.distance(to: $1) >= 3_000_000_000_000 })
    #expect(harness.completions.entries.count == 41)
  }

  @Test("Many such records are tried again at their rate, and hold back nobody")
  func many() throws {
    let harness = SessionHarness(limits: RequestLimits(items: 20), script: Self.script(.zoneBusy))
    harness.start()
    for number in 0..<30 {
      try harness.modify([.note("bad\(number)", 1), .note("r\(number)", 1)])
    }
    harness.world.advance(by: .seconds(14_400))
    #expect(harness.state.parkedRecords.count == 30)
    for number in 0..<30 {
      try harness.modify([.note("early\(number)", 1)])
      harness.world.advance(by: .seconds(60))
    }
    let calls = harness.handler.modifyCalls.count
    for number in 0..<30 {
      try harness.modify([.note("late\(number)", 1)])
      harness.world.advance(by: .seconds(60))
    }
    let completed = harness.completions.entries.count
    #expect(completed == 90)
    // With its jitter a wait of ten minutes lasts at least five: six attempts in half an hour at most.
    let made = harness.handler.modifyCalls.count - calls
    #expect(made <= 30 + 6 * 30)
    #expect(harness.brokenInvariant == nil)
  }

  @Test("A later edit of it takes a fresh budget, and `retryParked` too")
  func freshBudget() throws {
    let harness = SessionHarness(script: Self.script(.zoneBusy))
    harness.start()
    try harness.modify([.note("bad", 1)])
    for number in 0..<20 {
      try harness.modify([.note("r\(number)", 1)])
      harness.world.advance(by: .seconds(60))
    }
    #expect(harness.state.parkedRecords.count == 1)
    let first = try harness.modify([.note("bad", 2), .note("s", 1)])
    harness.world.run()
    #expect(harness.state.parkedRecords.isEmpty)
    #expect(!harness.completions.entries.contains { $0.id == first })
    for number in 20..<40 {
      try harness.modify([.note("r\(number)", 1)])
      harness.world.advance(by: .seconds(60))
    }
    let ending = harness.completions.entries.first { $0.id == first }
    #expect(ending?.response.unsaved == [SessionHarness.id("bad")])
    #expect(harness.state.parkedRecords.first?.edit?["x"] == 2)
  }

  @Test("A clock set back costs at most one more wait; a restart keeps the time")
  func clockAndRestart() async throws {
    let harness = SessionHarness(script: Self.script(.zoneBusy))
    harness.start()
    try harness.modify([.note("bad", 1)])
    for number in 0..<10 {
      try harness.modify([.note("r\(number)", 1)])
      harness.world.advance(by: .seconds(60))
    }
    #expect(harness.state.parked.nextProbe != nil)
    harness.world.jumpClock(by: .seconds(-86_400))
    let calls = harness.handler.modifyCalls.count
    harness.world.advance(by: .seconds(1_300))
    #expect(harness.handler.modifyCalls.count > calls)

    let bytes = Locked<SyncArchive?>(nil)
    harness.session.snapshot { data in bytes.withLock { $0 = try? SyncArchive(data) } }
    harness.world.run()
    let archive = try #require(bytes.withLock { $0 })
    let next = SessionHarness(restoring: archive, script: ScriptedHandler.Script())
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
    let harness = SessionHarness(
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
    harness.start()
    let link = FieldValue.reference(Reference(recordID: SessionHarness.id("parent")))
    try harness.modify([
      .note("parent", 1), .note("other", 1), SessionHarness.record("child", ["p": link]),
    ])
    harness.world.run()
    #expect(harness.state.parkedRecords.count == 3)
    isMended.withLock { $0 = true }

    harness.session.retryParked([SessionHarness.id("other")])
    harness.world.run()
    #expect(harness.state.parkedRecords.map(\.recordID.name) == ["parent", "child"])
    harness.session.retryParked([SessionHarness.id("parent")])
    harness.world.run()
    #expect(harness.state.parkedRecords.isEmpty)
    #expect(harness.parked.entries.map(\.recordID.name) == ["other", "parent", "child"])
  }
}
