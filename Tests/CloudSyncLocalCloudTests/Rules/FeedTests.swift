import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncTestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("LocalCloud: the feed of a zone")
struct FeedTests {
  private func fill(_ device: Device, _ count: Int) throws {
    for index in 0..<count { try device.save(device.note("r\(index)")) }
  }

  @Test(
    "A record that changed often comes once, at its last place; own writes come back",
    arguments: StoreKind.allCases
  )
  func compacted(kind: StoreKind) throws {
    let device = try CloudWorld(kind).device()
    var tag = try device.save(device.note("a"))[0].changeTag
    try device.save(device.note("b"))
    for x in 2..<6 {
      tag = try device.save(device.note("a", ["x": .int64(Int64(x))], tag: tag))[0].changeTag
    }

    let page = try device.fetch().get()

    #expect(page.changedRecords.map(\.recordID.name) == ["b", "a"])
    #expect(page.changedRecords.last?.changeTag == tag)
    #expect(page.changedRecords.last?["x"] == 5)
    #expect(!page.hasMore)
  }

  @Test(
    "Deletions come as tombstones, from the beginning too, with the type by option",
    arguments: StoreKind.allCases
  )
  func tombstones(kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let device = try world.device()
    try fill(device, 2)
    _ = try device.modify(delete: ["r0"]).get()

    let page = try device.fetch().get()
    #expect(page.changedRecords.map(\.recordID.name) == ["r1"])
    #expect(page.deletedRecords == [DeletedRecord(recordID: device.id("r0"), recordType: "Note")])

    world.change { $0.tellsDeletedTypes = false }
    #expect(try device.fetch().get().deletedRecords == [DeletedRecord(recordID: device.id("r0"))])
  }

  @Test("Pages hold so many changes, and say that more follow", arguments: StoreKind.allCases)
  func pages(kind: StoreKind) throws {
    let device = try CloudWorld(kind) { $0.pageSize = 3 }.device()
    try fill(device, 7)

    let pages = try device.pages()

    #expect(pages.map(\.changedRecords.count) == [3, 3, 1])
    #expect(pages.map(\.hasMore) == [true, true, false])
    #expect(Set(pages.map(\.changeToken)).count == 3)
  }

  @Test("Tokens are not used up, and go forward and back", arguments: StoreKind.allCases)
  func tokensRepeat(kind: StoreKind) throws {
    let device = try CloudWorld(kind) { $0.pageSize = 2 }.device()
    try fill(device, 6)
    let pages = try device.pages()

    for index in [2, 0, 1, 1, 0] {
      let token = index == 0 ? nil : pages[index - 1].changeToken
      #expect(try device.fetch(token).get() == pages[index])
    }
  }

  @Test(
    "Tokens hold for every device of the account, and for every page size",
    arguments: StoreKind.allCases
  )
  func tokensOfOthers(kind: StoreKind) throws {
    let world = try CloudWorld(kind) { $0.pageSize = 2 }
    let phone = try world.device("phone")
    try fill(phone, 5)
    let token = try phone.fetch().get().changeToken

    world.change { $0.pageSize = 100 }

    #expect(
      try world.connect("pad").fetch(token).get().changedRecords.map(\.recordID.name) == [
        "r2", "r3", "r4",
      ]
    )
  }

  @Test(
    "A token that has caught up stays the same, and is good for what comes later",
    arguments: StoreKind.allCases
  )
  func caughtUp(kind: StoreKind) throws {
    let device = try CloudWorld(kind).device()
    let empty = try device.fetch().get()
    #expect(empty.isEmpty && !empty.hasMore)
    try fill(device, 2)
    let token = try device.fetch(empty.changeToken).get().changeToken

    #expect(try device.fetch(token).get().changeToken == token)
    #expect(try device.fetch(token).get().isEmpty)
    try device.save(device.note("later"))
    #expect(try device.fetch(token).get().changedRecords.map(\.recordID.name) == ["later"])
  }

  @Test("Empty pages with more to come are followed by the rest", arguments: StoreKind.allCases)
  func emptyPages(kind: StoreKind) throws {
    let device = try CloudWorld(kind) { options in
      options.pageSize = 2
      options.emptyPages = 70
    }
    .device()
    try fill(device, 3)

    let pages = try device.pages()

    #expect(pages.count == 71 + 71)
    #expect(pages.filter(\.isEmpty).allSatisfy { $0.hasMore })
    #expect(Set(pages.map(\.changeToken)).count == pages.count)
    #expect(pages.flatMap(\.changedRecords).count == 3)
    #expect(try device.fetch(pages[30].changeToken).get() == pages[31])
  }

  @Test(
    "Expired tokens are refused; those given afterwards are good",
    arguments: StoreKind.allCases
  )
  func expiry(kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let device = try world.device()
    try fill(device, 1)
    let old = try device.fetch().get().changeToken

    try world.cloud.expireTokens(CloudWorld.zoneID, account: CloudWorld.alice)

    #expect(device.fetch(old).error?.code == .changeTokenExpired)
    let page = try device.fetch().get()
    #expect(page.changedRecords.count == 1)
    #expect(device.fetch(page.changeToken).error == nil)
  }

  @Test(
    "A token of another life of the zone has expired, and one of another account is none",
    arguments: StoreKind.allCases
  )
  func foreignTokens(kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let device = try world.device()
    try fill(device, 3)
    let old = try device.fetch().get().changeToken
    let bob = try world.device("phone", CloudWorld.bob)
    #expect(bob.fetch(old).error?.code == .invalidArguments)

    try world.cloud.deleteZone(CloudWorld.zoneID, account: CloudWorld.alice)
    _ = try device.createZone().get()

    #expect(device.fetch(old).error?.code == .changeTokenExpired)
    #expect(try device.fetch().get().isEmpty)
  }

  @Test(
    "A token of another zone, of the database, or no token at all is invalid",
    arguments: StoreKind.allCases
  )
  func invalidTokens(kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let device = try world.device()
    try fill(device, 1)
    let other = try world.device("phone", CloudWorld.alice, ZoneID(name: "Other"))
    let token = try #require(try device.fetch().get().changeToken)
    var tokens = [token, try device.connection.fetchDatabaseChanges(since: nil).changeToken]
    for index in token.bytes.indices {
      var bytes = token.bytes
      bytes[index] ^= 1
      tokens.append(try #require(ChangeToken(bytes)))
    }
    for count in [1, 7, 8, 9, 99, 5_000] {
      tokens.append(try #require(ChangeToken(Data(repeating: 7, count: count))))
    }

    for token in tokens.dropFirst() {
      #expect(device.fetch(token).error?.code == .invalidArguments)
    }
    #expect(other.fetch(tokens[0]).error?.code == .invalidArguments)
    #expect(throws: SyncError.self) { try device.connection.fetchDatabaseChanges(since: token) }
  }

  @Test(
    "Single records are looked up, and missing ones are unknown items",
    arguments: StoreKind.allCases
  )
  func lookUp(kind: StoreKind) throws {
    let device = try CloudWorld(kind).device()
    try fill(device, 2)
    _ = try device.modify(delete: ["r1"]).get()

    let names = ["r0", "r1", "never", "_bad"]
    let page = try device.fetch(FetchOperation(lookingUp: names.map(device.id))).get()

    #expect(page.changedRecords.map(\.recordID.name) == ["r0"])
    #expect(page.changeToken == nil)
    #expect(page.failures.map(\.error.code) == [.unknownItem, .unknownItem, .invalidArguments])
    let many = (0..<401).map { device.id("r\($0)") }
    #expect(device.fetch(FetchOperation(lookingUp: many)).error?.code == .limitExceeded)
  }

  @Test(
    "Any script of saves and deletions: the pages make what the zone holds",
    arguments: StoreKind.allCases,
    SuiteSize.some(1, of: [1, 2, 3, 4])
  )
  func pagesMakeTheZone(kind: StoreKind, seed: UInt64) throws {
    let world = try CloudWorld(kind) { $0.pageSize = 5 }
    let device = try world.device()
    var random = SplitMix64(seed: seed)
    var mirror: [String: Record] = [:]
    var token: ChangeToken?
    for _ in 0..<60 {
      for _ in 0..<random.below(8) {
        let name = "r\(random.below(40))"
        if random.chance(1, in: 4) {
          _ = try device.modify(delete: [name]).get()
        } else {
          let tag = try world.record(name)?.changeTag
          try device.save(device.note(name, ["x": .int64(Int64(random.below(9)))], tag: tag))
        }
      }
      for page in try device.pages(after: token) {
        for record in page.changedRecords { mirror[record.recordID.name] = record }
        for recordID in page.deletedRecordIDs { mirror[recordID.name] = nil }
        token = page.changeToken
      }
      let records = mirror.values.sorted { $0.recordID < $1.recordID }
      #expect(
        try world.cloud.records(account: CloudWorld.alice, zone: CloudWorld.zoneID) == records
      )
    }
    let fresh = try device.pages().flatMap(\.changedRecords).sorted { $0.recordID < $1.recordID }
    #expect(fresh == mirror.values.sorted { $0.recordID < $1.recordID })
  }

  @Test(
    "A page ends where it has enough bytes, and the next goes on",
    arguments: StoreKind.allCases
  )
  func largeRecords(kind: StoreKind) throws {
    let device = try CloudWorld(kind) { $0.pageByteLimit = 5_000 }.device()
    for index in 0..<10 {
      let size = index == 7 ? 20_000 : 2_000
      try device.save(device.note("r\(index)", ["x": .data(Data(repeating: 1, count: size))]))
    }
    var token: ChangeToken?
    var pages: [[String]] = []
    repeat {
      let page = try device.fetch(FetchOperation(changeToken: token)).get()
      pages.append(page.changedRecords.map(\.recordID.name))
      token = page.changeToken
      if !page.hasMore { break }
    } while pages.count < 20
    #expect(pages == [["r0", "r1", "r2"], ["r3", "r4", "r5"], ["r6", "r7"], ["r8", "r9"]])
  }
}
