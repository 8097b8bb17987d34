import CloudSyncCore
import CloudSyncSimulator
import CloudSyncTestSupport
import CloudSyncVirtualTime
import Testing

/// A cloud that has saved an edit, and an answer that does not say so.
@Suite("An edit of which nobody says whether the cloud has it")
struct OpenOutcomeTests {
  /// How the save is answered.
  enum Answer: CaseIterable, Sendable {
    /// For its record, alone in the request or beside another.
    case itemLost, itemLostBeside, itemLostInPartialFailure, itemFailed, nothing, nothingBeside
    /// As a whole.
    case lost, networkFailure, cancelled
    /// As a whole; and the repeat, with which nothing is done, for the record.
    case lostThenFailed, lostThenParked, timedOutThenFailed
  }

  /// A cloud of one record kept by hand, which saves an edit if its change tag fits.
  private final class Cloud: Sendable {
    let records = Locked<[RecordID: Record]>([:])
    let id = SessionHarness.id("a")

    var record: Record? { records.withLock { $0[id] } }

    /// Whether nothing was to be said against it.
    func save(_ edit: Record, tag: Int) -> Result<Record, SyncError> {
      records.withLock {
        let old = $0[edit.recordID]
        guard old?.changeTag == edit.changeTag else {
          return .failure(SyncError(.serverRecordChanged, serverRecord: old))
        }
        let saved = edit.merged(into: old).withChangeTag("t\(tag)")
        $0[edit.recordID] = saved
        return .success(saved)
      }
    }
  }

  private static func bench(
    _ cloud: Cloud,
    answering answer: Answer?,
    at request: Int
  ) -> SessionHarness {
    let bench = SessionHarness(
      resolver: .fieldwise(["n": .counterSum], default: .client)
    )
    bench.handler.change { script in
      script.modify = { operation, number in
        if let early = Self.repeatAnswer(answer, number - request - 1) {
          return .success(.init(failures: [ItemFailure(cloud.id, SyncError(early))]))
        }
        var response = ModifyOperation.Response()
        for edit in operation.records {
          switch cloud.save(edit, tag: number) {
          case .success(let saved): response.savedRecords.append(saved)
          case .failure(let error): response.failures.append(ItemFailure(edit.recordID, error))
          }
        }
        guard number == request, let answer else { return .success(response) }
        return Self.hide(answer, of: cloud.id, in: response)
      }
    }
    bench.start()
    return bench
  }

  /// What the repeat of a lost request is answered with; nil if the cloud does it.
  private static func repeatAnswer(_ answer: Answer?, _ place: Int) -> SyncError.Code? {
    guard place == 0 else { return nil }
    return switch answer {
    case .lostThenFailed, .timedOutThenFailed: .networkFailure
    case .lostThenParked: .constraintViolation
    default: nil
    }
  }

  private static func hide(
    _ answer: Answer,
    of id: RecordID,
    in response: ModifyOperation.Response
  ) -> ScriptedHandler.Reply<ModifyOperation.Response> {
    var hidden = response
    hidden.savedRecords.removeAll { $0.recordID == id }
    switch answer {
    case .itemLost, .itemLostBeside:
      hidden.failures.append(ItemFailure(id, SyncError(.serverResponseLost)))
      return .success(hidden)
    case .itemLostInPartialFailure:
      let failure = ItemFailure(id, SyncError(.serverResponseLost))
      return .failure(SyncError(.partialFailure, itemErrors: [failure]))
    case .itemFailed:
      hidden.savedRecords = response.savedRecords
      hidden.failures.append(ItemFailure(id, SyncError(.networkFailure)))
      return .success(hidden)
    case .nothing, .nothingBeside: return .success(hidden)
    case .lost, .lostThenFailed, .lostThenParked: return .failure(SyncError(.serverResponseLost))
    case .timedOutThenFailed: return .never
    case .networkFailure: return .failure(SyncError(.networkFailure))
    case .cancelled: return .failure(SyncError(.operationCancelled))
    }
  }

  @Test("An edit that is taken back is not left in the cloud", arguments: Answer.allCases)
  func takenBack(_ answer: Answer) throws {
    for (first, hasAncestor) in [(FieldValue?.some(5), true), (nil, true), (.some(5), false)] {
      let cloud = Cloud()
      let bench = Self.bench(cloud, answering: answer, at: first == nil ? 0 : 1)
      var shown = SessionHarness.record("a", [:])
      if let first {
        shown["z"] = first
        try bench.session.modify(ModifyOperation(records: [shown]))
        bench.world.run()
        shown = try #require(cloud.record)
      }
      var edited = shown
      edited["z"] = 23
      let isBeside = answer == .itemLostBeside || answer == .nothingBeside
      try bench.session.modify(
        ModifyOperation(
          records: [edited] + (isBeside ? [.note("other", 1)] : []),
          ancestors: first == nil || !hasAncestor ? [] : [shown]
        )
      )
      bench.world.run()
      let requests = bench.handler.modifyCalls.count
      if Self.repeatAnswer(answer, 0) != nil {
        // The edit is taken back when the repeat has been answered.
        var left = 4_000
        while left > 0, bench.handler.modifyCalls.count == requests {
          bench.world.advance(by: .milliseconds(100))
          left -= 1
        }
      }
      var back = edited
      back["z"] = first
      try bench.session.modify(
        ModifyOperation(records: [back], ancestors: hasAncestor ? [edited] : [])
      )
      bench.world.advance(by: .seconds(4_000))
      #expect(bench.completions.entries.last?.response.failures.isEmpty == true)
      #expect(cloud.record?["z"] == first, "first \(String(describing: first)), \(hasAncestor)")
    }
  }

  @Test(
    "One addition is made once",
    arguments: [.itemLost, .itemLostInPartialFailure, .lost] as [Answer]
  )
  func addition(_ answer: Answer) throws {
    let cloud = Cloud()
    cloud.records.withLock { $0[cloud.id] = SessionHarness.record("a", ["n": 1], tag: "t") }
    let bench = Self.bench(cloud, answering: answer, at: 0)
    let shown = try #require(cloud.record)
    var edited = shown
    edited["n"] = 2
    try bench.session.modify(ModifyOperation(records: [edited], ancestors: [shown]))
    bench.world.advance(by: .seconds(4_000))
    #expect(bench.state.isIdle)
    #expect(cloud.record?["n"] == 2)
  }

  @Test("A second addition goes on from the first, whose answer was lost and which was parked then")
  func secondAddition() throws {
    let cloud = Cloud()
    cloud.records.withLock { $0[cloud.id] = SessionHarness.record("a", ["n": 1], tag: "t") }
    let bench = Self.bench(cloud, answering: .lostThenParked, at: 0)
    let shown = try #require(cloud.record)
    var once = shown
    once["n"] = 2
    try bench.session.modify(ModifyOperation(records: [once], ancestors: [shown]))
    bench.world.advance(by: .seconds(4_000))
    #expect(bench.state.parkedRecords.count == 1)
    var twice = once
    twice["n"] = 3
    try bench.session.modify(ModifyOperation(records: [twice], ancestors: [once]))
    bench.world.advance(by: .seconds(4_000))
    #expect(bench.state.isIdle && bench.state.parkedRecords.isEmpty)
    #expect(cloud.record?["n"] == 3)
  }

  @Test("A repeat that was cancelled goes on with its write token")
  func cancelledRepeat() throws {
    let number = Locked(0)
    let bench = CloudHarness(resolver: .fieldwise(["n": .counterSum], default: .client)) {
      _,
      work in
      guard work.isModify else { return nil }
      switch number.withLock({
        $0 += 1
        return $0
      }) {
      case 2: return .lostAfter
      case 3: return .failure(SyncError(.operationCancelled))
      default: return nil
      }
    }
    bench.start()
    try bench.session.modify(ModifyOperation(records: [SessionHarness.record("a", ["n": 0])]))
    bench.world.run()
    let shown = try #require(bench.cloud["a"])
    var mine = shown
    mine["n"] = 1
    try bench.session.modify(ModifyOperation(records: [mine], ancestors: [shown]))
    bench.world.run()
    var other = try #require(bench.cloud["a"])
    other["n"] = 11
    bench.cloud.save(other)
    bench.world.advance(by: .seconds(4_000))
    #expect(bench.state.isIdle)
    #expect(bench.cloud["a"]?["n"] == 11)
  }
}
