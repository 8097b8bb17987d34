import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncTestSupport
import Foundation
import Testing

/// Nobody calls `renew()`, and others make as many changes as were lost, or more.
@Suite("A store that was put back unnoticed")
struct UnnoticedRestoreTests {
  /// A file to which a copy of it is put back.
  private struct Accident {
    let path = ScratchFolder.shared.newPath()
    let backup = ScratchFolder.shared.newPath()
    private let nonces = Locked(SplitMix64(seed: 5))

    /// Opens the file as a process of its own does.
    func open(_ device: String) throws -> Device {
      let store = try SQLiteStore(path: path, busyMilliseconds: 600_000, onStep: nil)
      return CloudWorld(store: store, nonce: nextNonce).connect(device)
    }

    private var nextNonce: @Sendable () -> UInt64 {
      { [nonces] in nonces.withLock { $0.next() } }
    }

    func keep() throws { try FileManager.default.copyItem(atPath: path, toPath: backup) }

    func putBack() throws {
      for suffix in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: path + suffix)
      }
      try FileManager.default.copyItem(atPath: backup, toPath: path)
    }
  }

  private func expectLoss(_ device: Device, _ token: ChangeToken?, _ comment: Comment? = nil) {
    let error = device.fetch(token).error
    #expect(error?.code == .zoneNotFound && error?.isEncryptedDataReset == true, comment)
  }

  @Test(
    "1. Others have written since, fewer, as many or more: tokens of what was lost mean a reset zone, no tag recurs",
    arguments: [1, 3, 5]
  )
  func writtenSince(count: Int) throws {
    let accident = Accident()
    let early: ChangeToken?
    do {
      let device = try accident.open("a")
      _ = try device.createZone().get()
      try device.save(device.note("r"))
      early = try device.fetch().get().changeToken
    }
    try accident.keep()
    var tags: [String?] = []
    var tokens: [ChangeToken?] = []
    do {
      let device = try accident.open("a")
      for number in 1...3 {
        tags.append(try device.save(device.note("a\(number)"))[0].changeTag)
        tokens.append(try device.fetch().get().changeToken)
      }
    }
    try accident.putBack()
    var others: [String?] = []
    do {
      let device = try accident.open("b")
      for number in 1...count {
        others.append(try device.save(device.note("a\(number)"))[0].changeTag)
      }
    }
    let device = try accident.open("a")
    for token in tokens { expectLoss(device, token, "\(count) changes") }
    #expect(Set(tags).isDisjoint(with: others))
    let lost = device.modify([device.note("a1", ["x": 9], tag: tags[0])])
    #expect(lost.itemCodes == ["a1": .serverRecordChanged])
    // Who has seen nothing of what was lost goes on.
    let page = try device.fetch(early).get()
    #expect(page.changedRecords.map(\.recordID.name) == (1...count).map { "a\($0)" })
    #expect(try device.fetch(page.changeToken).get().isEmpty)
  }

  @Test("1. A store that was put back twice knows the tokens of neither loss")
  func putBackTwice() throws {
    let accident = Accident()
    do { _ = try accident.open("a").createZone().get() }
    try accident.keep()
    var tokens: [ChangeToken?] = []
    for round in 0..<3 {
      do {
        let device = try accident.open("a")
        for number in 0...round { try device.save(device.note("r\(round)-\(number)")) }
        tokens.append(try device.fetch().get().changeToken)
      }
      let device = try accident.open("b")
      for token in tokens.dropLast() { expectLoss(device, token) }
      #expect(try device.fetch(tokens.last ?? nil).get().isEmpty)
      try accident.putBack()
    }
  }

  @Test("1. Many openings that write, one after the other and in turn: every token stays good")
  func manyOpenings() throws {
    let accident = Accident()
    do { _ = try accident.open("a").createZone().get() }
    var tokens = [try accident.open("a").fetch().get().changeToken]
    for number in UInt64(0)..<UInt64(SuiteSize.count(170, long: 300)) {
      let device = try accident.open("a")
      _ = try device.modify([device.note("r\(number)")], token: 1_000 + number).get()
      if number % 29 == 0 { tokens.append(try device.fetch().get().changeToken) }
    }
    let (one, other) = (try accident.open("a"), try accident.open("b"))
    for number in UInt64(0)..<20 {
      _ = try one.modify([one.note("one\(number)")], token: 2_000 + number).get()
      try other.save(other.note("other\(number)"))
      tokens.append(try one.fetch().get().changeToken)
    }
    for token in tokens { #expect(other.fetch(token).error == nil) }
    #expect(try other.fetch(tokens[0]).get().changedRecords.count == 200)
  }

  @Test("1. Marks are bounded: who was away for more openings than are known is told of a loss")
  func bounded() throws {
    let store = MemoryStore()
    let nonces = Locked(SplitMix64(seed: 6))
    func open() -> Device {
      CloudWorld(
        store: store,
        { $0.historyDocumentLimit = 2 },
        nonce: { nonces.withLock { $0.next() } }
      )
      .connect()
    }
    _ = try open().createZone().get()
    let first = try open().fetch().get().changeToken
    var later: ChangeToken?
    for number in UInt64(0)..<400 {
      let device = open()
      _ = try device.modify([device.note("r\(number)")], token: 1_000 + number).get()
      if number == 300 { later = try device.pages().last?.changeToken }
    }
    expectLoss(open(), first)
    #expect(try open().fetch(later).get().changedRecords.count == 99)
    let keys = try store.transaction(.read) { (transaction) throws(LocalCloudStoreError) in
      try transaction.documents(withPrefix: "marks/").map(\.key)
    }
    #expect(keys.count <= 3, "\(keys)")
  }

  @Test("1. A store that is put back while it is open is noticed too", arguments: [true, false])
  func whileOpen(isClosed: Bool) throws {
    let store = MemoryStore()
    let world = CloudWorld(store: store)
    let device = try world.device("a")
    try device.save(device.note("r"))
    let backup = store.backup()
    var tokens: [ChangeToken?] = []
    for number in 0..<3 {
      try device.save(device.note("a\(number)"))
      tokens.append(try device.fetch().get().changeToken)
    }
    store.restore(backup, isClosed: isClosed)
    let other = world.connect("b")
    for number in 0..<4 { try other.save(other.note("b\(number)")) }

    for token in tokens { expectLoss(device, token) }
    #expect(try world.names() == ["b0", "b1", "b2", "b3", "r"])
  }

  @Test("1. A refused request leaves no mark, and a repeated one gets the tag that it was given")
  func refusedAndRepeated() throws {
    let accident = Accident()
    do { _ = try accident.open("a").createZone().get() }
    let saved: String?
    do {
      let device = try accident.open("a")
      saved = try device.modify([device.note("r")], token: 5).get().savedRecords[0].changeTag
      #expect(device.modify([device.note("r", tag: "nonsense")]).error != nil)
    }
    for _ in 0..<3 {
      let device = try accident.open("a")
      #expect(device.modify([device.note("r", ["x": 2], tag: "nonsense")]).error != nil)
      let again = try device.modify([device.note("r")], token: 5).get()
      #expect(again.savedRecords.map(\.changeTag) == [saved])
    }
    let device = try accident.open("a")
    #expect(try device.world.record("r")?.changeTag == saved)
    let page = try device.fetch().get()
    try device.save(device.note("s"))
    #expect(try accident.open("b").fetch(page.changeToken).get().changedRecords.count == 1)
  }

  @Test("The feed of the database: a token of what was lost has expired")
  func databaseFeed() throws {
    let accident = Accident()
    do { _ = try accident.open("a").createZone().get() }
    try accident.keep()
    let token: ChangeToken
    do {
      let device = try accident.open("a")
      try device.save(device.note("a"))
      token = try device.connection.fetchDatabaseChanges(since: nil).changeToken
    }
    try accident.putBack()
    do {
      let device = try accident.open("b")
      for number in 0..<3 { try device.save(device.note("b\(number)")) }
    }
    let device = try accident.open("a")
    #expect(throws: SyncError.self) {
      try device.connection.fetchDatabaseChanges(since: token)
    }
    let all = try device.connection.fetchDatabaseChanges(since: nil)
    #expect(all.changedZoneIDs == [CloudWorld.zoneID])
  }
}
