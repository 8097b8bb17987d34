import CloudSyncCore
import CloudSyncTestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension InvariantTests {
  @Test("Bad records never block the others", arguments: seeds)
  func badRecords(seed: UInt64) throws {
    let codes: [SyncError.Code] = [
      .invalidArguments, .limitExceeded, .referenceViolation, .permissionFailure, .unknown(77),
      .assetFileNotFound, .serverRejectedRequest, .internalError, .constraintViolation,
    ]
    let code = codes[Int(seed) % codes.count]
    var storm = StressTest(seed: seed, faults: [.lostAfter]) { options in
      options.refuse = { id, edit in
        edit != nil && (id.name == "b" || id.name == "d") ? SyncError(code) : nil
      }
    }
    for _ in 0..<25 { try storm.submit(deleting: false) }
    storm.bench.world.runToEnd()

    #expect(storm.bench.state.isHalted == false)
    #expect(storm.bench.completions.entries.map(\.id) == storm.submitted)
    let bad = ["b", "d"].filter { name in storm.edits.contains { $0.name == name } }
    #expect(storm.bench.state.parkedRecords.map(\.recordID.name).sorted() == bad)
    for name in ["a", "c", "e"] {
      let last = storm.edits.last { $0.name == name }?.value
      #expect(storm.bench.cloud[name]?["x"]?.number == last, "record \(name)")
    }
    storm.bench.cloud.change { $0.refuse = { _, _ in nil } }
    storm.settle()
    for name in ["b", "d"] {
      let last = storm.edits.last { $0.name == name }?.value
      #expect(storm.bench.cloud[name]?["x"]?.number == last, "record \(name)")
    }
  }

  @Test("A server's wait is obeyed by all triggers, and survives stop and restore")
  func serverWait() async throws {
    let bench = CloudHarness { number, _ in
      number == 2 ? .failure(.requestRateLimited, retryAfter: .seconds(60)) : nil
    }
    bench.start()
    try bench.modify([.note("r", 1)])
    bench.world.run()
    let pull: (CloudSyncSession) throws -> Void = { session in
      session.stop()
      session.start()
      session.connectivityChanged()
      session.accountDidChange()
      session.retryParked()
      session.fetch()
      try session.modify(ModifyOperation(records: [.note("s", 1)]))
    }
    try pull(bench.session)
    bench.world.advance(by: .seconds(30))
    try pull(bench.session)
    #expect(bench.cloud.calls.count == 3)

    let stored = Collector<SyncArchive>()
    bench.session.snapshot { data in
      if let archive = try? SyncArchive(data) { stored.add(archive) }
    }
    bench.session.stop()
    bench.world.run()
    let archive = try #require(stored.entries.first)
    let restored = CloudSyncSession(
      restoring: archive,
      operationHandler: bench.cloud,
      environment: bench.world.environment
    )
    restored.start()
    try pull(restored)
    bench.world.advance(by: .seconds(29))
    #expect(bench.cloud.calls.count == 3)
    bench.world.runToEnd()
    #expect(bench.cloud["r"]?["x"] == 1 && bench.cloud["s"]?["x"] == 1)
    #expect(
      bench.cloud.calls[2].time.map { $0.adding(.seconds(60)) } ?? .distantPast
        <= bench.cloud.calls[3].time ?? .distantPast
    )
  }

  @Test("With the gate open neither kind has two turns in a row", arguments: seeds)
  func turns(seed: UInt64) throws {
    var storm = StressTest(seed: seed, faults: [])
    let bench = storm.bench
    for index in 0..<40 { bench.cloud.save(.note("f\(index)", 0)) }
    bench.cloud.change { $0.pageSize = 1 }
    bench.session.fetch()
    for index in 0..<40 { try bench.modify((0..<4).map { .note("m\(index).\($0)", 1) }) }
    storm.pause()
    bench.world.runToEnd()

    let modes = bench.cloud.calls.dropFirst(2).map(\.operation.mode)
    let shared = modes.prefix(2 * min(modes.count { $0 == .modify }, modes.count { $0 == .fetch }))
    for (first, second) in zip(shared, shared.dropFirst()) { #expect(first != second) }
    #expect(modes.count { $0 == .modify } == 40)
    #expect(modes.count { $0 == .fetch } >= 40)
  }

  @Test("Resets and accounts leak no old work", arguments: seeds)
  func epochs(seed: UInt64) throws {
    var storm = StressTest(seed: seed)
    let bench = storm.bench
    var epochStarts: [Int] = []
    for epoch in 0..<6 {
      epochStarts.append(bench.cloud.calls.count)
      for step in 0..<6 {
        try bench.modify([.note("epoch\(epoch)", step), .note("other\(epoch)", step)])
        storm.pause()
      }
      if epoch < 5 {
        bench.session.reset()
        bench.world.run()
        bench.session.start()
      }
    }
    storm.settle()

    for (number, call) in bench.cloud.calls.enumerated() {
      guard case .modify(let operation) = call.operation else { continue }
      let epoch = (epochStarts.lastIndex { $0 <= number }) ?? 0
      for record in operation.records {
        #expect(record.recordID.name.hasSuffix("\(epoch)"), "call \(number)")
      }
    }
    #expect(bench.failures.entries.allSatisfy { $0.error.code == .reset })
    #expect(bench.completions.entries.count + bench.failures.entries.count == 36)
    #expect(bench.wrongs == [])
  }

  @Test(
    "The same inputs give the same bytes, and their fold the same state",
    arguments: seeds
  )
  func determinism(seed: UInt64) throws {
    let run: () throws -> (Data, SyncState) = {
      var storm = StressTest(seed: seed)
      let bytes = Locked(Data())
      storm.bench.session.journal { part in bytes.withLock { $0.append(part) } }
      for _ in 0..<15 {
        try storm.submit()
        if storm.below(3) == 0 { storm.bench.session.fetch() }
        if storm.below(8) == 0 { storm.bench.session.reset() }
        if storm.below(3) == 0 { storm.bench.session.start() }
      }
      storm.settle()
      return (bytes.withLock { $0 }, storm.bench.state)
    }
    let (first, second) = (try run(), try run())

    #expect(first.0 == second.0)
    #expect(try SyncArchive(first.0).state == first.1)
  }

  @Test("The cost of an event does not grow with the queue")
  func costOfEvents() {
    // A quadratic reducer needs so long for this that nobody waits for it. A request has 400 records.
    let count = SuiteSize.count(20_000, long: 50_000)
    var state = SyncState(zoneID: SessionHarness.zoneID)
    let now = Timestamp(nanoseconds: 0)
    var kept = state
    state.reduce(.start, at: now)
    for number in 1...count {
      let operation = ModifyOperation(records: [.note("r", number)])
        .submitted(
          as: OperationID(epoch: 1, number: UInt64(number)),
          records: [.note("r\(number)", number)],
          byteCount: 10
        )
      state.reduce(.doWork(.modify(operation)), at: now)
      kept = state
    }
    #expect(kept.modifyQueue.count == count)
    var requests = 0
    while case .request(let request) = state.next(at: now) {
      state.reduce(.startWork(request), at: now)
      guard let flight = state.flight, case .modify(let operation) = state.currentWork else {
        break
      }
      let response = ScriptedHandler.allSaved(operation)
      state.reduce(.workSuccess(flight.attempt, .modify(response)), at: now)
      state.reduce(.delivered(upTo: state.notifications.end), at: now)
      kept = state
      requests += 1
    }

    #expect(requests == count / 400)
    #expect(kept.hasWorkQueued == false)
  }
}
