import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncTestSupport
import Testing

@Suite("LocalCloud: batches, limits and failures")
struct BatchTests {
  @Test(
    "An atomic request stores nothing: culprits have their own code, the others 22",
    arguments: StoreKind.allCases
  )
  func atomic(kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let device = try world.device()
    try device.save(device.note("taken"), device.note("old"))

    let answer = device.modify([device.note("a"), device.note("taken")], delete: ["old"])

    #expect(answer.error?.code == .partialFailure)
    #expect(
      answer.itemCodes == [
        "a": .batchRequestFailed, "taken": .serverRecordChanged, "old": .batchRequestFailed,
      ]
    )
    #expect(answer.error?.itemErrors.map(\.recordID.name) == ["a", "taken", "old"])
    #expect(try world.names() == ["old", "taken"])
  }

  @Test(
    "A request that is not atomic tells failed items only, and stores the rest",
    arguments: StoreKind.allCases
  )
  func notAtomic(kind: StoreKind) throws {
    let world = try CloudWorld(kind) { $0.isAtomic = false }
    let device = try world.device()
    try device.save(device.note("taken"), device.note("old"))

    let answer = device.modify([device.note("a"), device.note("taken")], delete: ["old"])

    let response = try answer.get()
    #expect(response.savedRecords.map(\.recordID.name) == ["a"])
    #expect(response.deletedRecordIDs.map(\.name) == ["old"])
    #expect(answer.itemCodes == ["taken": .serverRecordChanged])
    #expect(try world.names() == ["a", "taken"])
  }

  @Test("An option says whether a failure of all is an error or a response")
  func failureShape() throws {
    for isAtomic in [true, false] {
      let world = try CloudWorld { options in
        options.isAtomic = isAtomic
        options.partialFailureShape = .response
      }
      let device = try world.device()
      try device.save(device.note("taken"))

      let response = try device.modify([device.note("taken")]).get()

      #expect(response.failures.map(\.error.code) == [.serverRecordChanged])
      world.change { $0.partialFailureShape = .error }
      #expect(device.modify([device.note("taken")]).error?.code == .partialFailure)
    }
  }

  @Test("A record that is in a request twice makes it invalid", arguments: StoreKind.allCases)
  func duplicates(kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let device = try world.device()

    #expect(device.modify([device.note("a"), device.note("a")]).error?.code == .invalidArguments)
    #expect(device.modify([device.note("a")], delete: ["a"]).error?.code == .invalidArguments)
    #expect(device.modify(delete: ["a", "a"]).error?.code == .invalidArguments)
    #expect(try world.names().isEmpty)
  }

  @Test(
    "The deletion of a missing record is done, or refused by option",
    arguments: StoreKind.allCases
  )
  func missingDeletion(kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let device = try world.device()
    #expect(try device.modify(delete: ["none"]).get().deletedRecordIDs.map(\.name) == ["none"])

    world.change { $0.missingDeletion = .unknownItem }

    #expect(device.modify(delete: ["none"]).itemCodes == ["none": .unknownItem])
  }

  @Test("A request has at most 400 items, saves and deletions together")
  func itemLimit() throws {
    let device = try CloudWorld().device()
    let records = (0..<400).map { device.note("r\($0)") }
    #expect(try device.modify(records).get().savedRecords.count == 400)

    let names = (0..<401).map { "r\($0)" }

    #expect(device.modify(delete: names).error?.code == .limitExceeded)
    #expect(
      device.modify([device.note("new")], delete: Array(names.prefix(400))).error?.code
        == .limitExceeded
    )
  }

  @Test("A request has at most so many bytes without assets, counted as sessions count them")
  func requestBytes() throws {
    let device = try CloudWorld { $0.requestByteLimit = 1_000 }.device()
    let record = device.note("a", ["x": .string(String(repeating: "x", count: 400))])
    let count = record.byteCount
    let fits = device.note(
      "b",
      ["x": .string(String(repeating: "x", count: 400 + 1_000 - 2 * count))]
    )
    #expect(fits.byteCount + count == 1_000)

    #expect(device.modify([record, fits]).error == nil)
    #expect(
      device.modify([
        device.note("aa", ["x": record["x"] ?? 0]), device.note("bb", ["x": fits["x"] ?? 0]),
      ])
      .error?
      .code
        == .limitExceeded
    )
  }

  @Test(
    "A record has at most so many bytes, what the server has of it included",
    arguments: StoreKind.allCases
  )
  func recordBytes(kind: StoreKind) throws {
    let device = try CloudWorld(kind) { $0.recordByteLimit = 500 }.device()
    let text = FieldValue.string(String(repeating: "x", count: 300))
    let saved = try device.save(device.note("a", ["x": text]))[0]

    #expect(
      device.modify([device.note("a", ["y": text], tag: saved.changeTag)]).itemCodes == [
        "a": .limitExceeded
      ]
    )
    #expect(
      device.modify([device.note("b", ["x": .string(String(repeating: "x", count: 600))])])
        .itemCodes
        == ["b": .limitExceeded]
    )
    let huge = FieldValue.string(String(repeating: "x", count: 1_200_000))
    #expect(device.modify([device.note("c", ["x": huge])]).itemCodes == ["c": .limitExceeded])
  }

  @Test("An asset has at most so many bytes, and counts nothing for the request")
  func assetBytes() throws {
    let device = try CloudWorld { $0.requestByteLimit = 1_000 }.device()
    func asset(_ count: Int64) -> FieldValue {
      .asset(Asset(sha256: .init(repeating: 1, count: 32), byteCount: count, location: "a"))
    }

    #expect(device.modify([device.note("a", ["file": asset(50_000_000)])]).error == nil)
    #expect(
      device.modify([device.note("b", ["file": asset(50_000_001)])]).itemCodes == [
        "b": .limitExceeded
      ]
    )
    #expect(
      device.modify([device.note("c", ["files": .list([asset(50_000_001)])])]).itemCodes == [
        "c": .limitExceeded
      ]
    )
  }

  @Test("A session is told the true limits, or others by option")
  func announcedLimits() throws {
    let world = try CloudWorld { $0.itemLimit = 10 }
    #expect(world.connect().connection.limits == RequestLimits(items: 10, bytes: 2_000_000))

    world.change { $0.announcedLimits = RequestLimits(items: 50, bytes: 9) }

    #expect(world.connect().connection.limits == RequestLimits(items: 50, bytes: 9))
  }

  @Test(
    "What does not fit the quota is refused; deletions, and edits that shrink, are not",
    arguments: StoreKind.allCases
  )
  func quota(kind: StoreKind) throws {
    let world = try CloudWorld(kind) { $0.isAtomic = false }
    let device = try world.device()
    let text = FieldValue.string(String(repeating: "x", count: 100))
    let first = try device.save(device.note("a", ["x": text]))[0]
    let used = try world.cloud.usedByteCount(account: CloudWorld.alice)
    #expect(used == Int64(first.byteCount))
    try world.cloud.setQuota(used + 10, account: CloudWorld.alice)

    #expect(device.modify([device.note("b", ["x": text])]).itemCodes == ["b": .quotaExceeded])
    let smaller = try device.save(device.note("a", ["x": "short"], tag: first.changeTag))[0]
    try device.save(device.note("b", ["x": "short"]))
    #expect(device.modify([device.note("c", ["x": text])], delete: ["a"]).error == nil)
    try world.cloud.setQuota(nil, account: CloudWorld.alice)
    #expect(device.modify([device.note("d", ["x": text])]).error == nil)
    _ = smaller

    _ = try device.modify(delete: ["b", "c", "d"]).get()
    #expect(try world.cloud.usedByteCount(account: CloudWorld.alice) == 0)
  }

  @Test("Assets count for the quota")
  func quotaCountsAssets() throws {
    let device = try CloudWorld { $0.quota = 10_000 }.device()
    let asset = Asset(sha256: .init(repeating: 1, count: 32), byteCount: 20_000, location: "a")

    #expect(
      device.modify([device.note("a", ["x": .asset(asset)])]).itemCodes == ["a": .quotaExceeded]
    )
  }
}
