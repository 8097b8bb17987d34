import CloudKit
import CloudSyncCloudKit
import CloudSyncLocalCloud
import CloudSyncSession
import CloudSyncSimulator
import Foundation
import StubCloud
import Testing

@Suite("Modifications")
struct ModificationTests {
  private let world = AdapterWorld()

  private func records(_ count: Int) -> [Record] { (0..<count).map { world.note("r\($0)") } }

  @Test(
    "Scenario 15: one stale of 250: 249 are saved, or none; both end with all saved",
    arguments: [false, true]
  )
  func oneStale(isAtomic: Bool) throws {
    let pad = HandlerCalls(world.handler(world.stub("pad")))
    _ = pad.createZone()
    _ = pad.modify([world.note("r100", ["x": 9])])
    let stub = world.stub()
    let handler = world.handler(stub) { $0.isAtomic = isAtomic }

    let answer = try #require(HandlerCalls(handler).modify(records(250)))

    if isAtomic {
      #expect(answer.saved.isEmpty)
      #expect(answer.codes.filter { $0 == 14 }.count == 1)
      #expect(answer.codes.filter { $0 == 22 }.count == 249)
      #expect(answer.failures.map(\.recordID.name) == (0..<250).map { "r\($0)" })
    } else {
      #expect(answer.saved.count == 249)
      #expect(answer.codes == [14])
      #expect(answer.failures[0].recordID.name == "r100")
    }

    let phone = world.device("phone2") { $0.isAtomic = isAtomic }
    try phone.save((0..<250).map { world.note("r\($0)", ["y": 5]) })
    let all = try world.stubs.cloud.records(account: StubWorld.alice, zone: world.zoneID)
    #expect(all.count == 250)
    #expect(all.allSatisfy { $0["y"] == 5 })
    #expect(phone.state.parkedRecords.isEmpty)
  }

  @Test("Scenario 16: the network drops after 100 results: the others alone are sent again")
  func networkDrops() throws {
    let phone = world.device()
    let isFirst = Shared(true)
    phone.stub.setFault { request in
      guard request.kind == .modify else { return nil }
      return isFirst.with { isFirst in
        defer { isFirst = false }
        return isFirst ? .failAfter(items: 100, StubErrors.network(-1005)) : nil
      }
    }

    try phone.save(records(250), for: .seconds(600))

    let requests = phone.stub.requests.filter { $0.kind == .modify }
    #expect(requests.map(\.saves.count) == [250, 150])
    #expect(requests[1].saves.map(\.name) == (100..<250).map { "r\($0)" })
    #expect(phone.announced.completions.count == 1)
    #expect(phone.announced.completions[0].failures.isEmpty)
    let all = try world.stubs.cloud.records(account: StubWorld.alice, zone: world.zoneID)
    #expect(all.count == 250)
  }

  @Test("Scenario 16: as the handler answers it: 100 saved, 150 whose response was lost")
  func networkDropsAnswer() throws {
    let stub = world.stub()
    let calls = HandlerCalls(world.handler(stub))
    _ = calls.createZone()
    stub.setFault { $0.kind == .modify ? .failAfter(items: 100, StubErrors.network(-1009)) : nil }

    let answer = try #require(calls.modify(records(250)))

    #expect(answer.saved.count == 100)
    #expect(answer.codes == Array(repeating: 34, count: 150))
  }

  @Test(
    "Scenario 32: an empty list that the server refuses parks its record with the server's text alone"
  )
  func emptyList() throws {
    let phone = world.device()
    phone.stub.setFault { request in
      guard request.kind == .modify else { return nil }
      return .items(["b": StubErrors.error(12, "cannot create a new field bool list")])
    }

    try phone.save([world.note("a"), world.note("b", ["tags": []]), world.note("c")])

    #expect(phone.state.parkedRecords.map(\.recordID.name) == ["b"])
    #expect(phone.state.parkedRecords[0].error.code == .invalidArguments)
    #expect(phone.state.parkedRecords[0].error.message == "cannot create a new field bool list")
    #expect(try world.stubs.record("a") != nil)
    #expect(try world.stubs.record("c") != nil)
  }

  @Test("Scenario 33: 251 records travel in two requests")
  func twoRequests() throws {
    let phone = world.device()

    try phone.save(records(251))

    let counts = phone.stub.requests.filter { $0.kind == .modify }.map(\.saves.count)
    #expect(counts == [250, 1])
  }

  @Test(
    "Scenario 33: a request that is too large is halved; a record that is too large alone is parked"
  )
  func halves() throws {
    let phone = world.device()
    phone.stub.setFault { request in
      guard request.kind == .modify else { return nil }
      let isTooLarge = request.saves.contains { $0.name == "r5" } || request.saves.count > 4
      return isTooLarge ? .fail(StubErrors.error(27, "too large")) : nil
    }

    try phone.save(records(8), for: .seconds(600))

    #expect(phone.state.parkedRecords.map(\.recordID.name) == ["r5"])
    #expect(phone.state.parkedRecords[0].error.code == .limitExceeded)
    let all = try world.stubs.cloud.records(account: StubWorld.alice, zone: world.zoneID)
    #expect(all.count == 7)
    let counts = phone.stub.requests.filter { $0.kind == .modify }.map(\.saves.count)
    #expect(counts.prefix(2) == [8, 4])
  }

  @Test("Scenario 22: at the deadline the operation is cancelled; its late result changes nothing")
  func deadline() throws {
    let phone = world.device()
    let isFirst = Shared(true)
    phone.stub.setFault { request in
      guard request.kind == .modify else { return nil }
      return isFirst.with { isFirst in
        defer { isFirst = false }
        return isFirst ? .hold : nil
      }
    }

    try phone.save([world.note("a")], for: .seconds(3_600))
    phone.stub.release()
    world.world.runToEnd(limit: .seconds(60))

    #expect(phone.announced.completions.count == 1)
    #expect(phone.announced.completions[0].savedRecords.count == 1)
    #expect(phone.stub.requests.filter { $0.kind == .modify }.count == 2)
    #expect(phone.stub.requests[0].requestTimeout == 60)
    #expect(phone.stub.requests[0].resourceTimeout == 300)
  }

  @Test("Scenario 22: without a deadline the timeouts are at their caps; after it nothing is sent")
  func timeouts() throws {
    let stub = world.stub()
    let calls = HandlerCalls(world.handler(stub))
    _ = calls.createZone()
    _ = calls.modify([world.note("a")])
    #expect(stub.requests.last?.requestTimeout == 60)
    #expect(stub.requests.last?.resourceTimeout == 604_800)
    #expect(stub.requests.last?.groupName == "CloudSync")
    #expect(stub.requests.last?.qualityOfService == .userInitiated)
    #expect(stub.requests.last?.isAtomic == false)

    _ = calls.modify([world.note("b")], deadline: world.world.now.adding(.seconds(7)))
    #expect(stub.requests.last?.requestTimeout == 7)
    #expect(stub.requests.last?.resourceTimeout == 7)

    stub.forgetRequests()
    let answer = calls.modify([world.note("c")], deadline: world.world.now)
    #expect(stub.requests.isEmpty)
    #expect(answer?.failure?.code == .operationCancelled)
  }

  @Test("A call that was given up is answered once, as cancelled")
  func cancelled() throws {
    let stub = world.stub()
    let handler = world.handler(stub)
    let calls = HandlerCalls(handler)
    _ = calls.createZone()
    stub.setFault { $0.kind == .modify ? .hold : nil }
    let answers = Shared<[SyncError.Code?]>([])
    let context = calls.context()

    handler.handle(modifyOperation: ModifyOperation(records: [world.note("a")]), context: context) {
      result in
      answers.with { $0.append(result.failure?.code) }
    }
    handler.cancel(Attempt(epoch: 9, number: 9))
    #expect(answers.with { $0 }.isEmpty)
    handler.cancel(context.attempt)
    handler.cancel(context.attempt)
    stub.release()

    #expect(answers.with { $0 } == [.operationCancelled])
  }

  @Test(
    "The client token is the request's, and that of a request without some of its items is another"
  )
  func clientToken() throws {
    let stub = world.stub()
    let calls = HandlerCalls(world.handler(stub) { $0.sendsClientChangeToken = true })
    _ = calls.createZone()
    let context = calls.context()
    _ = calls.modify([world.note("a"), world.note("b", ["x": .double(.nan)])], context: context)
    _ = calls.modify([world.note("a")], context: context)
    _ = calls.modify([world.note("a")], context: context)

    let tokens = stub.requests.filter { $0.kind == .modify }.map(\.clientToken)
    #expect(tokens.allSatisfy { $0 != nil })
    #expect(tokens[0] != tokens[1])
    #expect(tokens[1] == tokens[2])
  }

  @Test("Deletions are told, and a tombstone empties the fields of assets")
  func deletionsAndTombstones() throws {
    let path = try world.stubs.file("photo", [1, 2, 3])
    let sha256 = Data(
      [0x03, 0x90, 0x58, 0xc6, 0xf2, 0xc0, 0xcb, 0x49, 0x2c, 0x53, 0x3b, 0x0a, 0x4d, 0x14, 0xef]
        + [
          0x77, 0xcc, 0x0f, 0x78, 0xab, 0xcc, 0xce, 0xd5, 0x28, 0x7d, 0x84, 0xa1, 0xa2, 0x01, 0x1c,
        ]
        + [0xfb, 0x81]
    )
    let phone = world.device()
    let asset = Asset(sha256: sha256, byteCount: 3, location: path)
    try phone.save([world.note("a", ["photo": .asset(asset), "x": 1]), world.note("b")])
    #expect(phone.state.parkedRecords.isEmpty)
    let tag = phone.announced.completions[0].savedRecords[0].changeTag

    try phone.save(
      [world.note("a", ["photo": .null, "x": .null, "deleted": 1], tag: tag)],
      delete: [world.id("b")]
    )

    let record = try #require(try world.stubs.record("a"))
    #expect(record["photo"] == nil || record["photo"] == .null)
    #expect(record["deleted"] == 1)
    #expect(try world.stubs.record("b") == nil)
    #expect(phone.announced.completions.last?.deletedRecordIDs == [world.id("b")])
    let page = try #require(
      try HandlerCalls(world.handler(world.stub("pad"))).fetch()?.get()
    )
    #expect(page.deletedRecordIDs == [world.id("b")])
    #expect(page.deletedRecords.first?.recordType == "Note")
    #expect(page.changedRecords.first?["photo"] == nil)
  }

  @Test("Records whose files are too much for one request come in several")
  func manyBytes() throws {
    func large(_ name: String) -> Record {
      let digest = Data(repeating: UInt8(name.utf8.count), count: 32)
      let asset = Asset(sha256: digest, byteCount: 15_000_000, location: "/none/\(name)")
      return world.note(name, ["photo": .asset(asset)])
    }
    let calls = HandlerCalls(world.handler(world.stub()))
    #expect(calls.modify([large("a"), large("bc")])?.failure?.code == .limitExceeded)
    // Of one alone the file is looked for.
    #expect(calls.modify([large("a")])?.failure?.code != .limitExceeded)
  }
}

extension Result {
  /// The error; nil for a success.
  var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
