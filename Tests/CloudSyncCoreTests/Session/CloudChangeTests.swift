#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("What the cloud has, for a storage layer that keeps it")
struct CloudChangeTests {
  private static func id(_ name: String) -> RecordID { SessionHarness.id(name) }

  @Test("Pages, completions and parked records that get through come in order, whole")
  func order() throws {
    let refuses = Locked(true)
    let bench = SessionHarness(
      script: .init(
        modify: { operation, _ in
          guard refuses.withLock({ $0 }) else {
            return .success(ScriptedHandler.allSaved(operation))
          }
          var response = ScriptedHandler.allSaved(operation)
          response.savedRecords.removeAll { $0.recordID.name == "bad" }
          if operation.records.contains(where: { $0.recordID.name == "bad" }) {
            response.failures = [ItemFailure(Self.id("bad"), SyncError(.invalidArguments))]
          }
          return .success(response)
        },
        fetch: { _, _ in
          .success(
            .init(
              changedRecords: [SessionHarness.record("a", ["x": 1, "y": 2], tag: "0")],
              deletedRecords: [DeletedRecord(recordID: Self.id("gone"))],
              failures: [ItemFailure(Self.id("unread"), SyncError(.internalError))],
              changeToken: ChangeToken(text: "end")
            )
          )
        }
      )
    )
    let stored = Locked<[RecordID: Record]>([:])
    let log = Collector<String>()
    bench.session.cloudChangesSubject.sink { change in
      let records = change.recordsToStore { id in stored.withLock { $0[id] } }
      stored.withLock { stored in for record in records { stored[record.recordID] = record } }
      let marks = (change.isBeginning ? "beginning " : "") + (change.isEnd ? "end " : "")
      log.add(
        marks + "\(records.map(\.recordID.name)) -\(change.deletedRecordIDs.map(\.name))"
          + " \(change.namedRecordIDs.map(\.name)) \(change.changeToken == nil ? "" : "token")"
      )
    }
    bench.session.fetch(FetchOperation(startingOver: true))
    bench.start()
    try bench.modify([SessionHarness.record("a", ["x": 5]), SessionHarness.record("bad")])
    try bench.session.modify(ModifyOperation(recordIDsToDelete: [Self.id("b")]))
    bench.world.run()
    refuses.withLock { $0 = false }
    bench.session.retryParked()
    bench.world.run()

    #expect(
      log.entries == [
        #"beginning end ["a"] -["gone"] ["a", "gone", "unread"] token"#,
        #"["a"] -[] ["a"] "#, #"[] -["b"] ["b"] "#, #"["bad"] -[] ["bad"] "#,
      ]
    )
    let record = stored.withLock { $0[Self.id("a")] }
    #expect(record?["x"] == 5 && record?["y"] == 2 && record?.changeTag != "0")
  }

  @Test("Unsent edits are those that are parked, return and wait, and make what the user sees")
  func unsentEdits() throws {
    let bench = SessionHarness(
      script: .init(modify: { operation, number in
        guard number == 0 else { return .never }
        return .success(
          .init(
            failures: operation.records.map {
              ItemFailure($0.recordID, SyncError(.invalidArguments))
            }
          )
        )
      })
    )
    bench.start()
    try bench.modify([SessionHarness.record("a", ["x": 1]), SessionHarness.record("b", ["x": 1])])
    bench.world.run()
    #expect(bench.state.unsentEdits.map(\.recordID.name) == ["a", "b"])

    bench.session.retryParked([Self.id("b")])
    bench.world.run()
    try bench.session.modify(
      ModifyOperation(
        records: [SessionHarness.record("b", ["y": 2])],
        recordIDsToDelete: [Self.id("c")]
      )
    )
    bench.world.run()
    #expect(bench.state.unsentEdits.map(\.recordID.name) == ["a", "b", "b", "c"])

    let cloud = [
      Self.id("c"): SessionHarness.record("c"), Self.id("d"): SessionHarness.record("d"),
    ]
    let visible = bench.state.unsentEdits.reduce(into: cloud) { visible, edit in
      visible[edit.recordID] = edit.applied(to: visible[edit.recordID])
    }
    #expect(visible.keys.map(\.name).sorted() == ["a", "b", "d"])
    #expect(visible[Self.id("b")]?["x"] == 1 && visible[Self.id("b")]?["y"] == 2)
  }

  @Test("A journal of another zone is refused, and says of which it is")
  func journalOfAnotherZone() throws {
    let bench = SessionHarness()
    let journal = Locked(Data())
    bench.session.journal { bytes in journal.withLock { $0.append(bytes) } }
    bench.start()
    let error = #expect(throws: CodedError.self) {
      try CloudSyncSession(
        journal: journal.withLock { $0 },
        operationHandler: bench.handler,
        zoneID: ZoneID(name: "Others"),
        environment: bench.world.environment
      )
    }
    #expect(error?.reason.contains("“Notes”") == true && error?.reason.contains("“Others”") == true)
  }
}
