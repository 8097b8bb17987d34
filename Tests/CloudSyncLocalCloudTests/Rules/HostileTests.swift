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
}
