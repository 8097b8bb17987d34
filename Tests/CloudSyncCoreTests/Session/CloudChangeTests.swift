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

  /// What a storage layer has that stores each change, and what the user sees.
  private final class Mirror: Sendable {
    private let records = Locked<[RecordID: Record]>([:])
    private let session: CloudSyncSession

    init(of session: CloudSyncSession) {
      self.session = session
      session.cloudChangesSubject.sink { [records] change in
        let saved = change.recordsToStore { id in records.withLock { $0[id] } }
        records.withLock { records in
          for record in saved { records[record.recordID] = record }
          for recordID in change.deletedRecordIDs { records[recordID] = nil }
        }
      }
    }

    var stored: [RecordID: Record] { records.withLock { $0 } }
    /// The field x of each record that the user sees, by its name.
    var visible: [String: FieldValue] {
      let all = session.state.unsentEdits.reduce(into: stored) { visible, edit in
        visible[edit.recordID] = edit.applied(to: visible[edit.recordID])
      }
      return Dictionary(uniqueKeysWithValues: all.map { ($0.key.name, $0.value["x"] ?? .null) })
    }
  }

  /// A session whose cloud saves all but b and c, which fail in passing until it is told to go on.
  private static func waitingBench(
    pages: [FetchOperation.Response] = []
  ) -> (bench: SessionHarness, goOn: @Sendable () -> Void) {
    let waits = Locked(true)
    let bench = SessionHarness(
      script: .init(
        modify: { operation, _ in
          var response = ScriptedHandler.allSaved(operation)
          guard waits.withLock({ $0 }) else { return .success(response) }
          response.savedRecords.removeAll { ["b", "c"].contains($0.recordID.name) }
          response.failures = operation.records.filter { ["b", "c"].contains($0.recordID.name) }
            .map { ItemFailure($0.recordID, SyncError(.networkFailure)) }
          return .success(response)
        },
        fetch: { _, number in
          .success(
            number < pages.count ? pages[number] : .init(changeToken: ChangeToken(text: "end"))
          )
        }
      )
    )
    return (bench, { waits.withLock { $0 = false } })
  }

  @Test(
    "What is saved of an operation that is cancelled is told, and no edit of it is seen any more"
  )
  func cancelled() throws {
    let (bench, _) = Self.waitingBench()
    let mirror = Mirror(of: bench.session)
    bench.start()
    let id = try bench.session.modify(
      ModifyOperation(records: [SessionHarness.record("a"), SessionHarness.record("b")])
    )
    bench.world.run()
    #expect(mirror.visible == ["a": 1, "b": 1] && mirror.stored.isEmpty)
    bench.session.cancel(id)
    bench.world.run()
    #expect(mirror.visible == ["a": 1])
    #expect(mirror.stored.keys.map(\.name) == ["a"])
  }

  @Test("An operation that is cancelled out of its turn is not gone behind by one before it")
  func cancelledOutOfTurn() throws {
    let (bench, goOn) = Self.waitingBench()
    let mirror = Mirror(of: bench.session)
    bench.start()
    try bench.modify([SessionHarness.record("a", ["x": 1, "y": 1]), SessionHarness.record("b")])
    bench.world.run()
    let second = try bench.session.modify(
      ModifyOperation(records: [SessionHarness.record("a", ["x": 2]), SessionHarness.record("c")])
    )
    bench.world.advance(by: .seconds(60))
    #expect(mirror.visible["a"] == 2 && mirror.stored.isEmpty)
    bench.session.cancel(second)
    bench.world.run()
    #expect(mirror.visible["a"] == 2)
    goOn()
    bench.world.advance(by: .seconds(3_600))
    #expect(bench.state.unsentEdits.isEmpty)
    let record = try #require(mirror.stored[Self.id("a")])
    #expect(record["x"] == 2 && record["y"] == 1, "\(record)")
  }

  @Test("A page that is newer than a save whose operation goes on is what the user sees")
  func pageAfterSave() throws {
    let theirs = SessionHarness.record("a", ["x": 9], tag: "theirs")
    let (bench, goOn) = Self.waitingBench(pages: [
      .init(changeToken: ChangeToken(text: "first")),
      .init(changedRecords: [theirs], changeToken: ChangeToken(text: "second")),
    ])
    let mirror = Mirror(of: bench.session)
    bench.session.fetch()
    bench.start()
    try bench.modify([SessionHarness.record("a"), SessionHarness.record("b")])
    bench.world.run()
    #expect(mirror.visible == ["a": 1, "b": 1])
    bench.session.fetch()
    bench.world.advance(by: .seconds(600))
    #expect(mirror.visible == ["a": 9, "b": 1])
    goOn()
    bench.world.advance(by: .seconds(3_600))
    #expect(mirror.visible == ["a": 9, "b": 1] && bench.state.unsentEdits.isEmpty)
  }

  @Test("What was dropped is seen no more, though the rest of its operation goes on")
  func dropped() throws {
    let bench = SessionHarness(
      script: .init(modify: { operation, _ in
        let failures = operation.records.map { record in
          let isRefused = record.recordID.name == "a"
          return ItemFailure(
            record.recordID,
            SyncError(isRefused ? .invalidArguments : .networkFailure)
          )
        }
        return .success(.init(failures: failures))
      })
    )
    let mirror = Mirror(of: bench.session)
    bench.start()
    try bench.modify([SessionHarness.record("a"), SessionHarness.record("b")])
    bench.world.run()
    #expect(mirror.visible == ["a": 1, "b": 1])
    bench.session.dropParked([Self.id("a")])
    bench.world.run()
    #expect(mirror.visible == ["b": 1])
  }

  @Test("What a look-up does not find is gone, and what a page could not read is named")
  func failuresOfPages() throws {
    let failures = [
      ItemFailure(Self.id("gone"), SyncError(.unknownItem)),
      ItemFailure(Self.id("unread"), SyncError(.internalError)),
    ]
    let bench = SessionHarness(
      script: .init(fetch: { _, _ in .success(.init(failures: failures, changeToken: nil)) })
    )
    let changes = Collector<CloudChange>()
    bench.session.cloudChangesSubject.sink { changes.add($0) }
    bench.session.fetch(FetchOperation(lookingUp: failures.map(\.recordID)))
    bench.start()
    bench.world.run()
    #expect(changes.entries.flatMap(\.deletedRecordIDs) == [Self.id("gone")])
    #expect(changes.entries.flatMap(\.unreadRecordIDs) == [Self.id("unread")])
    #expect(changes.entries.allSatisfy { $0.changeToken == nil })
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
    #expect(error?.reason.contains("Notes") == true && error?.reason.contains("Others") == true)
  }
}
