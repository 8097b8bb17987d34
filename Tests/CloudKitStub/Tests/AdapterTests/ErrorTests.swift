import CloudKit
import CloudSyncCloudKit
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSession
import CloudSyncSimulator
import Foundation
import Signatures
import StubCloud
import Testing

@Suite("Errors")
struct ErrorTests {
  /// The kinds of work that a handler does.
  enum Kind: String, CaseIterable, Sendable {
    case createZone, createSubscription, modify, fetch, lookUp

    var mode: OperationMode {
      switch self {
      case .createZone: .createZone
      case .createSubscription: .createSubscription
      case .modify: .modify
      case .fetch, .lookUp: .fetch
      }
    }
  }

  private let world = AdapterWorld()

  /// What the handler answers to one piece of work while something goes wrong: the error of the request, or of its
  /// one item.
  private func answer(
    _ kind: Kind,
    _ stub: StubCloud,
    _ fault: StubFault
  ) throws -> (request: SyncError?, item: SyncError?) {
    let calls = HandlerCalls(world.handler(stub))
    stub.setFault(nil)
    _ = calls.createZone()
    _ = calls.modify([world.note("a")])
    // Conflicts are looked up after the request that has them, and that goes well.
    stub.setFault { request in kind == .modify && request.kind == .lookUp ? nil : fault }
    switch kind {
    case .createZone: return (try #require(calls.createZone()).failure, nil)
    case .createSubscription: return (try #require(calls.createSubscription()).failure, nil)
    case .modify:
      let tag = try #require(try world.stubs.record("a")).changeTag
      let answer = try #require(calls.modify([world.note("a", ["x": 2], tag: tag)]))
      return (answer.failure, answer.failures.first?.error)
    case .fetch:
      let page = try #require(calls.fetch())
      return (page.failure, try? page.get().failures.first?.error)
    case .lookUp:
      let page = try #require(calls.lookUp([world.id("a")]))
      return (page.failure, try? page.get().failures.first?.error)
    }
  }

  @Test(
    "Scenario 20: each of the 37 codes, and one that is unknown, is answered as itself, so the table holds",
    arguments: Kind.allCases,
    ErrorTable.Place.allCases
  )
  func table(kind: Kind, place: ErrorTable.Place) throws {
    let stub = world.stub()
    for code in SyncError.Code.cloudCodes + [.unknown(9_999)] {
      let error = StubErrors.error(code.rawValue, "words")
      let names = ["a", StubWorld.zoneName, "cloudsync-private"]
      let fault: StubFault =
        place == .request
        ? .fail(error) : .items(Dictionary(names.map { ($0, error) }, uniquingKeysWith: { $1 }))
      let (request, item) = try answer(kind, stub, fault)
      let isZoneWork = kind == .createZone || kind == .createSubscription
      if isZoneWork, code == .serverRecordChanged {
        // Somebody else has made it: that is as good as to have made it.
        #expect(request == nil)
        continue
      }
      let isOfZone = [SyncError.Code.zoneNotFound, .userDeletedZone].contains(code)
      let isOfAccount = [.notAuthenticated, .accountTemporarilyUnavailable].contains(code)
      let isWhole =
        place == .request || isZoneWork || kind != .fetch && (isOfZone || isOfAccount)
      var found = isWhole ? request : item
      // Else the session would do with the whole request what is meant for the item.
      if kind == .modify, !isWhole { #expect(request?.code == .partialFailure, "\(code)") }
      if kind == .modify, place == .request, code == .partialFailure {
        // A partial failure that does not say of what: nobody knows what became of the items.
        #expect(item?.code == .serverResponseLost)
        continue
      }
      if kind == .lookUp, place == .request, code == .partialFailure {
        #expect(item?.code == .networkFailure)
        continue
      }
      if kind == .modify, place == .item, code == .serverRecordChanged {
        #expect(found?.serverRecord?["x"] != nil)
        found?.serverRecord = nil
        found?.clientRecord = nil
      }
      #expect(found == SyncError(code, "words"), "\(kind) \(place) \(code)")
      // Of a partial failure without items the session makes another code where it is of a zone.
      if isZoneWork, code == .partialFailure { continue }
      // Where the session finds it the table says the same as where CloudKit has told it.
      #expect(
        ErrorTable.disposition(of: code, for: kind.mode, in: isWhole ? .request : .item)
          == ErrorTable.disposition(of: code, for: kind.mode, in: place)
      )
    }
  }

  @Test("CloudKit's names of codes have the numbers that the session knows")
  func numbers() {
    #expect(errorCodes() == Array(1...36))
    #expect(SyncError.Code.cloudCodes.map(\.rawValue) == Array(1...37))
  }

  @Test(
    "Scenario 17: a partial failure whose key is the zone: the zone is created, and all is sent again"
  )
  func zoneKey() throws {
    let phone = world.device()
    _ = try world.stubs.cloud.deleteZone(world.zoneID, account: StubWorld.alice)

    try phone.save([world.note("a"), world.note("b")], for: .seconds(600))

    #expect(try world.stubs.record("a") != nil)
    #expect(try world.stubs.record("b") != nil)
    #expect(phone.stub.requests.contains { $0.kind == .createZone })
    let sent = phone.stub.requests.filter { $0.kind == .modify }.map { $0.saves.map(\.name) }
    #expect(sent == [["a", "b"], ["a", "b"]])
    #expect(phone.announced.completions.last?.failures.isEmpty == true)
  }

  @Test(
    "Scenario 17: with the reset key it is told as a reset, and is uploaded again",
    arguments: [true, false]
  )
  func resetKey(byZone: Bool) throws {
    var ways = StubWays()
    ways.tellsZoneErrorsByZone = byZone
    let stub = world.stub(ways: ways)
    let calls = HandlerCalls(world.handler(stub))
    _ = calls.createZone()
    _ = try world.stubs.cloud.deleteZone(
      world.zoneID,
      account: StubWorld.alice,
      reason: .encryptedDataReset
    )

    let answer = try #require(calls.modify([world.note("a")]))

    let error = answer.failure
    #expect(error?.code == .zoneNotFound)
    #expect(error?.isEncryptedDataReset == true)
    let phone = world.device("phone2", ways: ways)
    let zones = Shared<[ZoneState]>([])
    phone.session.zoneSubject.sink { state in zones.with { $0.append(state) } }
    _ = try world.stubs.cloud.deleteZone(
      world.zoneID,
      account: StubWorld.alice,
      reason: .encryptedDataReset
    )
    try phone.save([world.note("b")], for: .seconds(600))
    #expect(try world.stubs.record("b") != nil)
    // By this the app knows that it has to send everything again.
    let isTold = zones.with { $0 }
      .contains { if case .creating(.encryptedDataReset?) = $0 { true } else { false } }
    #expect(isTold)
  }

  @Test("Scenario 17: after a reset a database uploads its old rows too, not the edited one alone")
  func rowsAfterReset() throws {
    let database = try DatabaseFile(path: ":memory:")
    try database.execute("CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, stars INTEGER)")
    let handler = world.handler(world.stub())
    var options = SyncEngineOptions()
    // A loss that is not told as a reset would take the rows away.
    options.zoneLost = { $0 == .encryptedDataReset ? .uploadAgain : .deleteLocalData }
    let engine = try SyncEngine(
      database: database,
      tables: ["notes"],
      zoneID: handler.zoneID,
      operationHandler: handler,
      options: options,
      environment: world.world.environment
    )
    try engine.start()
    world.world.runToEnd(limit: .seconds(60))
    try database.execute("INSERT INTO notes VALUES('a', 1), ('b', 2)")
    engine.sendChanges()
    world.world.runToEnd(limit: .seconds(600))
    #expect(try world.stubs.record("b:notes")?["stars"] == 2)

    _ = try world.stubs.cloud.deleteZone(
      world.zoneID,
      account: StubWorld.alice,
      reason: .encryptedDataReset
    )
    try database.execute("UPDATE notes SET stars = 3 WHERE id = 'a'")
    engine.sendChanges()
    world.world.runToEnd(limit: .seconds(600))

    #expect(try world.stubs.record("a:notes")?["stars"] == 3)
    #expect(try world.stubs.record("b:notes")?["stars"] == 2)
    engine.stop()
  }

  @Test("Scenario 18: an unknown code halts the session, names the work, and keeps it")
  func unknownCode() throws {
    let phone = world.device()
    phone.stub.setFault { $0.kind == .modify ? .fail(StubErrors.error(9_999, "new")) : nil }

    let id = try phone.session.modify(ModifyOperation(records: [world.note("a")]))
    world.world.runToEnd(limit: .seconds(600))

    #expect(phone.state.isHalted)
    #expect(phone.state.haltReason?.error.code == .unknown(9_999))
    #expect(phone.state.haltReason?.mode == .modify)
    #expect(phone.state.haltReason?.operations == [id])
    #expect(phone.state.hasWorkQueued)
    // It is neither given up nor tried on and on.
    #expect(phone.announced.completions.isEmpty && phone.announced.failures.isEmpty)
    #expect(phone.stub.requests.map(\.kind) == [.modify])
    phone.stub.setFault(nil)
    phone.session.start()
    world.world.runToEnd(limit: .seconds(60))
    #expect(try world.stubs.record("a") != nil)
  }

  @Test("A code that the session uses for its own endings is no ending of a session")
  func sessionCode() throws {
    let (request, _) = try answer(
      .modify,
      world.stub(),
      .fail(StubErrors.error(SyncError.Code.reset.rawValue, "words"))
    )

    #expect(request?.code == .internalError)
    #expect(request?.message.contains("1001") == true)
  }

  @Test("Scenario 19: the longest wait of error and items is obeyed")
  func longestWait() throws {
    let phone = world.device()
    let item = StubErrors.error(7, userInfo: [CKErrorRetryAfterKey: 23.5])
    let zoneID = CKRecordZone.ID(zoneName: StubWorld.zoneName)
    let id = CKRecord.ID(recordName: "a", zoneID: zoneID)
    let error = StubErrors.error(
      2,
      userInfo: [CKErrorRetryAfterKey: 11.0, CKPartialErrorsByItemIDKey: [id: item]]
    )
    let times = Shared<[Timestamp]>([])
    let clock = world.world
    phone.stub.setFault { _ in
      times.with { times -> StubFault? in
        times.append(clock.now)
        return times.count == 1 ? .fail(error) : nil
      }
    }

    try phone.save([world.note("a")])
    // Other work that is asked for meanwhile waits too.
    phone.fetch(for: .seconds(600))

    let kinds = phone.stub.requests.map(\.kind)
    #expect(kinds.count { $0 == .modify } == 2 && kinds.contains(.fetch))
    let told = times.with { $0 }
    try #require(told.count >= 2)
    #expect(told[0].distance(to: told[1]) >= 23_500_000_000)
    #expect(told[0].distance(to: told[1]) < 120_000_000_000)
  }

  @Test(
    "Scenario 19: what is no time to wait is ignored",
    arguments: ["nan", "-1", "text", "infinite"]
  )
  func noWait(how: String) throws {
    let values: [String: Any] = [
      "nan": Double.nan, "-1": -1, "text": "soon", "infinite": Double.infinity,
    ]
    let error = StubErrors.error(
      7,
      "words",
      userInfo: [CKErrorRetryAfterKey: try #require(values[how])]
    )

    let (request, _) = try answer(.modify, world.stub(), .fail(error))

    #expect(request == SyncError(.requestRateLimited, "words"))
    let pad = world.device("pad")
    let times = Shared<[Timestamp]>([])
    let clock = world.world
    pad.stub.setFault { request in
      guard request.kind == .modify else { return nil }
      return times.with { times -> StubFault? in
        times.append(clock.now)
        return times.count < 4 ? .fail(error) : nil
      }
    }
    try pad.save([world.note("b")], for: .seconds(600))
    // The session's own waits: the first is a part of its first second, and they grow.
    let told = times.with { $0 }
    let waits = zip(told, told.dropFirst()).map { $0.distance(to: $1) }
    try #require(waits.count == 3)
    #expect(waits.allSatisfy { (500_000_000..<60_000_000_000).contains($0) })
    #expect(waits[2] > waits[0])
    #expect(try world.stubs.record("b") != nil)
  }

  @Test("A wait is rounded up to a millisecond, and the longest imaginable is no crash")
  func roundedWait() throws {
    for (seconds, wait) in [
      (0.0, Duration.milliseconds(1)), (0.0001, .milliseconds(1)), (1.0001, .milliseconds(1_001)),
      (1e300, .seconds(1_000_000_000)),
    ] {
      let error = StubErrors.error(6, userInfo: [CKErrorRetryAfterKey: seconds])
      let (request, _) = try answer(.fetch, world.stub(), .fail(error))
      #expect(request?.retryAfter == wait)
    }
  }

  @Test(
    "Scenario 21: errors of the network, by what was asked",
    arguments: [
      (-1009, 3, 3), (-1018, 3, 3), (-1020, 3, 3), (-1001, 34, 4), (-1005, 34, 4), (-999, 20, 20),
      (-1003, 4, 4), (-1200, 4, 4),
    ]
  )
  func network(code: Int, modify: Int, others: Int) throws {
    for kind in Kind.allCases {
      let (request, _) = try answer(kind, world.stub(), .fail(StubErrors.network(code)))
      #expect(request?.code.rawValue == (kind == .modify ? modify : others), "\(kind)")
    }
  }

  @Test(
    "Errors of other domains tell domain and code; those that CloudKit hides behind are looked through"
  )
  func otherDomains() throws {
    let stub = world.stub()
    func error(_ domain: String, _ code: Int, under: NSError? = nil) -> StubFault {
      var userInfo: [String: Any] = [NSLocalizedDescriptionKey: "words"]
      userInfo[NSUnderlyingErrorKey] = under
      return .fail(NSError(domain: domain, code: code, userInfo: userInfo))
    }

    let hidden = try answer(
      .modify,
      stub,
      error("CKInternalErrorDomain", 2008, under: StubErrors.error(23, "busy"))
    )
    #expect(hidden.request == SyncError(.zoneBusy, "busy"))
    let inner = try answer(.fetch, stub, error("CKInternalErrorDomain", 1011))
    #expect(inner.request?.code == .internalError)
    #expect(inner.request?.message.contains("CKInternalErrorDomain 1011") == true)
    let foreign = try answer(.fetch, stub, error("org.example", 7, under: StubErrors.network(-1)))
    #expect(foreign.request?.code == .internalError)
    #expect(foreign.request?.message.contains("org.example 7") == true)
    #expect(foreign.request?.message.contains("-1") == true)
    for code in [4, 260] {
      let missing = NSError(domain: NSCocoaErrorDomain, code: code, userInfo: [:])
      let answer = try answer(.modify, stub, .items(["a": missing]))
      #expect(answer.item?.code == .assetFileNotFound)
    }
  }

  @Test("An error of the whole request that every item repeats is the error of the request")
  func repeatedByItems() throws {
    let stub = world.stub()
    let calls = HandlerCalls(world.handler(stub))
    _ = calls.createZone()
    for code in [1, 6, 9, 27] {
      let error = StubErrors.error(code, "words")
      stub.setFault { request in
        request.kind == .modify ? .itemsThenFail(["a": error, "b": error], error) : nil
      }
      let answer = try #require(calls.modify([world.note("a"), world.note("b")]))
      #expect(answer.failure == SyncError(SyncError.Code(rawValue: code), "words"))
    }
  }
}
