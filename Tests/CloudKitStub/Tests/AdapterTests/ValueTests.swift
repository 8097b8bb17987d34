import CloudKit
import CloudSyncCloudKit
import CloudSyncLocalCloud
import CloudSyncSession
import CloudSyncSimulator
import Foundation
import StubCloud
import Testing

@Suite("Values")
struct ValueTests {
  private let world = AdapterWorld()

  /// Saves a record on one device, and reads it on another.
  private func roundTrip(_ record: Record) throws -> Record? {
    let pad = HandlerCalls(world.handler(world.stub("pad")))
    _ = pad.createZone()
    let answer = try #require(pad.modify([record]))
    #expect(answer.codes == [])
    return try HandlerCalls(world.handler(world.stub())).lookUp([record.recordID])?.get()
      .changedRecords.first
  }

  @Test("Scenario 24: whole numbers, doubles and truth values keep their kinds")
  func numbers() throws {
    let found = try roundTrip(
      world.note(
        "a",
        [
          "one": .int64(1), "oneDouble": .double(1), "least": .int64(.min), "zero": .double(-0.0),
          "list": .list([.double(1), .double(2)]), "whole": .list([.int64(1), .int64(2)]),
        ]
      )
    )

    #expect(found?["one"] == .int64(1))
    #expect(found?["oneDouble"] == .double(1))
    #expect(found?["least"] == .int64(.min))
    #expect(found?["zero"] == .double(-0.0))
    #expect(found?["list"] == .list([.double(1), .double(2)]))
    #expect(found?["whole"] == .list([.int64(1), .int64(2)]))
  }

  @Test("Scenario 24: what another app has written as numbers is read by kind, and stays so")
  func foreignNumbers() throws {
    let zoneID = CKRecordZone.ID(zoneName: StubWorld.zoneName)
    let id = CKRecord.ID(recordName: "a", zoneID: zoneID)
    let server = CKRecord(recordType: "Note", recordID: id)
    server["one"] = NSNumber(value: Int64(1))
    server["oneDouble"] = NSNumber(value: 1.0)
    server["truth"] = NSNumber(value: true)
    // The stub's cloud knows no truth values: only the record of a conflict brings one as it is.
    let error = StubErrors.error(14, userInfo: [CKRecordChangedErrorServerRecordKey: server])
    let stub = world.stub("mac")
    let calls = HandlerCalls(world.handler(stub))
    _ = calls.createZone()
    stub.setFault { $0.kind == .modify ? .items(["a": error]) : nil }

    let answer = try #require(calls.modify([world.note("a")]))
    let read = try #require(answer.failures.first?.error.serverRecord)
    let fields = read.fields

    #expect(fields.map(\.name) == ["one", "oneDouble", "truth"])
    #expect(fields.map(\.value) == [.int64(1), .double(1), .int64(1)])
    #expect(try roundTrip(read)?.fields == fields)
  }

  @Test("Places come back with what is absent absent")
  func places() throws {
    let full = Location(
      latitude: 1.5,
      longitude: -2.5,
      altitude: 0,
      horizontalAccuracy: 0,
      verticalAccuracy: 3,
      course: 359,
      speed: 0,
      timestamp: Timestamp(nanoseconds: 1_700_000_000_123_456_000)
    )
    let bare = Location(latitude: 0, longitude: 0)
    let high = Location(latitude: 0, longitude: 0, altitude: 0)
    let deep = Location(latitude: 0, longitude: 0, altitude: -11, speed: 1)

    for place in [full, bare, high, deep] {
      let found = try roundTrip(
        world.note(
          "p\([full, bare, high, deep].firstIndex(of: place) ?? 9)",
          ["p": .location(place)]
        )
      )
      #expect(found?["p"] == .location(place))
    }
  }

  @Test(
    "What CloudKit cannot hold fails its record with 12 before anything is sent; the others are saved",
    arguments: [
      FieldValue.double(.nan), .double(.infinity), .list([.list(["a"])]), .list(["a", 1]),
      .list([.null]), .list([.double(.nan)]),
      .redacted(Redaction(kind: "string", byteCount: 1, digest: "0")),
      .location(Location(latitude: .nan, longitude: 0)),
      .location(Location(latitude: 0, longitude: 0, speed: -1)),
      .location(Location(latitude: 0, longitude: 0, verticalAccuracy: 1)),
      .reference(Reference(recordID: RecordID(name: "a", zoneID: ZoneID(name: "Elsewhere")))),
      .reference(Reference(recordID: RecordID(name: "", zoneID: StubWorld.zoneID))),
    ]
  )
  func unholdable(value: FieldValue) throws {
    let stub = world.stub()
    let calls = HandlerCalls(world.handler(stub))
    _ = calls.createZone()

    let answer = try #require(calls.modify([world.note("a", ["v": value]), world.note("b")]))

    #expect(answer.failures.map(\.recordID.name) == ["a"])
    #expect(answer.codes == [12])
    #expect(answer.failures.first?.error.message.hasPrefix("v: ") == true)
    #expect(stub.requests.last?.saves.map(\.name) == ["b"])
  }

  @Test("What would make CloudKit raise an exception never reaches it")
  func exceptions() throws {
    let calls = HandlerCalls(world.handler(world.stub()))
    _ = calls.createZone()
    let other = RecordID(name: "a", zoneID: ZoneID(name: "Elsewhere"))
    let records = [
      Record(recordType: "", recordID: world.id("type")),
      Record(recordType: "cloudkit.share", recordID: world.id("share")),
      Record(recordType: "Note", recordID: world.id("")),
      Record(recordType: "Note", recordID: world.id("_hidden")),
      Record(recordType: "Note", recordID: world.id(String(repeating: "x", count: 256))),
      Record(recordType: "Note", recordID: world.id("field"), fields: ["a b": 1]),
      Record(recordType: "Note", recordID: other),
    ]

    let answer = try #require(calls.modify(records, delete: [world.id("_gone")]))

    #expect(answer.codes == Array(repeating: 12, count: 8))
    let twice = calls.modify([world.note("a"), world.note("a")])
    #expect(twice?.failure?.code == .invalidArguments)
    #expect(twice?.codes == [])
  }

  @Test(
    "Scenario 25: an encrypted field that is fetched and edited elsewhere is still encrypted on the server",
    arguments: [false, true]
  )
  func encrypted(isListed: Bool) throws {
    var ways = StubWays()
    ways.listsEncryptedKeys = isListed
    let pad = world.device("pad", ways: ways)
    var note = world.note("a", ["secret": "x", "open": "y", "list": .list([.data(Data([1]))])])
    note.encryptedKeys = ["list", "secret"]
    try pad.save([note])
    let phone = world.device(ways: ways)
    phone.fetch()
    let fetched = try #require(phone.announced.pages.flatMap(\.changedRecords).first)
    #expect(fetched.encryptedKeys == ["list", "secret"])
    #expect(fetched.fields.map(\.name) == ["list", "open", "secret"])

    var edit = world.note("a", ["secret": "z"], tag: fetched.changeTag)
    edit.encryptedKeys = ["secret"]
    try phone.save([edit])

    let record = try #require(try world.stubs.record("a"))
    #expect(record.encryptedKeys == ["list", "secret"])
    #expect(record["secret"] == "z")
    #expect(record["open"] == "y")
  }

  @Test(
    "Scenario 25: an encrypted reference or asset fails its record with 12",
    arguments: ["r", "a", "l"]
  )
  func encryptedReference(kind: String) throws {
    let stub = world.stub()
    let calls = HandlerCalls(world.handler(stub))
    _ = calls.createZone()
    let link = FieldValue.reference(Reference(recordID: world.id("b")))
    let file = Asset(
      sha256: Data(repeating: 1, count: 32),
      byteCount: 0,
      location: try world.stubs.file("f", [])
    )
    let values: [String: FieldValue] = ["r": link, "a": .asset(file), "l": .list([link])]
    var note = world.note("a", ["v": try #require(values[kind])])
    note.encryptedKeys = ["v"]

    let answer = try #require(calls.modify([note, world.note("b")]))

    #expect(answer.codes == [12] && answer.failures.map(\.recordID.name) == ["a"])
    // The stub's cloud refuses it too, but CloudKit raises an exception before.
    #expect(stub.requests.last?.saves.map(\.name) == ["b"])
  }

  @Test("A parent is set, and stays when other fields are saved")
  func parents() throws {
    let phone = world.device()
    try phone.save([world.note("top")])
    var child = world.note("child")
    child.parent = world.id("top")
    try phone.save([child])
    let tag = phone.announced.completions.last?.savedRecords.first?.changeTag
    try phone.save([world.note("child", ["x": 2], tag: tag)])

    #expect(try world.stubs.record("child")?.parent == world.id("top"))
    phone.fetch()
    let fetched = phone.announced.pages.flatMap(\.changedRecords)
      .last { $0.recordID.name == "child" }
    #expect(fetched?.parent == world.id("top"))
    #expect(fetched?.creationDate != nil)
  }
}
