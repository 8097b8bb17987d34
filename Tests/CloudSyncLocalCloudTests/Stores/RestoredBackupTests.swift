import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncTestSupport
import Foundation
import Testing

@Suite("A store that was put back")
struct RestoredBackupTests {
  /// A file with one record, the copy of it, and what was done after the copy was made.
  private struct Accident {
    let path = ScratchFolder.shared.newPath()
    var tags: [String] = []
    var tokens: [ChangeToken] = []
    /// The token of what the copy has too.
    var early: ChangeToken?

    func open() throws -> Device { try CloudWorld(at: path).connect() }

    init() throws {
      let backup = ScratchFolder.shared.newPath()
      do {
        let device = try open()
        _ = try device.createZone().get()
        tags.append(try #require(try device.save(device.note("r"))[0].changeTag))
        early = try device.fetch().get().changeToken
      }
      try FileManager.default.copyItem(atPath: path, toPath: backup)
      do {
        let device = try open()
        for x in 2..<4 {
          let edit = device.note("r", ["x": .int64(Int64(x))], tag: tags.last)
          tags.append(try #require(try device.save(edit)[0].changeTag))
          tokens.append(try #require(try device.fetch().get().changeToken))
        }
      }
      for suffix in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: path + suffix)
      }
      try FileManager.default.moveItem(atPath: backup, toPath: path)
    }
  }

  @Test("1. After renew() no tag recurs, a lost tag conflicts, an old token means a reset zone")
  func renewed() throws {
    let accident = try Accident()
    let device = try accident.open()
    try device.world.cloud.renew(nonce: 77)

    let lost = device.modify([device.note("r", ["x": 9], tag: accident.tags.last)])
    #expect(lost.itemCodes == ["r": .serverRecordChanged])
    var tag = accident.tags[0]
    for x in 2..<6 {
      let edit = device.note("r", ["x": .int64(Int64(x))], tag: tag)
      tag = try #require(try device.save(edit)[0].changeTag)
      #expect(!accident.tags.contains(tag))
    }
    // It has been edited more often by now than in what was lost: edits from there are stale.
    for tag in accident.tags {
      let stale = device.modify([device.note("r", ["x": 9], tag: tag)])
      #expect(stale.itemCodes == ["r": .serverRecordChanged])
    }
    // Nobody can know who has seen more than the copy has: all upload what it lacks.
    let early = try #require(accident.early)
    for token in accident.tokens + [early] {
      let error = device.fetch(token).error
      #expect(error?.code == .zoneNotFound && error?.isEncryptedDataReset == true)
    }
    let database = try device.connection.fetchDatabaseChanges(since: nil)
    try device.world.cloud.renew(nonce: 78)
    #expect(throws: SyncError.self) {
      try device.connection.fetchDatabaseChanges(since: database.changeToken)
    }
    // What the new branch gives is good, also when the file is opened again.
    let page = try device.fetch().get()
    #expect(try accident.open().fetch(page.changeToken).get().isEmpty)
  }

  @Test("A token of what was lost means a reset zone, even if nobody has renewed the store")
  func notRenewed() throws {
    let accident = try Accident()
    let device = try accident.open()
    let error = device.fetch(accident.tokens.last).error

    #expect(error?.code == .zoneNotFound && error?.isEncryptedDataReset == true)
    // That of what is there is good, without renew().
    #expect(try device.fetch(accident.early).get().isEmpty)
  }

  @Test("A repeat of a request from before the store was renewed is not answered as the first")
  func repeatedRequest() throws {
    let device = try CloudWorld(.file).device()
    _ = try device.modify([device.note("a")], token: 70).get()
    try device.world.cloud.renew(nonce: 7)

    let repeated = device.modify([device.note("a")], token: 70)

    #expect(repeated.itemCodes == ["a": .serverRecordChanged])
  }

  @Test("2. A log that is cut after the last answered commit has everything that was answered")
  func cutLog() throws {
    let path = ScratchFolder.shared.newPath()
    let store = try SQLiteStore(path: path)
    let device = CloudWorld(store: store).connect()
    _ = try device.createZone().get()
    func lengthOfLog() throws -> Int {
      let facts = try FileManager.default.attributesOfItem(atPath: path + "-wal")
      return try #require(facts[.size] as? Int)
    }
    // What was answered, and where the log ended by then.
    var tags: [String: String] = [:]
    var answers: [(length: Int, tags: [String: String], token: ChangeToken?)] = []
    func answered() throws {
      let token = try device.fetch().get().changeToken
      answers.append((length: try lengthOfLog(), tags: tags, token: token))
    }
    for name in ["a", "b", "c"] {
      tags[name] = try device.save(device.note(name))[0].changeTag
      try answered()
    }
    tags["a"] = try device.save(device.note("a", ["x": 2], tag: tags["a"]))[0].changeTag
    try answered()
    _ = try device.modify(delete: ["b"]).get()
    tags["b"] = nil
    try answered()
    try device.save(device.note("later"))
    let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))

    let ends = answers.dropFirst().map { $0.length } + [log.count]
    for (answer, end) in zip(answers, ends) {
      #expect(answer.length < end)
      // Between two commits, or in the middle of the next one, of which nobody had heard.
      for length in [answer.length, answer.length + 1, (answer.length + end) / 2, end - 1] {
        let cut = ScratchFolder.shared.newPath()
        try FileManager.default.copyItem(atPath: path, toPath: cut)
        try log.prefix(length).write(to: URL(fileURLWithPath: cut + "-wal"))
        let world = try CloudWorld(at: cut)
        let page = try world.connect().fetch().get()
        #expect(page.changedRecords.count == answer.tags.count)
        for record in page.changedRecords {
          #expect(record.changeTag == answer.tags[record.recordID.name])
        }
        #expect(try world.connect().fetch(answer.token).get().isEmpty)
      }
    }
    // FULL: the log is on the disk before a commit returns, so that it cannot be cut before that.
    #expect(try store.setting("synchronous") == 2)
  }

  @Test("8. Whoever reads does not wait for a writer, and sees what was committed")
  func readersDoNotWait() throws {
    let reader = Locked<Device?>(nil)
    let names = Locked<[[String]]>([])
    let store = try SQLiteStore(path: ScratchFolder.shared.newPath()) { step in
      guard step == .committing, let device = reader.withLock({ $0 }) else { return }
      let isDone = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        let page = try? device.fetch().get()
        names.withLock { $0.append(page?.changedRecords.map(\.recordID.name) ?? ["error"]) }
        isDone.signal()
      }
      // A reader that waited for this very transaction would never be done.
      if isDone.wait(timeout: .now() + 20) == .timedOut { names.withLock { $0.append(["waits"]) } }
    }
    let device = CloudWorld(store: store).connect()
    _ = try device.createZone().get()
    try device.save(device.note("a"))
    reader.withLock { $0 = device }

    try device.save(device.note("b"))

    reader.withLock { $0 = nil }
    #expect(names.withLock { $0 } == [["a"]])
    #expect(try device.fetch().get().changedRecords.count == 2)
  }

  @Test(
    "8. Eight readers page through a feed while a writer commits 400 records: none waits for it"
  )
  func crowdOfReaders() throws {
    let readers = Locked<[Device]>([])
    let counts = Locked<[Int]>([])
    let store = try SQLiteStore(path: ScratchFolder.shared.newPath()) { step in
      let devices = readers.withLock { $0 }
      guard step == .committing, !devices.isEmpty else { return }
      let isDone = DispatchSemaphore(value: 0)
      for device in devices {
        Thread.detachNewThread {
          let pages = try? device.pages()
          counts.withLock { $0.append(pages?.reduce(0) { $0 + $1.changedRecords.count } ?? -1) }
          isDone.signal()
        }
      }
      // One that waited for this very transaction would never be done.
      for _ in devices where isDone.wait(timeout: .now() + 60) == .timedOut {
        counts.withLock { $0.append(-2) }
      }
    }
    let world = CloudWorld(store: store) { $0.pageSize = 50 }
    let device = world.connect()
    _ = try device.createZone().get()
    func write(_ round: Int) throws {
      let records = (0..<400).map { device.note("r\(round)-\($0)") }
      #expect(try device.modify(records).get().savedRecords.count == 400)
    }
    try write(0)
    readers.withLock { $0 = (0..<8).map { world.connect("reader\($0)") } }
    for round in 1...3 {
      counts.withLock { $0 = [] }
      try write(round)
      #expect(counts.withLock { $0 } == Array(repeating: 400 * round, count: 8))
    }
  }

  @Test("A file of version 1, without a branch, is read: records and tokens are good")
  func firstVersion() throws {
    let path = ScratchFolder.shared.newPath()
    let page: FetchOperation.Response
    do {
      let device = try CloudWorld(at: path).connect()
      _ = try device.createZone().get()
      try device.save(device.note("a"))
      page = try device.fetch().get()
    }
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    // The version is at byte 60 of a SQLite file's header.
    bytes.replaceSubrange(60..<64, with: [0, 0, 0, 1])
    try bytes.write(to: URL(fileURLWithPath: path))

    let device = try CloudWorld(at: path).connect()
    #expect(try device.fetch(page.changeToken).get().isEmpty)
    #expect(try device.world.names() == ["a"])
  }
}
