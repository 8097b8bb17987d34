import CloudSyncChangesets
import CloudSyncEventLog
import CloudSyncLocalCloud
import Foundation
import Testing

// README: sqlite
import CloudSyncSQLite
import CloudSyncSession

func openNotes(_ path: String, cloud: any OperationHandler) throws -> SyncEngine {
  let database = try DatabaseFile(path: path, createsFile: true)
  try database.execute(
    """
    CREATE TABLE IF NOT EXISTS notes(
      id TEXT PRIMARY KEY NOT NULL,  -- unlike any other device's: a UUID
      text TEXT NOT NULL DEFAULT '', stars INTEGER
    )
    """
  )
  let zone = ZoneID(name: "Notes")
  let engine = try SyncEngine(
    database: database,
    tables: ["notes"],
    zoneID: zone,
    operationHandler: cloud
  )
  engine.errors.sink { error in print(error) }  // of the database; cloudErrors has the cloud's
  try engine.start()
  return engine
}
// README: end

enum HistorySample {
  static func use(_ handler: any OperationHandler) async throws {
    // README: history
    let repository = try ChangesetRepository(DatabaseFile(path: "shop.db"))
    try repository.commit(meta: #"{"message": "Prices of May"}"#)  // all that was edited
    try repository.undo()

    let remote = try ChangesetRemote(
      repository,
      operationHandler: handler,
      zoneID: ZoneID(name: "History")
    )
    try await remote.sync()  // commits, fetches, merges, pulls and pushes
    // README: end
  }
}

// README: embedding
import CloudSyncSession

func openSession(_ handler: any OperationHandler, over store: Store) throws -> CloudSyncSession {
  let session = try CloudSyncSession(
    journal: store.journal,  // what an earlier process left, unsent edits included
    operationHandler: handler,
    zoneID: ZoneID(name: "Notes")
  )
  store.beginJournal()  // a new file, to replace the old one when it has its first bytes
  session.journal { bytes in store.appendToJournal(bytes) }  // and flush them
  session.cloudChangesSubject.sink { change in
    // In one transaction, the token included: nil keeps the stored one.
    if change.isBeginning { store.forgetNames() }  // a fetch of everything begins
    let records = change.recordsToStore { store.record($0) }
    store.save(records, delete: change.deletedRecordIDs, token: change.changeToken)
    store.name(change.namedRecordIDs)
    if change.isEnd { store.deleteUnnamed() }  // what nothing has named since is gone
  }
  session.start()
  let token = store.changeToken
  session.fetch(FetchOperation(changeToken: token, startingOver: token == nil))
  return session
}

func save(
  _ edited: Record,
  over shown: Record,
  _ session: CloudSyncSession,
  show: @escaping @Sendable () -> Void
) throws {
  let operation = ModifyOperation(records: [edited], ancestors: [shown])
  try session.modify(operation, accepted: { _ in show() })  // now it is in the journal
}

func visibleRecords(_ session: CloudSyncSession, _ store: Store) -> [RecordID: Record] {
  session.state.unsentEdits.reduce(into: store.records) { visible, edit in
    visible[edit.recordID] = edit.applied(to: visible[edit.recordID])
  }
}
// README: end

@Suite("README.md")
struct ReadmeTests {
  private static let zoneID = ZoneID(name: "Notes")
  fileprivate static let note = Record(
    recordType: "Note",
    recordID: RecordID(name: "note-1", zoneID: zoneID),
    fields: ["text": "Buy milk"]
  )

  @Test("The engine of the first snippet keeps two databases in sync, whoever edits them")
  func synchronizes() async throws {
    let cloud = LocalCloud()
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "cloudsync-readme-\(ProcessInfo.processInfo.processIdentifier)",
      isDirectory: true
    )
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (mac, phone) = (folder.path + "/mac.sqlite", folder.path + "/phone.sqlite")
    let engines = try [mac, phone]
      .map { path in
        let connection = cloud.connect(
          device: path,
          account: AccountIdentity("owner"),
          zoneID: Self.zoneID
        )
        return try openNotes(path, cloud: connection)
      }
    defer { for engine in engines { engine.stop() } }

    try DatabaseFile(path: mac).execute("INSERT INTO notes VALUES('1', 'Buy milk', 3)")
    for engine in engines { await engine.syncChanges() }
    // Only a row that is there is changed.
    try DatabaseFile(path: phone).execute("UPDATE notes SET text = 'Buy oat milk' WHERE stars = 3")
    for engine in engines.reversed() { await engine.syncChanges() }

    try DatabaseFile(path: mac).execute("UPDATE notes SET stars = 5 WHERE text = 'Buy oat milk'")
    await engines[0].syncChanges()

    // The zone's own record is beside the rows'.
    let records = try cloud.records(account: AccountIdentity("owner"), zone: Self.zoneID)
      .filter { $0.recordType == "notes" }
    #expect(records.map { $0["text"]?.stringValue } == ["Buy oat milk"])
    #expect(records.map { $0["stars"]?.int64Value } == [5])
  }

  @Test("The usage of the guide works")
  func uses() async throws {
    let store = Store()
    let session = Usage.makeSharedSession(AsyncHandlerAdapter(YesCloud()))
    try Usage.use(session, store, note: Self.note)
    #expect(await session.idle(upTo: .seconds(1_000_000)))
    #expect(session.state.progress.done == 1)
    #expect(await Usage.push(session) == .noData)
  }

  @Test("The recorder of README.md saves what it recorded")
  func records() throws {
    var environment = SyncEnvironment.live
    environment.makeExecutor = { .immediate }
    let session = CloudSyncSession(
      operationHandler: AsyncHandlerAdapter(YesCloud()),
      zoneID: Usage.zoneID,
      environment: environment
    )
    let path = FileManager.default.temporaryDirectory.path + "/cloudsync-readme-test.jsonl"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Usage.record(session, path)
    #expect(try EventLog(path: path).header.state.zoneID == Usage.zoneID)
  }

  @Test("The Swift code of README.md is compiled: here, in this order, and in the GRDB example")
  func isUpToDate() throws {
    let here = URL(fileURLWithPath: #filePath)
    let root = here.deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    func text(_ path: String) throws -> String {
      try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }
    func compiled(_ text: String) -> [[String]] {
      Self.blocks(
        of: text,
        from: { $0.hasPrefix("// README: ") && $0 != "// README: end" },
        to: { $0 == "// README: end" }
      )
    }
    let own = compiled(try String(contentsOf: here, encoding: .utf8))
    let example = compiled(try text("Examples/GRDB/Tests/ShoppingTests/ReadmeSample.swift"))

    let shown = Self.blocks(
      of: try text("README.md"),
      from: { $0 == "```swift" },
      to: { $0 == "```" }
    )

    #expect(example.count == 1)
    #expect(shown.filter { example.contains($0) } == example)
    let others = shown.filter { !example.contains($0) }
    #expect(others.count == own.count)
    for (shown, compiled) in zip(others, own) { #expect(shown == compiled) }
  }

  /// The lines between two marks, without the indentation that the first of them has.
  private static func blocks(
    of text: String,
    from isStart: (String) -> Bool,
    to isEnd: (String) -> Bool
  ) -> [[String]] {
    var blocks: [[String]] = []
    var isInside = false
    var indentation = 0
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let trimmed = String(line.drop { $0 == " " })
      if isInside, isEnd(trimmed) {
        isInside = false
      } else if isInside {
        blocks[blocks.count - 1].append(String(line.dropFirst(indentation)))
      } else if isStart(trimmed) {
        isInside = true
        indentation = line.count - trimmed.count
        blocks.append([])
      }
    }
    return blocks
  }
}

// README: handler
import CloudSyncSession

struct YesCloud: AsyncOperationHandler {
  func createZone(_: CreateZoneOperation, context: RequestContext) -> Bool { true }
  func createSubscription(_: CreateSubscriptionOperation, context: RequestContext) -> Bool { true }
  func modify(_ operation: ModifyOperation, context: RequestContext) -> ModifyOperation.Response {
    ModifyOperation.Response(
      savedRecords: operation.records.map { $0.withChangeTag("1") },
      deletedRecordIDs: operation.recordIDsToDelete
    )
  }
  func fetch(_: FetchOperation, context: RequestContext) -> FetchOperation.Response {
    FetchOperation.Response(changeToken: nil)
  }
}
// README: end

/// The usage, step by step, as the guide shows it.
private enum Usage {
  enum FetchResult { case newData, noData, failed }

  // SAMPLE: CloudSyncCore/UsingASession.md
  static let zoneID = ZoneID(name: "Notes")

  static func makeSharedSession(_ operationHandler: any OperationHandler) -> CloudSyncSession {
    let session = CloudSyncSession(
      operationHandler: operationHandler,
      zoneID: Self.zoneID,
      resolveConflict: resolveConflict,
      resolveExpiredChangeToken: resolveExpiredChangeToken
    )

    session.appendMiddleware(
      AccountStatusMiddleware { completion in
        completion(.available, AccountIdentity("what the cloud calls the user"))
      }
    )

    return session
  }

  static func resolveConflict(client: Record, server: Record) -> Record? {
    // Implement your own conflict resolution logic; nil halts the session
    if let clientDate = client.modificationDate, let serverDate = server.modificationDate {
      return clientDate > serverDate ? client : server
    }

    return client
  }

  static func resolveExpiredChangeToken() -> ChangeToken? {
    // Forget the change token in the persisted store; everything is fetched anew
    nil
  }
  // SAMPLE: end

  static func use(_ cloudSyncSession: CloudSyncSession, _ store: Store, note: Record) throws {
    // SAMPLE: CloudSyncCore/UsingASession.md
    // Listen for fetch work that has been completed
    cloudSyncSession.fetchWorkCompletedSubject
      .map { _, response in
        (response.changeToken, response.changedRecords, response.deletedRecordIDs)
      }
      .sink { changeToken, records, recordIDsToDelete in
        // Store whole records, delete others, and save the change token together with them
      }

    // Listen for modification work that has been completed
    cloudSyncSession.modifyWorkCompletedSubject
      .map { operation, response in
        (response.savedRecords, response.deletedRecordIDs, operation.userInfo)
      }
      .sink { records, recordIDsToDelete, userInfo in
        // Merge what was sent, with its new change tags, into the stored records
      }
    // SAMPLE: end

    // SAMPLE: CloudSyncCore/UsingASession.md
    cloudSyncSession.start()
    // SAMPLE: end

    // SAMPLE: CloudSyncCore/UsingASession.md
    // Obtain the change token from disk
    let changeToken: ChangeToken? = store.changeToken

    // Queue a fetch operation; without a token it begins from nothing
    cloudSyncSession.fetch(
      FetchOperation(changeToken: changeToken, startingOver: changeToken == nil)
    )
    // SAMPLE: end

    // SAMPLE: CloudSyncCore/UsingASession.md
    let records: [Record] = [note]
    let recordIDsToDelete: [RecordID] = []
    let checkpointID: UUID? = nil
    let operation = ModifyOperation(
      records: records,
      recordIDsToDelete: recordIDsToDelete,
      checkpointID: checkpointID,
      userInfo: nil
    )

    try cloudSyncSession.modify(operation)
    // SAMPLE: end

    observe(cloudSyncSession)
  }

  static func push(_ cloudSyncSession: CloudSyncSession) async -> FetchResult {
    // SAMPLE: CloudSyncCore/UsingASession.md
    // When the notification is one of the zone's subscription
    switch await cloudSyncSession.fetchNow(upTo: .seconds(20)) {
    case .new: return .newData
    case .nothing: return .noData
    case .failed: return .failed
    }
    // SAMPLE: end
  }

  private static func observe(_ cloudSyncSession: CloudSyncSession) {
    // SAMPLE: CloudSyncCore/UsingASession.md
    cloudSyncSession.haltedSubject
      .sink { error in
        // Update UI based on most recent error; nil when the session works again
      }

    cloudSyncSession.accountStatusSubject
      .sink { accountStatus in
        // Update UI with new account status
      }

    cloudSyncSession.statePublisher
      .sink { state in
        // Update UI with new sync state
      }

    cloudSyncSession.eventsPublisher
      .sink { event in
        // Update UI with most recent event
      }

    print(cloudSyncSession.explain())
    // SAMPLE: end
  }

  static func record(_ session: CloudSyncSession, _ path: String) throws {
    // README: record
    let recorder = EventRecorder(.ring())
    recorder.attach(to: session)
    // … a user complains …
    try recorder.save(to: path)
    // README: end
  }
}
