import CloudSyncCore
import CloudSyncTestSupport
import Testing

/// The twelve invariants of section F of the audit.
@Suite("Invariants under random faults")
struct InvariantTests {
  static let seeds = Array(UInt64(0)..<UInt64(SuiteSize.count(4, long: 32)))

  @Test(
    "Edits of one record are applied in submission order, whatever fails",
    arguments: seeds
  )
  func order(seed: UInt64) throws {
    var storm = StressTest(seed: seed)
    for _ in 0..<25 { try storm.submit(deleting: false) }
    storm.settle()

    for name in ["a", "b", "c", "d", "e"] {
      let stored = storm.bench.values(of: name).compactMap { $0?.number }
      #expect(stored == stored.sorted(), "record \(name)")
      let last = storm.edits.last { $0.name == name }?.value
      #expect(storm.bench.cloud[name]?["x"]?.number == last, "record \(name)")
    }
    #expect(storm.bench.wrongs == [])
  }

  @Test(
    "A completion says that everything before it is saved but what it names",
    arguments: seeds
  )
  func checkpoints(seed: UInt64) throws {
    var storm = StressTest(seed: seed)
    let cloud = storm.bench.cloud
    let seen = Collector<(id: OperationID, values: [String: Int], unsaved: [RecordID])>()
    storm.bench.session.modifyWorkCompletedSubject.sink { operation, response in
      let values = cloud.records.map { ($0.recordID.name, $0["x"]?.number ?? 0) }
      let unsaved = response.unsaved
      seen.add((operation.id, Dictionary(uniqueKeysWithValues: values), unsaved))
    }
    for _ in 0..<25 { try storm.submit(deleting: false) }
    storm.settle()

    #expect(seen.entries.map(\.id) == storm.submitted)
    var excused: Set<String> = []
    for entry in seen.entries {
      excused.formUnion(entry.unsaved.map(\.name))
      for edit in storm.edits where edit.id <= entry.id && !excused.contains(edit.name) {
        #expect(entry.values[edit.name] ?? 0 >= edit.value ?? 0, "\(edit)")
      }
    }
  }

  @Test("Every submission has exactly one result", arguments: seeds)
  func results(seed: UInt64) throws {
    var storm = StressTest(seed: seed)
    let results = Collector<OperationID>()
    let session = storm.bench.session
    var fetches: [OperationID] = []
    session.fetchWorkCompletedSubject.sink { operation, page in
      if page.isLast { results.add(operation.id) }
    }
    session.modifyWorkCompletedSubject.sink { operation, _ in results.add(operation.id) }
    session.workFailedSubject.sink { work, _ in
      switch work {
      case .modify(let operation): results.add(operation.id)
      case .fetch(let operation): results.add(operation.id)
      default: break
      }
    }
    for step in 0..<25 {
      try storm.submit()
      if storm.below(3) == 0 { fetches.append(session.fetch()) }
      if storm.below(5) == 0 { session.cancel(storm.submitted[storm.below(step + 1)]) }
      if storm.below(10) == 0 { session.stop() }
      if storm.below(5) == 0 { session.start() }
      if step == 12 {
        session.reset()
        session.start()
      }
    }
    storm.settle()

    #expect(results.entries.sorted() == (storm.submitted + fetches).sorted())
    #expect(storm.bench.wrongs == [])
  }

  @Test(
    "No edit is stored twice unless its first response was lost",
    arguments: seeds
  )
  func onlyOnce(seed: UInt64) throws {
    let faults: [StubCloud.Fault] = [
      .failure(.networkFailure), .failure(.requestRateLimited, retryAfter: .seconds(7)),
      .duplicate(again: .milliseconds(10)), .duplicate(again: .seconds(2)), .delay(.seconds(3)),
      .delay(.seconds(200)), .failure(.limitExceeded),
    ]
    var storm = StressTest(seed: seed, faults: faults)
    for _ in 0..<25 {
      try storm.submit(deleting: false)
      if storm.below(4) == 0 { storm.bench.session.stop() }
      if storm.below(2) == 0 { storm.bench.session.start() }
    }
    storm.settle()

    let stored = storm.bench.cloud.changes.compactMap { $0.edit?["x"]?.number }
    #expect(Set(stored).count == stored.count)
    #expect(storm.bench.wrongs == [])
  }

  @Test(
    "A request whose response was lost is the next one again, with the same token",
    arguments: seeds
  )
  func unchangedRepeats(seed: UInt64) throws {
    let faults: [StubCloud.Fault] = [
      .lostBefore, .lostAfter, .never, .neverAfter, .failure(.networkFailure),
      .duplicate(again: .milliseconds(10)),
    ]
    var storm = StressTest(seed: seed, faults: faults)
    for _ in 0..<25 { try storm.submit() }
    storm.settle()

    let calls = storm.bench.cloud.calls.filter(\.operation.isModify)
    for (lost, next) in zip(calls, calls.dropFirst()) where lost.wasLost {
      #expect(next.context.writeToken == lost.context.writeToken)
      #expect(next.operation.items == lost.operation.items)
    }
    #expect(storm.bench.wrongs == [])
  }

  @Test(
    "What is lost is stored once by a cloud that knows write tokens",
    arguments: seeds
  )
  func onlyOnceWithTokens(seed: UInt64) throws {
    var storm = StressTest(seed: seed) { $0.knowsWriteTokens = true }
    for _ in 0..<25 { try storm.submit(deleting: false) }
    storm.settle()

    let stored = storm.bench.cloud.changes.compactMap { $0.edit?["x"]?.number }
    #expect(Set(stored).count == stored.count)
  }

  /// Answers every request of a kind in one way, for ever.
  static let everything: [(name: String, options: @Sendable (inout StubCloud.Options) -> Void)] = [
    ("conflict", { $0.refuse = { id, _ in Self.conflict(id) } }),
    ("conflict without record", { $0.refuse = { _, _ in SyncError(.serverRecordChanged) } }),
    ("split", { $0.itemLimit = 0 }),
    ("item too large", { $0.refuse = { _, _ in SyncError(.limitExceeded) } }),
    ("refused", { $0.refuse = { _, _ in SyncError(.invalidArguments) } }),
    ("zone in items", { $0.refuse = { _, _ in SyncError(.zoneNotFound) } }),
    ("passing", { $0.refuse = { _, _ in SyncError(.assetFileModified) } }),
    ("batch failed", { $0.refuse = { _, _ in SyncError(.batchRequestFailed) } }),
    ("missing", { $0.refuse = { _, _ in SyncError(.unknownItem) } }),
    ("reference", { $0.refuse = { _, _ in SyncError(.referenceViolation) } }),
  ]

  static func conflict(_ id: RecordID) -> SyncError {
    SyncError(
      .serverRecordChanged,
      serverRecord: SessionHarness.record(id.name, ["y": 1], tag: "never")
    )
  }

  @Test("Every loop has a budget", arguments: everything.indices)
  func budgets(index: Int) throws {
    var options = StubCloud.Options()
    Self.everything[index].options(&options)
    let bench = CloudHarness(options: options)
    bench.start()
    for number in 0..<10 {
      try bench.modify([.note("r\(number)", 1)], delete: ["gone\(number)"])
    }
    #expect(bench.world.runToEnd(limit: .seconds(86_400)), "\(Self.everything[index].name)")

    #expect(bench.cloud.calls.count < 150, "\(Self.everything[index].name)")
    let isKept = bench.state.isHalted && bench.state.modifyQueue.count == 10
    let isAnswered = bench.completions.entries.count == 10
    #expect(isKept || isAnswered, "\(Self.everything[index].name)")
    #expect(bench.wrongs == [])
  }

  @Test("A missing zone is repaired with any queue, at any time", arguments: seeds)
  func zoneLoss(seed: UInt64) throws {
    var storm = StressTest(seed: seed, faults: [.lostAfter, .delay(.seconds(2))])
    for step in 0..<30 {
      try storm.submit(deleting: false)
      if step % 7 == 3 { storm.bench.cloud.loseZone() }
      if storm.below(5) == 0 { storm.bench.session.fetch() }
    }
    let last = storm.bench.cloud.changes.count
    storm.bench.cloud.loseZone()
    for name in ["a", "b", "c", "d", "e"] { try storm.bench.modify([.note(name, 1_000)]) }
    storm.settle()

    #expect(storm.bench.cloud.hasZone)
    #expect(storm.bench.cloud.changes.count >= last + 5)
    for name in ["a", "b", "c", "d", "e"] {
      #expect(storm.bench.cloud[name]?["x"] == 1_000)
    }
    #expect(storm.bench.state.isHalted == false)
    #expect(storm.bench.wrongs == [])
  }
}

extension FieldValue {
  /// The number in a field of the audits.
  var number: Int? {
    if case .int64(let value) = self { Int(value) } else { nil }
  }
}
