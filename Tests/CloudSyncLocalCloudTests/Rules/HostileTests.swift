import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncTestSupport
import Testing

@Suite("LocalCloud: hostile requests")
struct HostileTests {
  @Test("Records of other zones and owners are refused one by one", arguments: StoreKind.allCases)
  func foreignRecords(kind: StoreKind) throws {
    let world = try CloudWorld(kind) { $0.isAtomic = false }
    let device = try world.device()
    let zones = [
      ZoneID(name: "Other"), ZoneID(name: "Notes", owner: "bob"),
      ZoneID(name: "Notes", scope: .shared),
    ]
    for (index, zoneID) in zones.enumerated() {
      let foreign = RecordID(name: "r\(index)", zoneID: zoneID)
      let record = Record(recordType: "Note", recordID: foreign, fields: ["x": 1])

      #expect(
        device.modify([record, device.note("mine\(index)")]).itemCodes == [
          "r\(index)": .invalidArguments
        ]
      )
      let deletion = ModifyOperation(recordIDsToDelete: [foreign])
      #expect(device.modify(deletion).itemCodes == ["r\(index)": .invalidArguments])
      let page = try device.fetch(FetchOperation(lookingUp: [foreign])).get()
      #expect(page.failures.map(\.error.code) == [.invalidArguments])
    }
    #expect(try world.names() == ["mine0", "mine1", "mine2"])
  }

  @Test("Names that cannot be are refused", arguments: StoreKind.allCases)
  func badNames(kind: StoreKind) throws {
    let device = try CloudWorld(kind).device()
    for name in ["", "_a", "é", String(repeating: "x", count: 256)] {
      #expect(device.modify([device.note(name)]).itemCodes == [name: .invalidArguments])
      #expect(device.modify(delete: [name]).itemCodes == [name: .invalidArguments])
    }
    for name in ["", "1a", "a-b", "é", "_a"] {
      #expect(device.modify([device.note("a", [name: 1])]).itemCodes == ["a": .invalidArguments])
      let record = Record(recordType: name, recordID: device.id("a"))
      #expect(device.modify([record]).itemCodes == ["a": .invalidArguments])
    }
    let share = Record(recordType: "cloudkit.share", recordID: device.id("a"))
    #expect(device.modify([share]).itemCodes == ["a": .invalidArguments])
  }

  @Test("Odd names that can be are kept apart", arguments: StoreKind.allCases)
  func oddNames(kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let device = try world.device()
    let names = [
      "a", "a\u{0}", "a\u{0}b", "A", " ", "'; DROP TABLE items; --", "%", "a/b", "\u{1}",
    ]

    _ = try device.modify(names.map { device.note($0) }).get()

    #expect(Set(try world.names()) == Set(names))
    #expect(try world.names().count == names.count)
    _ = try device.modify(delete: ["a\u{0}"]).get()
    #expect(try world.names().count == names.count - 1)
  }

  @Test("Forged change tags lose against the server's record", arguments: StoreKind.allCases)
  func forgedTags(kind: StoreKind) throws {
    let device = try CloudWorld(kind).device()
    let saved = try device.save(device.note("a"))[0]
    let tag = try #require(saved.changeTag)

    for forged in [
      "", "0", tag + "0", tag.uppercased() + "A", String(repeating: "x", count: 100_000),
    ] {
      #expect(
        device.modify([device.note("a", tag: forged)]).itemCodes == ["a": .serverRecordChanged]
      )
    }
  }

  @Test("An empty request does nothing", arguments: StoreKind.allCases)
  func emptyRequest(kind: StoreKind) throws {
    let device = try CloudWorld(kind).device()

    let response = try device.modify().get()

    #expect(response.savedRecords.isEmpty && response.failures.isEmpty)
  }

  @Test("Values that no cloud keeps are refused")
  func redactedValues() throws {
    let device = try CloudWorld().device()
    var deep = FieldValue.list([1])
    for _ in 0..<20 { deep = .list([deep]) }

    #expect(device.modify([device.note("a", ["x": deep])]).itemCodes == ["a": .invalidArguments])
  }

  @Test("Assets whose lengths overflow are refused, and break no sum")
  func hugeAssets() throws {
    let world = try CloudWorld { $0.assetByteLimit = .max }
    let device = try world.device()
    let asset = FieldValue.asset(
      Asset(sha256: .init(repeating: 1, count: 32), byteCount: .max, location: "a")
    )
    try world.cloud.setQuota(1_000, account: CloudWorld.alice)

    #expect(
      device.modify([device.note("a", ["x": asset, "y": asset])]).itemCodes == ["a": .quotaExceeded]
    )
    try world.cloud.setQuota(nil, account: CloudWorld.alice)
    try device.save(device.note("a", ["x": asset]))
    try device.save(device.note("b", ["list": .list([asset, asset])]))
    _ = try device.modify(delete: ["a", "b"]).get()
  }

  @Test("A list of very many references is judged in one go", arguments: StoreKind.allCases)
  func manyReferences(kind: StoreKind) throws {
    let device = try CloudWorld(kind) { $0.referenceCheck = .none }.device()
    // Compared with each other 20,000 would be 400 million pairs.
    let references = (0..<SuiteSize.count(2_500, long: 20_000))
      .map { FieldValue.reference(Reference(recordID: device.id("t\($0)"), action: .deleteSelf)) }
    let first = try device.save(device.note("a", ["list": .list(references)]))[0]
    let more =
      references.dropFirst()
      + [FieldValue.reference(Reference(recordID: device.id("new"), action: .deleteSelf))]
    try device.save(device.note("a", ["list": .list(Array(more))], tag: first.changeTag))

    try device.save(device.note("t0"))
    _ = try device.modify(delete: ["t0"]).get()
    #expect(try device.fetch().get().changedRecords.map(\.recordID.name) == ["a"])
    try device.save(device.note("new"))
    _ = try device.modify(delete: ["new"]).get()
    #expect(try device.fetch().get().changedRecords.isEmpty)
  }

  @Test("A record of very many encrypted fields is judged in one go")
  func manyEncryptedKeys() throws {
    let device = try CloudWorld().device()
    var fields: [String: FieldValue] = [:]
    for number in 0..<20_000 { fields["f\(number)"] = 1 }
    var record = device.note("a", fields)
    record.encryptedKeys = Array(fields.keys)
    try device.save(record)
    let saved = try #require(try device.fetch().get().changedRecords.first)
    #expect(saved.encryptedKeys.count == 20_000 && saved.fields.count == 20_000)
  }

  @Test("Zones, record types and fields have an end where the options say so")
  func limits() throws {
    let world = try CloudWorld {
      $0.zoneLimit = 2
      $0.schemaLimit = (types: 2, fields: 3)
    }
    let device = try world.device()
    let second = try world.device("phone", CloudWorld.alice, ZoneID(name: "Second"))
    let third = world.connect("phone", CloudWorld.alice, ZoneID(name: "Third"))
    #expect(third.createZone().error?.code == .limitExceeded)
    // One that exists, or existed, takes no more room.
    #expect(try second.createZone().get())
    try world.cloud.deleteZone(ZoneID(name: "Second"), account: CloudWorld.alice)
    #expect(third.createZone().error?.code == .limitExceeded)
    #expect(try second.createZone().get())

    try device.save(device.note("a", ["x": 1, "y": 1, "z": 1]))
    #expect(device.modify([device.note("b", ["w": 1])]).itemCodes == ["b": .invalidArguments])
    try device.save(Record(recordType: "Other", recordID: device.id("c")))
    let more = Record(recordType: "More", recordID: device.id("d"))
    #expect(device.modify([more]).itemCodes == ["d": .invalidArguments])
    try device.save(device.note("b", ["x": 1]))
  }

  @Test(
    "An account whose record types are its own cannot fix another's, nor use up its number of them"
  )
  func ownSchemas() throws {
    let world = try CloudWorld {
      $0.hasSchemaPerAccount = true
      $0.schemaLimit = (types: 1, fields: 2)
    }
    let alice = try world.device("phone", CloudWorld.alice)
    let bob = try world.device("mac", CloudWorld.bob)
    try alice.save(alice.note("a", ["x": 1]))
    try bob.save(bob.note("a", ["x": "text", "y": 1]))
    #expect(alice.modify([alice.note("b", ["x": "text"])]).itemCodes == ["b": .invalidArguments])
    #expect(bob.modify([bob.note("b", ["x": 1])]).itemCodes == ["b": .invalidArguments])
    let other = Record(recordType: "Other", recordID: bob.id("c"))
    #expect(bob.modify([other]).itemCodes == ["c": .invalidArguments])
  }

  @Test("Accounts of a store that shared its record types begin with those")
  func formerlyShared() throws {
    let world = try CloudWorld()
    let alice = try world.device("phone", CloudWorld.alice)
    try alice.save(alice.note("a", ["x": 1]))
    world.change { $0.hasSchemaPerAccount = true }
    let bob = try world.device("mac", CloudWorld.bob)
    #expect(bob.modify([bob.note("b", ["x": "text"])]).itemCodes == ["b": .invalidArguments])
    try bob.save(bob.note("b", ["x": 1, "y": "text"]))
    try alice.save(alice.note("b", ["y": 1]))
  }

  @Test(
    "A look-up is answered as far as it has room, with one record at least; the rest is not told of"
  )
  func largeLookups() throws {
    let world = try CloudWorld { $0.pageByteLimit = 100_000 }
    let device = try world.device()
    let text = FieldValue.string(String(repeating: "x", count: 60_000))
    for name in ["a", "b", "c"] { try device.save(device.note(name, ["text": text])) }
    let recordIDs = ["a", "none", "b", "c"].map(device.id)
    let page = try device.fetch(FetchOperation(lookingUp: recordIDs)).get()
    #expect(page.changedRecords.map(\.recordID.name) == ["a", "b"])
    #expect(page.failures.map(\.recordID.name) == ["none"])
    world.change { $0.pageByteLimit = 1 }
    let least = try device.fetch(FetchOperation(lookingUp: recordIDs)).get()
    #expect(least.changedRecords.map(\.recordID.name) == ["a"])
  }
}
