import CloudSyncCore
import CloudSyncTestSupport
import Testing

/// Modifications whose response is lost, again and again.
@Suite("A modification whose response is always lost")
struct LostResponseTests {
  /// Loses the response of every modification that holds one of these records.
  static func losing(_ names: Set<String>) -> ScriptedHandler.Script {
    ScriptedHandler.Script(modify: { operation, _ in
      let all = operation.records.map(\.recordID.name) + operation.recordIDsToDelete.map(\.name)
      if all.contains(where: names.contains) { return .failure(.serverResponseLost) }
      return .success(ScriptedHandler.allSaved(operation))
    })
  }

  /// Never answers a modification that saves this record.
  static func silent(on name: String) -> ScriptedHandler.Script {
    ScriptedHandler.Script(modify: { operation, _ in
      operation.records.contains { $0.recordID.name == name }
        ? .never : .success(ScriptedHandler.allSaved(operation))
    })
  }

  @Test("Fetches take their turn between the attempts")
  func fetches() throws {
    let harness = SessionHarness(script: Self.losing(["a"]))
    harness.start()
    try harness.modify([.note("a", 1)])
    harness.world.advance(by: .seconds(10))
    for _ in 0..<3 {
      harness.session.fetch()
      harness.world.advance(by: .seconds(700))
    }
    #expect(harness.pages.entries.count == 3)
    #expect(harness.brokenInvariant == nil)
  }

  @Test("Only answers that are lost while others come are counted")
  func networkAway() throws {
    let harness = SessionHarness(script: Self.losing(["a"]))
    harness.start()
    try harness.modify([.note("a", 1), .note("b", 1)])
    harness.world.advance(by: .seconds(86_400))
    let calls = harness.handler.modifyCalls
    #expect(calls.count > 20)
    #expect(Set(calls.map(\.token)).count == 1 && Set(calls.map(\.names)).count == 1)
    #expect(harness.state.parkedRecords.isEmpty)
  }

  @Test(
    "Out of the budget it is halved until the record that is never answered is alone and parked"
  )
  func halves() throws {
    let harness = SessionHarness(script: Self.losing(["r5"]))
    harness.start()
    try harness.modify((0..<8).map { .note("r\($0)", 1) })
    let later = try harness.modify([.note("later", 1)])
    for _ in 0..<40 {
      harness.session.fetch()
      harness.world.advance(by: .seconds(700))
    }
    #expect(harness.completions.entries.map(\.response.unsaved) == [[SessionHarness.id("r5")], []])
    #expect(harness.completions.entries.last?.id == later)
    #expect(harness.state.parkedRecords.map(\.error.code) == [.timedOut])
    #expect(harness.state.parked.nextProbe != nil)
    // A token never stands for two requests.
    var contents: [WriteToken: [String]] = [:]
    for call in harness.handler.modifyCalls {
      #expect(contents[call.token, default: call.names] == call.names)
      contents[call.token] = call.names
    }
    #expect(harness.brokenInvariant == nil)
    harness.handler.change { $0 = ScriptedHandler.Script() }
    harness.world.advance(by: .seconds(1_400))
    #expect(harness.state.parkedRecords.isEmpty)
  }

  @Test("When the network goes after the budget is spent, no record is parked over that")
  func networkGoes() throws {
    let harness = SessionHarness(script: Self.losing(["r0", "r1", "r2", "r3"]))
    harness.start()
    try harness.modify((0..<4).map { .note("r\($0)", 1) })
    for _ in 0..<40 where harness.handler.modifyCalls.allSatisfy({ $0.names.count == 4 }) {
      harness.session.fetch()
      harness.world.advance(by: .seconds(700))
    }
    let sizes = Set(harness.handler.modifyCalls.map(\.names.count))
    #expect(sizes == [4, 2] && harness.state.parkedRecords.isEmpty)
    harness.world.advance(by: .seconds(86_400))
    #expect(Set(harness.handler.modifyCalls.map(\.names.count)) == sizes)
    #expect(harness.state.parkedRecords.isEmpty && harness.brokenInvariant == nil)
  }

  @Test("Parked, it holds up nobody when it is tried again, although nothing but edits is sent")
  func lostProbe() throws {
    let harness = SessionHarness(script: Self.losing(["a"]))
    harness.start()
    try harness.modify([.note("a", 1)])
    for _ in 0..<60 where harness.state.parkedRecords.isEmpty {
      harness.session.fetch()
      harness.world.advance(by: .seconds(700))
    }
    #expect(harness.state.parkedRecords.map(\.error.code) == [.timedOut])

    for number in 0..<240 {
      try harness.modify([.note("r\(number)", 1)])
      harness.world.advance(by: .seconds(60))
    }
    harness.world.advance(by: .seconds(60))
    #expect(harness.completions.entries.count == 241)
    #expect(harness.state.parkedRecords.map(\.error.code) == [.timedOut])
    #expect(harness.brokenInvariant == nil)
    // The record may have been saved in the first place: the cloud's word for it is taken.
    harness.handler.change { $0 = ScriptedHandler.Script() }
    harness.world.advance(by: .seconds(700))
    #expect(harness.state.parkedRecords.isEmpty)
  }

  @Test("`cancel` ends it at once and says that it may be done")
  func cancel() throws {
    let harness = SessionHarness(script: Self.losing(["a"]))
    harness.start()
    let first = try harness.modify([.note("a", 1)])
    let second = try harness.modify([.note("b", 1)])
    harness.world.advance(by: .seconds(30))
    #expect(harness.completions.entries.isEmpty)

    harness.session.cancel(first)
    harness.world.run()
    #expect(harness.failures.entries.map(\.error.code) == [.cancelled])
    #expect(
      harness.failures.entries.first?.error.itemErrors.map(\.error.code) == [.outcomeUnknown]
    )
    harness.world.advance(by: .seconds(700))
    #expect(harness.completions.entries.map(\.id) == [second])
    #expect(harness.state.hasWorkQueued == false && harness.brokenInvariant == nil)
  }

  @Test("`cancel` says so too after a conflict has told that a part of it is done")
  func cancelAfterConflict() throws {
    let edit = SessionHarness.record("a", ["x": 1, "y": 1], tag: "1")
    let server = SessionHarness.record("a", ["x": 1, "y": 2], tag: "2")
    let conflict = ItemFailure(edit.recordID, SyncError(.serverRecordChanged, serverRecord: server))
    let harness = SessionHarness(
      resolver: .fieldwise(default: .client),
      script: ScriptedHandler.Script(modify: { _, number in
        switch number {
        case 0: .failure(.serverResponseLost)
        case 1: .success(.init(failures: [conflict]))
        default: .failure(.zoneBusy)
        }
      })
    )
    harness.start()
    let operation = try harness.modify([edit])
    harness.world.advance(by: .seconds(30))
    #expect(harness.handler.modifyCalls.count > 2)

    harness.session.cancel(operation)
    harness.world.run()
    let codes = harness.failures.entries.first?.error.itemErrors.map(\.error.code)
    #expect(codes == [.outcomeUnknown])
  }

  @Test("`cancel` gives up a repeat that is in flight, and the rest goes under a new write token")
  func cancelInFlight() throws {
    let harness = SessionHarness(script: Self.silent(on: "a"))
    harness.start()
    let first = try harness.modify([.note("a", 1)])
    let second = try harness.modify([.note("b", 1)])
    harness.world.advance(by: .seconds(320))
    #expect(harness.state.isModifying)
    #expect(harness.handler.modifyCalls.count == 2)

    harness.session.cancel(first)
    harness.world.run()
    #expect(harness.failures.entries.count == 1)
    #expect(harness.completions.entries.map(\.id) == [second])
    let tokens = harness.handler.modifyCalls.map(\.token)
    #expect(harness.handler.modifyCalls.last?.names == ["b"])
    #expect(tokens.dropLast().contains { $0 == tokens.last } == false)
    #expect(harness.handler.cancelled.count == 2)
  }

  @Test(
    "`cancel` ends operations whose edits were merged, and withdraws these with the last of them"
  )
  func cancelMerged() throws {
    let harness = SessionHarness(script: Self.losing(["a"]))
    harness.session.start()
    harness.world.run()
    harness.handler.change { $0.modify = { _, _ in .failure(.networkFailure) } }
    try harness.modify([.note("z", 1)])
    harness.world.run()
    let ids = try (0..<3).map { try harness.modify([.note("a", $0)]) }
    harness.handler.change { $0 = Self.losing(["a"]) }
    harness.world.advance(by: .seconds(60))
    #expect(harness.handler.modifyCalls.contains { $0.names == ["a"] || $0.names == ["z", "a"] })

    for (count, id) in ids.enumerated() {
      harness.session.cancel(id)
      harness.world.run()
      #expect(harness.failures.entries.count == count + 1)
      #expect(harness.brokenInvariant == nil)
    }
    #expect(harness.failures.entries.allSatisfy { $0.error.code == .cancelled })
    #expect(
      harness.failures.entries.map { $0.error.itemErrors.map(\.error.code) }
        == [[.outcomeUnknown], [.outcomeUnknown], [.outcomeUnknown]]
    )
    harness.world.advance(by: .seconds(700))
    #expect(harness.completions.entries.count == 1)
    #expect(harness.state.hasWorkQueued == false)
  }

  @Test("`cancel` of one of several operations leaves the merged edit to the others")
  func cancelOneOfMerged() throws {
    let harness = SessionHarness(script: Self.losing(["z"]))
    harness.start()
    let blocker = try harness.modify([.note("z", 1)])
    harness.world.advance(by: .seconds(5))
    let first = try harness.modify([SessionHarness.record("a", ["x": 1])])
    let second = try harness.modify([SessionHarness.record("a", ["y": 2])])
    harness.session.cancel(blocker)
    harness.handler.change { $0.modify = { _, _ in .failure(.networkFailure) } }
    harness.world.advance(by: .seconds(30))
    harness.session.cancel(first)
    harness.world.run()
    #expect(harness.failures.entries.count == 2)
    harness.handler.change { $0 = ScriptedHandler.Script() }
    harness.world.advance(by: .seconds(700))
    #expect(harness.completions.entries.map(\.id) == [second])
    #expect(harness.handler.modifyCalls.last?.saves.first?["x"] == 1)
    #expect(harness.brokenInvariant == nil)
  }

  @Test("`cancel` during a look-up holds when the process ends before its response")
  func cancelBeforeRestart() throws {
    let conflict = ItemFailure(SessionHarness.id("a"), SyncError(.serverRecordChanged))
    let harness = SessionHarness(
      script: ScriptedHandler.Script(
        modify: { _, _ in .failure(SyncError(.partialFailure, itemErrors: [conflict])) },
        fetch: { _, _ in .never }
      )
    )
    harness.start()
    let id = try harness.modify([.note("a", 1)])
    harness.world.advance(by: .seconds(5))
    #expect(harness.state.flight?.isLookup == true)
    harness.session.cancel(id)
    let bytes = Locked<SyncArchive?>(nil)
    harness.session.snapshot { data in bytes.withLock { $0 = try? SyncArchive(data) } }
    harness.world.run()
    #expect(harness.failures.entries.isEmpty)

    let archive = try #require(bytes.withLock { $0 })
    let next = SessionHarness(restoring: archive)
    next.start()
    next.world.run()
    #expect(next.failures.entries.map(\.error.code) == [.cancelled])
    #expect(next.handler.modifyCalls.isEmpty && next.brokenInvariant == nil)
  }

  @Test("When all of a lost request is cancelled, nothing of it is counted against the next one")
  func cancelAllOfRequest() throws {
    let harness = SessionHarness(script: Self.losing(["a", "b"]))
    let ids = [try harness.modify([.note("a", 1)]), try harness.modify([.note("b", 1)])]
    harness.start()
    harness.world.advance(by: .seconds(10))
    #expect(harness.handler.modifyCalls.last?.names == ["a", "b"])
    #expect(harness.state.modify.frozen == 2 && harness.state.modify.lostAt != nil)
    for id in ids {
      harness.session.cancel(id)
      harness.world.run()
    }
    #expect(harness.failures.entries.count == 2)
    #expect(harness.state.modify.frozen == 0 && harness.state.modify.lostAt == nil)
    #expect(harness.brokenInvariant == nil)
  }

  @Test("`cancel` does not wait for a request that has none of the operation's records")
  func cancelBehindFlight() throws {
    let harness = SessionHarness(script: Self.silent(on: "a"))
    harness.start()
    let first = try harness.modify([.note("a", 1)])
    harness.world.advance(by: .seconds(1))
    let second = try harness.modify([.note("b", 1)])
    harness.world.advance(by: .seconds(1))
    #expect(harness.state.isModifying)
    harness.session.cancel(second)
    harness.world.run()
    #expect(harness.failures.entries.map(\.error.code) == [.cancelled])
    #expect(harness.state.isModifying && harness.brokenInvariant == nil)
    // What is on its way for the first time is waited for.
    harness.session.cancel(first)
    harness.world.run()
    #expect(harness.failures.entries.count == 1)
    harness.world.advance(by: .seconds(400))
    #expect(harness.failures.entries.count == 2)
    #expect(harness.state.hasWorkQueued == false && harness.brokenInvariant == nil)
  }

  @Test("What a page tells meanwhile is not undone by an older save", arguments: [true, false])
  func pageStands(isDeleted: Bool) throws {
    let losing = Locked(true)
    var options = StubCloud.Options()
    options.knowsWriteTokens = true
    let harness = CloudHarness(options: options) { _, operation in
      operation.isModify && losing.withLock { $0 } ? .lostAfter : nil
    }
    harness.start()
    try harness.modify([.note("a", 1)])
    harness.world.advance(by: .seconds(5))
    let saved = try #require(harness.cloud["a"])
    if isDeleted {
      harness.cloud.remove(saved.recordID)
    } else {
      harness.cloud.save(Record.note("a", 2, tag: saved.changeTag))
    }
    harness.session.fetch()
    harness.world.advance(by: .seconds(60))
    #expect(harness.pages.entries.count == 1)
    losing.withLock { $0 = false }
    harness.world.advance(by: .seconds(700))

    let response = try #require(harness.completions.entries.first?.response)
    #expect(response.savedRecords.isEmpty && response.unsaved.isEmpty)
    if isDeleted {
      #expect(response.deletedRecordIDs == [saved.recordID])
    } else {
      #expect(response.alreadyInCloud == [harness.cloud["a"]])
      #expect(response.alreadyInCloud.first?["x"] == 2)
    }
    #expect(harness.wrongs == [])
  }

  @Test("A cloud that knows no write tokens: the repeat finds the edit there, and says so")
  func alreadyThere() throws {
    var options = StubCloud.Options()
    options.knowsWriteTokens = false
    let harness = CloudHarness(options: options) { number, _ in number == 2 ? .lostAfter : nil }
    harness.start()
    try harness.modify([.note("a", 1)])
    harness.world.advance(by: .seconds(60))
    let response = try #require(harness.completions.entries.first?.response)
    #expect(response.savedRecords.isEmpty)
    #expect(response.alreadyInCloud == [harness.cloud["a"]])
  }

  @Test("Two equal increments are two, whichever device comes first")
  func equalIncrements() throws {
    let harness = CloudHarness(resolver: .fieldwise(["x": .counterSum]))
    harness.start()
    let zero = harness.cloud.save(.note("a", 0))
    harness.cloud.save(.note("a", 1))
    try harness.session.modify(
      ModifyOperation(
        records: [Record.note("a", 1, tag: zero.changeTag)],
        ancestors: [zero]
      )
    )
    harness.world.advance(by: .seconds(60))
    #expect(harness.cloud["a"]?["x"] == 2)
    #expect(harness.completions.entries.first?.response.savedRecords.count == 1)
  }
}
