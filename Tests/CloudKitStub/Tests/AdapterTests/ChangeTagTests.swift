import CloudKit
import CloudSyncCloudKit
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSession
import CloudSyncSimulator
import Foundation
import StubCloud
import Testing

@Suite("Change tags and the store of system fields")
struct ChangeTagTests {
  private let world = AdapterWorld()

  /// Saves a record from another device, and returns it as the server has it.
  private func saveElsewhere(_ record: Record) throws -> Record {
    let calls = HandlerCalls(world.handler(world.stub("pad")))
    _ = calls.createZone()
    let answer = try #require(calls.modify([record]))
    return try #require(try answer.get().savedRecords.first)
  }

  @Test(
    "Scenario 9: an edit after a restart, with a file, is one request whose changed keys are the edit"
  )
  func editAfterRestart() throws {
    let path = try world.stubs.file("fields", [])
    try FileManager.default.removeItem(atPath: path)
    let stub = world.stub()
    let first = HandlerCalls(world.handler(stub, systemFields: try SystemFieldsFile(path: path)))
    _ = first.createZone()
    let saved = try #require(try first.modify([world.note("a", ["x": 1, "y": 2, "z": 3])])?.get())
    stub.forgetRequests()

    let second = HandlerCalls(world.handler(stub, systemFields: try SystemFieldsFile(path: path)))
    let tag = saved.savedRecords[0].changeTag
    let answer = try #require(
      try second.modify([world.note("a", ["y": 5, "z": .null], tag: tag)])?.get()
    )

    #expect(answer.failures.isEmpty)
    #expect(stub.requests.map(\.kind) == [.modify])
    #expect(stub.requests[0].saves == [.init(name: "a", changeTag: tag, changedKeys: ["y", "z"])])
    #expect(try world.stubs.record("a")?["x"] == 1)
    #expect(try world.stubs.record("a")?["y"] == 5)
  }

  @Test("Scenario 10: without what was stored there is one look-up more, and it is saved")
  func storeDeleted() throws {
    let stub = world.stub()
    let first = HandlerCalls(world.handler(stub))
    _ = first.createZone()
    let saved = try #require(try first.modify([world.note("a"), world.note("b")])?.get())
    stub.forgetRequests()

    let second = HandlerCalls(world.handler(stub))
    let edits = saved.savedRecords.map {
      world.note($0.recordID.name, ["x": 2], tag: $0.changeTag)
    }
    let answer = try #require(try second.modify(edits)?.get())

    #expect(answer.savedRecords.map(\.recordID.name) == ["a", "b"])
    #expect(stub.requests.map(\.kind) == [.lookUp, .modify])
    #expect(stub.requests[0].names == ["a", "b"])
    #expect(stub.requests[1].saves.map(\.changedKeys) == [["x"], ["x"]])
  }

  @Test(
    "Scenario 11: with a newer tag in the store than the edit's, the server's record comes with the conflict"
  )
  func newerTagStored() throws {
    let stub = world.stub()
    let calls = HandlerCalls(world.handler(stub))
    _ = calls.createZone()
    let old = try #require(
      try calls.modify([world.note("a", ["x": 1, "y": 1])])?.get().savedRecords.first
    )
    _ = calls.modify([world.note("a", ["x": 2], tag: old.changeTag)])
    stub.forgetRequests()

    let answer = try #require(calls.modify([world.note("a", ["x": 3], tag: old.changeTag)]))

    #expect(answer.codes == [14])
    #expect(answer.failures.first?.error.serverRecord?["x"] == 2)
    #expect(answer.failures.first?.error.serverRecord?["y"] == 1)
    #expect(answer.failures.first?.error.clientRecord?["x"] == 3)
    #expect(stub.requests.map(\.kind) == [.lookUp])
    #expect(try world.stubs.record("a")?["x"] == 2)
  }

  @Test(
    "Scenario 12: bytes that are damaged, or of another record, are as good as missing, and are replaced",
    arguments: ["flipped", "cut", "empty", "other", "foreign"]
  )
  func damagedBytes(how: String) throws {
    let stub = world.stub()
    let store = SystemFieldsMemory()
    let calls = HandlerCalls(world.handler(stub, systemFields: store))
    _ = calls.createZone()
    let saved = try #require(try calls.modify([world.note("a"), world.note("b")])?.get())
      .savedRecords
    var bytes = try #require(store.load([saved[0].recordID])[0])
    switch how {
    case "flipped": bytes[bytes.count / 2] ^= 0x10
    case "cut": bytes = bytes.dropLast(3)
    case "empty": bytes = Data()
    // A whole entry of another record; its tag is another one too.
    case "other": bytes = try #require(store.load([saved[1].recordID])[0])
    default: bytes = Data("no system fields of ours".utf8)
    }
    store.save([SystemFields(recordID: saved[0].recordID, bytes: bytes)])
    stub.forgetRequests()

    let answer = try #require(
      try calls.modify([world.note("a", ["x": 2], tag: saved[0].changeTag)])?.get()
    )

    #expect(answer.savedRecords.count == 1)
    #expect(stub.requests.map(\.kind) == [.lookUp, .modify])
    #expect(stub.requests[0].names == ["a"])
    #expect(try world.stubs.record("a")?["x"] == 2)
    let next = world.note("a", ["x": 3], tag: answer.savedRecords[0].changeTag)
    stub.forgetRequests()
    #expect(try calls.modify([next])?.get().savedRecords.count == 1)
    #expect(stub.requests.map(\.kind) == [.modify])
  }

  /// The system fields of another record with a tag: another cloud with the same beginning gives its first one the same.
  private static func bytes(ofFirstAmong names: [String], tagged tag: String?) throws -> Data {
    let twin = AdapterWorld()
    let store = SystemFieldsMemory()
    let calls = HandlerCalls(twin.handler(twin.stub(), systemFields: store))
    _ = calls.createZone()
    let saved = try #require(
      try calls.modify(names.map { twin.note($0) })?.get().savedRecords.first
    )
    try #require(saved.changeTag == tag)
    return try #require(store.load([saved.recordID])[0])
  }

  @Test("Scenario 12: bytes of another record that has the edit's very tag are as good as missing")
  func bytesOfSameTag() throws {
    let stub = world.stub()
    let store = SystemFieldsMemory()
    let calls = HandlerCalls(world.handler(stub, systemFields: store))
    _ = calls.createZone()
    let saved = try #require(try calls.modify([world.note("a")])?.get().savedRecords.first)
    let bytes = try Self.bytes(ofFirstAmong: ["b"], tagged: saved.changeTag)
    store.save([SystemFields(recordID: saved.recordID, bytes: bytes)])
    stub.forgetRequests()

    let answer = try #require(calls.modify([world.note("a", ["x": 2], tag: saved.changeTag)]))

    #expect(answer.codes == [])
    #expect(stub.requests.map(\.kind) == [.lookUp, .modify])
    #expect(try world.stubs.record("a")?["x"] == 2)
  }

  @Test("Scenario 12: such bytes are looked up too where others of the request were missing")
  func bytesOfSameTagBesideMissing() throws {
    let stub = world.stub()
    let store = SystemFieldsMemory()
    let calls = HandlerCalls(world.handler(stub, systemFields: store))
    _ = calls.createZone()
    let saved = try #require(
      try calls.modify([world.note("a"), world.note("c")])?.get().savedRecords
    )
    let bytes = try Self.bytes(ofFirstAmong: ["b", "d"], tagged: saved[0].changeTag)
    store.save([
      SystemFields(recordID: saved[0].recordID, bytes: bytes),
      SystemFields(recordID: saved[1].recordID, bytes: Data()),
    ])
    stub.forgetRequests()

    let edits = [
      world.note("a", ["x": 2], tag: saved[0].changeTag),
      world.note("c", ["x": 2], tag: saved[1].changeTag),
    ]
    let answer = try #require(calls.modify(edits))

    #expect(answer.codes == [])
    #expect(stub.requests.map(\.kind) == [.lookUp, .lookUp, .modify])
    #expect(stub.requests.prefix(2).map(\.names) == [["c"], ["a"]])
    #expect(try world.stubs.record("a")?["x"] == 2)
  }

  @Test(
    "Scenario 13: a record that was deleted meanwhile, nothing stored, is an unknown item; the policy decides"
  )
  func deletedMeanwhile() throws {
    let saved = try saveElsewhere(world.note("a"))
    let pad = HandlerCalls(world.handler(world.stub("pad")))
    _ = pad.modify([], delete: [saved.recordID])

    let answer = HandlerCalls(world.handler(world.stub()))
      .modify([world.note("a", ["x": 2], tag: saved.changeTag)])

    #expect(answer?.codes == [11])
    let phone = world.device()
    try phone.save([world.note("a", ["x": 2], tag: saved.changeTag)])
    #expect(phone.state.parkedRecords.isEmpty)
    #expect(try world.stubs.record("a")?["x"] == 2)
  }

  @Test("Scenario 14: a field that is null is removed, an absent one stays")
  func nullAndAbsent() throws {
    let phone = world.device()
    try phone.save([world.note("a", ["x": 1, "y": 1, "z": 1])])
    let tag = phone.announced.completions[0].savedRecords[0].changeTag

    try phone.save([world.note("a", ["x": 2, "y": .null], tag: tag)])

    let record = try #require(try world.stubs.record("a"))
    #expect(record["x"] == 2)
    #expect(record["y"] == nil || record["y"] == .null)
    #expect(record["z"] == 1)
  }

  @Test("A store that fails costs a look-up, is told of, and loses nothing")
  func storeFails() throws {
    let told = Shared(0)
    let stub = world.stub()
    let handler = world.handler(stub, systemFields: BrokenStore()) { options in
      options.onStoreError = { _ in told.with { $0 += 1 } }
    }
    let calls = HandlerCalls(handler)
    _ = calls.createZone()
    let saved = try #require(try calls.modify([world.note("a")])?.get().savedRecords.first)

    let answer = try #require(
      try calls.modify([world.note("a", ["x": 2], tag: saved.changeTag)])?.get()
    )

    #expect(answer.savedRecords.count == 1)
    #expect(told.with { $0 } >= 3)
    #expect(try world.stubs.record("a")?["x"] == 2)
  }

  @Test(
    "A conflict that CloudKit tells without the server's record is looked up, all of a request at once"
  )
  func conflictsAreExplained() throws {
    var ways = StubWays()
    ways.conflictsHaveRecords = false
    let stub = world.stub(ways: ways)
    let calls = HandlerCalls(world.handler(stub))
    _ = calls.createZone()
    _ = try saveElsewhere(world.note("a", ["x": 7]))
    _ = try saveElsewhere(world.note("b", ["x": 8]))
    stub.forgetRequests()

    let answer = try #require(calls.modify([world.note("a"), world.note("b"), world.note("c")]))

    #expect(answer.codes == [14, 14])
    #expect(answer.failures.map(\.error.serverRecord?["x"]) == [7, 8])
    #expect(answer.saved == ["c"])
    #expect(stub.requests.map(\.kind) == [.modify, .lookUp])
  }
}

/// A store that cannot be read or written.
private struct BrokenStore: SystemFieldsStore {
  private static let error = SystemFieldsStoreError("the disk is full; make room")

  func load(_ recordIDs: [RecordID]) throws(SystemFieldsStoreError) -> [Data?] { throw Self.error }
  func save(_ systemFields: [SystemFields]) throws(SystemFieldsStoreError) { throw Self.error }
  func remove(_ recordIDs: [RecordID]) throws(SystemFieldsStoreError) { throw Self.error }
}
