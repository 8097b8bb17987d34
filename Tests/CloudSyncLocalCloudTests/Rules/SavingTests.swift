import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncTestSupport
import Testing

@Suite("LocalCloud: change tags and save policies")
struct SavingTests {
  @Test("Every save gives a record a new change tag", arguments: StoreKind.allCases)
  func newTagPerSave(kind: StoreKind) throws {
    let device = try CloudWorld(kind).device()

    var tags: [String] = []
    for _ in 0..<5 {
      let saved = try device.save(device.note("a", ["x": 1], tag: tags.last))
      tags.append(try #require(saved[0].changeTag))
    }

    #expect(Set(tags).count == 5)
  }

  @Test("A save with a tag that is not the record's is refused with the server's record")
  func conflictCarriesServerRecord() throws {
    let device = try CloudWorld().device()
    let first = try device.save(device.note("a"))[0]
    try device.save(device.note("a", ["x": 2, "y": 3], tag: first.changeTag))

    let answer = device.modify([device.note("a", ["x": 9], tag: first.changeTag)])

    let error = try #require(answer.error)
    #expect(error.code == .partialFailure)
    let item = try #require(error.itemErrors.first?.error)
    #expect(item.code == .serverRecordChanged)
    #expect(item.serverRecord?["x"] == 2)
    #expect(item.serverRecord?["y"] == 3)
    #expect(item.clientRecord?["x"] == 9)
  }

  @Test("A save without a tag is refused when the record exists", arguments: StoreKind.allCases)
  func recordExists(kind: StoreKind) throws {
    let device = try CloudWorld(kind).device()
    try device.save(device.note("a"))

    #expect(device.modify([device.note("a")]).itemCodes == ["a": .serverRecordChanged])
  }

  @Test("A save with a tag is refused when the record is gone", arguments: StoreKind.allCases)
  func recordGone(kind: StoreKind) throws {
    let device = try CloudWorld(kind).device()
    let saved = try device.save(device.note("a"))[0]
    _ = try device.modify(delete: ["a"]).get()

    #expect(device.modify([saved]).itemCodes == ["a": .unknownItem])
    #expect(device.modify([device.note("b", tag: "forged")]).itemCodes == ["b": .unknownItem])
  }

  @Test("A deleted record can be made again", arguments: StoreKind.allCases)
  func recreate(kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let device = try world.device()
    let first = try device.save(device.note("a", ["old": 1]))[0]
    _ = try device.modify(delete: ["a"]).get()

    let again = try device.save(device.note("a", ["new": 1]))[0]

    #expect(again.changeTag != first.changeTag)
    #expect(try world.record("a")?.fields.map(\.name) == ["new"])
  }

  @Test(
    "A save sets what it has, removes what is null, and keeps the rest",
    arguments: StoreKind.allCases
  )
  func mergesByField(kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let device = try world.device()
    let first = try device.save(device.note("a", ["x": 1, "y": 2, "z": 3]))[0]

    let edit = device.note("a", ["x": 9, "y": .null, "none": .null], tag: first.changeTag)
    let answer = try device.save(edit)[0]

    let stored = try #require(try world.record("a"))
    #expect(stored.fields.map(\.name) == ["x", "z"])
    #expect(stored["x"] == 9)
    #expect(stored.changeTag == answer.changeTag)
  }

  @Test(
    "The other policies compare no tags, create what is missing, and merge by field",
    arguments: [LocalCloudOptions.SavePolicy.changedKeys, .allKeys],
    StoreKind.allCases
  )
  func otherPolicies(policy: LocalCloudOptions.SavePolicy, kind: StoreKind) throws {
    let world = try CloudWorld(kind) { $0.savePolicy = policy }
    let device = try world.device()
    try device.save(device.note("a", ["x": 1, "y": 2], tag: "gone"))

    try device.save(device.note("a", ["x": 5], tag: "wrong"))

    let stored = try #require(try world.record("a"))
    #expect(stored["x"] == 5)
    #expect(stored["y"] == 2)
  }

  @Test("The server sets the dates: the first for good, the second at every save")
  func serverSetsDates() throws {
    let world = try CloudWorld()
    let device = try world.device()
    var edit = device.note("a")
    edit.modificationDate = .distantPast
    let first = try device.save(edit)[0]
    let creation = world.now
    world.advance(by: .seconds(5))

    try device.save(device.note("a", tag: first.changeTag))

    let stored = try #require(try world.record("a"))
    #expect(stored.creationDate == creation)
    #expect(stored.modificationDate == world.now)
  }

  @Test("A record keeps its type")
  func typeStays() throws {
    let device = try CloudWorld().device()
    let saved = try device.save(device.note("a"))[0]
    var other = Record(recordType: "Task", recordID: saved.recordID, fields: ["x": 1])
    other.changeTag = saved.changeTag

    #expect(device.modify([other]).itemCodes == ["a": .invalidArguments])
  }

  @Test(
    "Saving a record gives its parent a new tag, unless the option says otherwise",
    arguments: [true, false]
  )
  func touchesParent(option: Bool) throws {
    let world = try CloudWorld { $0.touchesParents = option }
    let device = try world.device()
    let parent = try device.save(device.note("parent"))[0]
    let token = try device.pages().last?.changeToken
    var child = device.note("child")
    child.parent = parent.recordID

    try device.save(child)

    let stored = try #require(try world.record("parent"))
    #expect((stored.changeTag != parent.changeTag) == option)
    #expect(stored["x"] == 1)
    let names = try device.pages(after: token).flatMap(\.changedRecords).map(\.recordID.name)
    #expect(names == (option ? ["child", "parent"] : ["child"]))
  }

  @Test(
    "A write token that comes again is answered as the first time",
    arguments: StoreKind.allCases
  )
  func writeToken(kind: StoreKind) throws {
    let device = try CloudWorld(kind).device()
    try device.save(device.note("old"))
    let records = [device.note("a", ["x": 1, "no": .null]), device.note("b")]

    let first = try device.modify(records, delete: ["old"], token: 50).get()
    let second = try device.modify(records, delete: ["old"], token: 50).get()

    #expect(second.savedRecords.map(\.changeTag) == first.savedRecords.map(\.changeTag))
    #expect(second.savedRecords == first.savedRecords)
    #expect(second.deletedRecordIDs == first.deletedRecordIDs)
    #expect(second.failures.isEmpty)
  }

  @Test("Failed items are told again with a known write token", arguments: StoreKind.allCases)
  func writeTokenWithFailures(kind: StoreKind) throws {
    let device = try CloudWorld(kind) { $0.isAtomic = false }.device()
    try device.save(device.note("taken"))
    let records = [device.note("taken"), device.note("a")]

    let first = try device.modify(records, token: 50).get()
    let second = try device.modify(records, token: 50).get()

    #expect(first.savedRecords == second.savedRecords)
    #expect(second.failures == first.failures)
    #expect(second.failures.count == 1)
  }

  @Test("Only the last write token of a device is known, and not at all without the option")
  func forgetsWriteTokens() throws {
    let world = try CloudWorld()
    let device = try world.device()
    _ = try device.modify([device.note("a")], token: 50).get()
    _ = try device.modify([device.note("b")], token: 51).get()
    #expect(device.modify([device.note("a")], token: 50).itemCodes == ["a": .serverRecordChanged])

    world.change { $0.knowsWriteTokens = false }
    _ = try device.modify([device.note("c")], token: 52).get()

    #expect(device.modify([device.note("c")], token: 52).itemCodes == ["c": .serverRecordChanged])
  }

  @Test(
    "A known write token with another request is refused, and that of another device is not known"
  )
  func writeTokenOfOthers() throws {
    let world = try CloudWorld()
    let phone = try world.device("phone")
    let pad = try world.device("pad")
    _ = try phone.modify([phone.note("a")], token: 50).get()

    #expect(phone.modify([phone.note("b")], token: 50).error?.code == .invalidArguments)
    #expect(try pad.modify([pad.note("c")], token: 50).get().savedRecords.count == 1)
  }
}
