import CloudSyncCore
import CloudSyncLocalCloud
import Foundation
import CloudSyncTestSupport
import Testing

@Suite("SQLiteStore")
struct SQLiteStoreTests {
  private let alice = CloudWorld.alice
  private let zoneID = CloudWorld.zoneID

  private func connect(_ path: String, _ device: String = "phone") throws -> Device {
    let world = try CloudWorld(at: path)
    return world.connect(device)
  }

  private func error(_ path: String) -> LocalCloudStoreError? {
    do throws(LocalCloudStoreError) { _ = try SQLiteStore(path: path) } catch { return error }
    return nil
  }

  @Test("What is in a file is there when it is opened again: records, tokens, write tokens, schema")
  func persists() throws {
    let path = ScratchFolder.shared.newPath()
    let first = try connect(path)
    _ = try first.createZone().get()
    _ = try first.modify([first.note("a"), first.note("b")], token: 70).get()
    let page = try first.fetch().get()

    let second = try connect(path)

    #expect(try second.fetch().get() == page)
    #expect(try second.fetch(page.changeToken).get().isEmpty)
    #expect(second.modify([second.note("a"), second.note("b")], token: 70).error == nil)
    #expect(second.modify([second.note("c", ["x": "text"])]).itemCodes == ["c": .invalidArguments])
  }

  @Test("After a checkpoint the file alone has everything, though it is open")
  func checkpoint() throws {
    let path = ScratchFolder.shared.newPath()
    let store = try SQLiteStore(path: path)
    let cloud = LocalCloud(store: store)
    let phone = cloud.connect(device: "phone", account: alice, zoneID: zoneID)
    let world = try CloudWorld(at: path).connect("pad")
    _ = try world.createZone().get()
    _ = try world.modify([world.note("a"), world.note("b")], token: 70).get()
    let page = try world.fetch().get()
    #expect(try #require(Self.size(path + "-wal")) > 0)
    try store.checkpoint()
    #expect(try #require(Self.size(path + "-wal")) == 0)

    let copy = ScratchFolder.shared.newPath()
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    #expect(try connect(copy).fetch().get() == page)
    withExtendedLifetime((phone, world)) {}
  }

  private static func size(_ path: String) -> Int? {
    FileManager.default.contents(atPath: path)?.count
  }

  @Test("Two stores on one file see each other's changes, and their tags and tokens agree")
  func twoConnections() throws {
    let path = ScratchFolder.shared.newPath()
    let phone = try connect(path, "phone")
    let pad = try CloudWorld(at: path) { $0.seed = 99 }.connect("pad")
    _ = try phone.createZone().get()
    let saved = try phone.save(phone.note("a"))[0]

    let fetched = try pad.fetch().get()

    #expect(fetched.changedRecords.map(\.changeTag) == [saved.changeTag])
    _ = try pad.save(pad.note("a", ["y": 2], tag: saved.changeTag))
    let news = try phone.fetch(fetched.changeToken).get()
    #expect(news.changedRecords.map(\.fields.count) == [2])
  }

  @Test("Threads with stores of their own write to one file at once, and nothing is lost")
  func contention() async throws {
    let path = ScratchFolder.shared.newPath()
    _ = try connect(path).createZone().get()

    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask {
          let device = try connect(path, "device\(writer)")
          for index in 0..<25 { try device.save(device.note("r\(writer)x\(index)")) }
        }
      }
      try await group.waitForAll()
    }

    let device = try connect(path)
    #expect(try device.pages().flatMap(\.changedRecords).count == 100)
  }

  @Test("Any number of stores may open a new file at the same time", arguments: 0..<5)
  func openedAtOnce(round: Int) async throws {
    let path = ScratchFolder.shared.newPath()

    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          let device = try connect(path, "device\(number)")
          _ = try device.createZone().get()
          try device.save(device.note("r\(number)"))
        }
      }
      try await group.waitForAll()
    }

    #expect(try CloudWorld(at: path).names().count == 8)
  }

  @Test("A file that belongs to something else is left alone")
  func foreignFiles() throws {
    let text = ScratchFolder.shared.newPath()
    try Data(String(repeating: "This is no database. ", count: 100).utf8)
      .write(to: URL(fileURLWithPath: text))
    let before = try Data(contentsOf: URL(fileURLWithPath: text))

    let found = try #require(error(text))

    #expect(found.code == .foreign)
    #expect(found.path == text)
    #expect("\(found)".hasPrefix(text))
    #expect(try Data(contentsOf: URL(fileURLWithPath: text)) == before)
  }

  @Test("A database of another application, or of another version, is refused")
  func foreignDatabase() throws {
    // Offsets in the header of a SQLite file: user version 60, application 68.
    for (offset, code) in [(68, LocalCloudStoreError.Code.foreign), (60, .unknownVersion)] {
      let path = ScratchFolder.shared.newPath()
      do { _ = try connect(path).createZone().get() }
      var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      bytes[offset + 3] ^= 0x55
      try bytes.write(to: URL(fileURLWithPath: path))

      #expect(error(path)?.code == code)
    }
  }

  @Test("A folder that is missing, or a folder in place of a file, cannot be accessed")
  func noAccess() {
    #expect(error("/nowhere/at/all/store.sqlite")?.code == .cannotAccess)
    #expect(error(ScratchFolder.shared.path)?.code == .cannotAccess)
  }

  @Test("Damage is found when a file is opened, or is an error of requests; it never crashes")
  func damage() throws {
    let path = ScratchFolder.shared.newPath()
    do {
      let device = try connect(path)
      _ = try device.createZone().get()
      _ = try device.modify((0..<300).map { device.note("record\($0)") }).get()
      _ = try device.modify(delete: (0..<100).map { "record\($0)" }).get()
    }
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    var random = SplitMix64(seed: 5)
    var refused = 0
    for round in 0..<60 {
      var bytes = whole
      if round % 3 == 0 { bytes.removeLast(1 + random.below(bytes.count - 200)) }
      for _ in 0..<(1 + random.below(40)) {
        bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
      }
      let copy = ScratchFolder.shared.newPath()
      try bytes.write(to: URL(fileURLWithPath: copy))
      if let error = error(copy) {
        refused += 1
        #expect(error.path == copy)
        continue
      }
      let device = try connect(copy)
      _ = device.createZone()
      _ = device.fetch()
      _ = device.modify((0..<300).map { device.note("record\($0)") }, delete: ["other"])
    }
    #expect(refused > 20)
  }

  @Test(
    "Wherever a process is killed, the file is as before or after a request",
    arguments: SuiteSize.some(1, of: [10, 0])
  )
  func killPoints(cachePages: Int) throws {
    let path = ScratchFolder.shared.newPath()
    let copies = Locked<[(path: String, step: SQLiteStore.Step, number: Int)]>([])
    let request = Locked(-1)
    let steps = Locked(0)
    let copy: @Sendable (SQLiteStore.Step) -> Void = { step in
      let count = steps.withLock { count in
        count += 1
        return count
      }
      if step == .wrote, count % 37 != 0 { return }
      let target = ScratchFolder.shared.newPath()
      for suffix in ["", "-wal"] {
        try? FileManager.default.copyItem(atPath: path + suffix, toPath: target + suffix)
      }
      copies.withLock { $0.append((target, step, request.withLock { $0 })) }
    }
    let store = try SQLiteStore(path: path, cachePages: cachePages, onStep: copy)
    let device = CloudWorld(store: store).connect()
    let filler = String(repeating: "x", count: 700)
    _ = try device.createZone().get()
    var states: [[Record]] = [[]]
    for number in 0..<12 {
      request.withLock { $0 = number }
      let records = (0..<60)
        .map { device.note("r\(number)x\($0)", ["x": .string("\(filler)\($0)")]) }
      _ = try device.modify(records, delete: (0..<20).map { "r\(number - 1)x\($0)" }).get()
      states.append(try device.world.cloud.records(account: alice, zone: zoneID))
    }

    let made = copies.withLock { $0 }
    #expect(made.count > 40)
    for (path, step, number) in made {
      let opened = try SQLiteStore(path: path)
      try opened.verify()
      let cloud = LocalCloud(store: opened)
      let records = try cloud.records(account: alice, zone: zoneID)
      #expect(records == states[max(0, step == .committed ? number + 1 : number)])
      let device = CloudWorld(store: opened).connect()
      _ = device.createZone()
      #expect(device.modify([device.note("after", [:])], token: 10_000).error == nil)
    }
  }

  @Test("A failing transaction leaves nothing behind")
  func rollback() throws {
    let store = try SQLiteStore(path: ScratchFolder.shared.newPath())
    let device = CloudWorld(store: store).connect()
    _ = try device.createZone().get()
    try device.save(device.note("a"))
    let before = try device.fetch().get()

    #expect(throws: LocalCloudStoreError.self) {
      try store.transaction(.write) { (transaction) throws(LocalCloudStoreError) in
        try transaction.removeItems(in: StoredZoneKey(number: 1, zoneID: zoneID))
        throw LocalCloudStoreError(.full, "no room")
      }
    }

    #expect(try device.fetch().get() == before)
  }

  @Test("While another process writes, a request answers that the zone is busy, and passes later")
  func busy() throws {
    let path = ScratchFolder.shared.newPath()
    let first = try SQLiteStore(path: path)
    let second = try SQLiteStore(path: path, busyMilliseconds: 1, onStep: nil)
    let device = CloudWorld(store: second).connect()
    _ = try device.createZone().get()
    let codes = Locked<[SyncError.Code?]>([])

    try first.transaction(.write) { _ in
      let code = device.modify([device.note("a")]).error?.code
      codes.withLock { $0.append(code) }
    }
    codes.withLock { $0.append(device.modify([device.note("a")]).error?.code) }

    #expect(codes.withLock { $0 } == [.zoneBusy, nil])
  }
}
