import CloudSyncLocalCloud
import CloudSyncSession
import Foundation
import Testing

/// What the snippets take for an app's storage: what the cloud has, and the journal.
final class Store: Sendable {
  private struct Contents: Sendable {
    var journal: Data?
    var records: [RecordID: Record] = [:]
    /// What pages and completions have named since a fetch of everything began.
    var named: Set<RecordID> = []
    var changeToken: ChangeToken?
  }

  private let contents = Locked(Contents())

  var journal: Data? { contents.withLock { $0.journal } }
  var changeToken: ChangeToken? { contents.withLock { $0.changeToken } }
  var records: [RecordID: Record] { contents.withLock { $0.records } }
  var count: Int { records.count }

  func record(_ recordID: RecordID) -> Record? { contents.withLock { $0.records[recordID] } }

  func beginJournal() { contents.withLock { $0.journal = Data() } }
  func appendToJournal(_ bytes: Data) { contents.withLock { $0.journal?.append(bytes) } }

  /// Stores what the cloud has.
  func save(_ records: [Record], delete recordIDs: [RecordID], token: ChangeToken?) {
    contents.withLock { contents in
      for record in records { contents.records[record.recordID] = record }
      for recordID in recordIDs { contents.records[recordID] = nil }
      if let token { contents.changeToken = token }
    }
  }

  func name(_ recordIDs: [RecordID]) { contents.withLock { $0.named.formUnion(recordIDs) } }
  func forgetNames() { contents.withLock { $0.named = [] } }

  /// Deletes what the cloud has no more.
  func deleteUnnamed() {
    contents.withLock { contents in
      for recordID in contents.records.keys where !contents.named.contains(recordID) {
        contents.records[recordID] = nil
      }
    }
  }
}

@Suite("The third snippet of README.md")
struct ReadmeEmbeddingTests {
  private static let zoneID = ZoneID(name: "Notes")
  private static let note = Record(
    recordType: "Note",
    recordID: RecordID(name: "note-1", zoneID: zoneID),
    fields: ["text": "Buy milk"]
  )

  @Test("The session of the third snippet saves, stores and goes on from its journal")
  func embeds() async throws {
    let store = Store()
    // A cloud that remembers: its pages say in any order of requests what is there.
    let cloud = LocalCloud()
    let connection = cloud.connect(
      device: "mac",
      account: AccountIdentity("owner"),
      zoneID: Self.zoneID
    )
    let session = try openSession(connection, over: store)
    let response = try await session.perform(ModifyOperation(records: [Self.note]))
    #expect(response.unsaved == [])
    #expect(await session.idle(upTo: .seconds(1_000_000)))
    #expect(store.count == 1)

    let next = try openSession(connection, over: store)
    #expect(await next.idle(upTo: .seconds(1_000_000)))
    #expect(next.state.epoch > session.state.epoch)
    try next.modify(ModifyOperation(recordIDsToDelete: [Self.note.recordID]))
    #expect(await next.idle(upTo: .seconds(1_000_000)))
    #expect(store.count == 0)
  }

  @Test("An edit of the third snippet leaves the record's other fields as they are")
  func keepsOtherFields() async throws {
    let store = Store()
    let session = try openSession(AsyncHandlerAdapter(YesCloud()), over: store)
    #expect(await session.idle(upTo: .seconds(7_200)))
    var stored = Self.note.withChangeTag("0")
    stored["stars"] = 3
    store.save([stored], delete: [], token: nil)
    var edited = stored
    edited["text"] = "Buy oat milk"
    try save(edited, over: stored, session) {}
    #expect(await session.idle(upTo: .seconds(7_200)))

    let record = try #require(store.record(Self.note.recordID))
    #expect(record["text"] == "Buy oat milk")
    #expect(record["stars"] == 3)
    #expect(record.changeTag == "1")
  }

  /// A cloud that has a note, and rejects edits until it is told to take them.
  private actor PickyCloud: AsyncOperationHandler {
    private var note: Record
    private var takesEdits = false

    init(note: Record) { self.note = note }

    func takeEdits() { takesEdits = true }

    /// Another device changes a field of the note.
    func change(field: String, to value: FieldValue) {
      note[field] = value
      note = note.withChangeTag((note.changeTag ?? "") + "+")
    }

    func createZone(_: CreateZoneOperation, context: RequestContext) -> Bool { true }
    func createSubscription(_: CreateSubscriptionOperation, context: RequestContext) -> Bool {
      true
    }
    func modify(
      _ operation: ModifyOperation,
      context: RequestContext
    ) -> ModifyOperation.Response {
      let records = operation.records
      if !takesEdits {
        return .init(
          failures: records.map { ItemFailure($0.recordID, SyncError(.permissionFailure)) }
        )
      }
      for record in records { note = record.merged(into: note).withChangeTag("saved") }
      return .init(savedRecords: records.map { $0.withChangeTag("saved") })
    }
    func fetch(_: FetchOperation, context: RequestContext) -> FetchOperation.Response {
      .init(changedRecords: [note], changeToken: ChangeToken(Data((note.changeTag ?? "").utf8)))
    }
  }

  @Test("No page overwrites an edit of the third snippet, and no end of the process loses it")
  func keepsUnsentEdits() async throws {
    var theirs = Self.note.withChangeTag("0")
    theirs["stars"] = 3
    let cloud = PickyCloud(note: theirs)
    let store = Store()
    let session = try openSession(AsyncHandlerAdapter(cloud), over: store)
    #expect(await session.idle(upTo: .seconds(7_200)))
    let shown = try #require(visibleRecords(session, store)[theirs.recordID])
    var edited = shown
    edited["text"] = "Buy oat milk"
    let isShown = Locked(false)
    try save(edited, over: shown, session) {
      // Whoever restores the journal now has the edit.
      let archive = store.journal.flatMap { try? SyncArchive($0) }
      isShown.withLock { $0 = archive?.state.modifyQueue.count == 1 }
    }
    #expect(await session.idle(upTo: .seconds(7_200)))
    #expect(isShown.withLock { $0 })
    #expect(session.state.parkedRecords.count == 1)

    // What another device has changed comes to the edit.
    await cloud.change(field: "stars", to: 5)
    _ = await session.fetchNow(upTo: .seconds(7_200))
    #expect(store.record(theirs.recordID)?["text"] == "Buy milk")
    func expectBoth(_ session: CloudSyncSession) {
      let visible = visibleRecords(session, store)[theirs.recordID]
      #expect(visible?["text"] == "Buy oat milk")
      #expect(visible?["stars"] == 5)
    }
    expectBoth(session)

    // The process ends, and another one begins.
    session.stop()
    _ = await session.snapshot()
    let next = try openSession(AsyncHandlerAdapter(cloud), over: store)
    #expect(await next.idle(upTo: .seconds(7_200)))
    expectBoth(next)

    await cloud.takeEdits()
    next.retryParked()
    #expect(await next.idle(upTo: .seconds(7_200)))
    #expect(next.state.parkedRecords.isEmpty)
    #expect(store.record(theirs.recordID)?["text"] == "Buy oat milk")
    expectBoth(next)
  }

  @Test("What a fetch of everything names but cannot read is kept by the third snippet")
  func keepsUnreadRecords() async throws {
    struct UnreadableCloud: AsyncOperationHandler {
      func createZone(_: CreateZoneOperation, context: RequestContext) -> Bool { true }
      func createSubscription(_: CreateSubscriptionOperation, context: RequestContext) -> Bool {
        true
      }
      func modify(
        _: ModifyOperation,
        context: RequestContext
      ) -> ModifyOperation.Response { ModifyOperation.Response() }
      func fetch(_: FetchOperation, context: RequestContext) -> FetchOperation.Response {
        FetchOperation.Response(
          failures: [ItemFailure(ReadmeEmbeddingTests.note.recordID, SyncError(.internalError))],
          changeToken: ChangeToken(Data("1".utf8))
        )
      }
    }
    let store = Store()
    store.save([Self.note.withChangeTag("0")], delete: [], token: nil)
    let session = try openSession(AsyncHandlerAdapter(UnreadableCloud()), over: store)
    #expect(await session.idle(upTo: .seconds(7_200)))
    #expect(store.changeToken != nil && store.count == 1)
  }
}
