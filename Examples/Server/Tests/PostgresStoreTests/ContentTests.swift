import CloudSyncLocalCloud
import CloudSyncSession
import PostgresStore
import PostgresTestServer
import Synchronization
import Testing

@Suite("PostgresStore: what it keeps")
struct ContentTests {
  private func schema() throws -> String { try PostgresServer.shared.get().newSchema() }

  @Test("The same requests leave the same in PostgreSQL and in memory: pages, tags, tokens")
  func sameAsMemory() throws {
    let stores: [any LocalCloudStore] = [
      MemoryStore(), try PostgresStore(conninfo: try schema()),
    ]
    let pages = try stores.map { store in
      let count = Mutex<UInt64>(0)
      let cloud = LocalCloud(
        store: store,
        now: { Timestamp(nanoseconds: 1_700_000_000_000_000_000) },
        nonce: {
          count.withLock { count in
            count += 1
            return count
          }
        }
      )
      var log: [String] = []
      for account in ["alice", "bob"] {
        let handler = cloud.connect(
          device: "phone",
          account: AccountIdentity(account),
          zoneID: Client.zoneID
        )
        log += try Self.script(Client(handler: handler))
      }
      return log
    }
    #expect(pages[0] == pages[1])
    #expect(pages[0].count > 400)
  }

  /// Random requests of one device, and what was answered.
  private static func script(_ client: Client) throws -> [String] {
    var generator = Generator()
    var log = ["\(client.createZone())"]
    var tags: [String: String] = [:]
    var token: ChangeToken?
    for number in 0..<200 {
      var records: [Record] = []
      var deletions: [String] = []
      var used: Set<String> = []
      for _ in 0..<(1 + generator.below(6)) {
        let name = "r\(generator.below(40))"
        guard used.insert(name).inserted else { continue }
        switch generator.below(5) {
        case 0: deletions.append(name)
        case 1: records.append(Client.child(name, of: "r\(generator.below(40))"))
        default:
          let fields: [String: FieldValue] = ["x": .int64(Int64(generator.below(9)))]
          records.append(Client.note(name, fields, tag: generator.below(4) == 0 ? nil : tags[name]))
        }
      }
      let answer = client.modify(records, delete: deletions, token: UInt64(number + 1))
      log.append("\(answer)")
      let page = try client.fetch(token).get()
      for record in page.changedRecords { tags[record.recordID.name] = record.changeTag }
      for record in page.deletedRecords { tags[record.recordID.name] = nil }
      if generator.below(8) != 0 { token = page.changeToken }
      log.append("\(page)")
    }
    return log
  }

  /// A small generator, so that both runs draw the same.
  private struct Generator {
    private var state: UInt64 = 5
    mutating func below(_ limit: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % limit
    }
  }

  @Test("Names that mean harm are names like others, and are looked for byte by byte")
  func hostileNames() throws {
    let client = try Client.ready(PostgresStore(conninfo: try schema()))
    let names = [
      "'; DROP TABLE cloudsync_items; --", "nul\u{0}nul", String(repeating: "\u{7f}", count: 255),
      "../../etc/passwd", "%2e%2e%2f", "$1", "\\x41", "{a,b}", "\"", "NULL",
    ]
    for (number, name) in names.enumerated() {
      let result = client.modify([Client.note(name)], token: UInt64(number + 1))
      // Some the rules refuse, by an item's error: what is accepted has to be there.
      if case .failure(let error) = result { #expect(error.code == .partialFailure, "\(name)") }
    }
    let expected = names.filter { name in
      client.modify([Client.note(name)], token: 900).error?.itemErrors.first?.error.code
        == .serverRecordChanged
    }
    #expect(try client.names().map { Array($0.utf8) } == expected.map { Array($0.utf8) })
    #expect(expected.count > 6)
  }

  @Test("Accounts whose names look alike are two accounts")
  func lookalikes() throws {
    let store = try PostgresStore(conninfo: try schema())
    let names = ["\u{e9}", "e\u{301}", "e", "e\u{0}", "E", ""]
    for (number, name) in names.enumerated() {
      let client = Client(store, account: AccountIdentity(name))
      #expect(client.fetch().error?.code == .zoneNotFound)
      _ = try client.createZone().get()
      _ = try client.modify([Client.note("r\(number)")], token: 1).get()
    }
    for (number, name) in names.enumerated() {
      #expect(try Client(store, account: AccountIdentity(name)).names() == ["r\(number)"])
    }
  }

  @Test("Large records and pages come back whole; a page ends with the record that fills it")
  func largeRecords() throws {
    let store = try PostgresStore(conninfo: try schema())
    let client = try Client.ready(store)
    let names = (0..<12).map { "r\($0)" }
    for (number, name) in names.enumerated() {
      let text = String(repeating: Character(Unicode.Scalar(UInt8(97 + number))), count: 900_000)
      _ = try client.modify([Client.note(name, ["x": .string(text)])], token: UInt64(number + 1))
        .get()
    }
    let page = try client.fetch().get()
    #expect(page.changedRecords.count == 5 && page.hasMore)
    #expect(try client.names() == names)
  }

  @Test("A zone of more records than one statement deletes goes whole")
  func removal() throws {
    let store = try PostgresStore(conninfo: try schema())
    let cloud = LocalCloud(store: store)
    let client = try Client.ready(store)
    let zone = StoredZoneKey(number: 1, zoneID: Client.zoneID)
    try store.transaction(.write) { (transaction) throws(LocalCloudStoreError) in
      for number in 1...25_000 {
        let record = Client.note("n\(number)")
        let item = StoredItem(position: Int64(number), content: .record(record))
        try transaction.setItem(item, in: zone, replacing: nil)
        try transaction.setLink(from: "n\(number)", to: "t", in: zone, isPresent: true)
      }
    }
    #expect(try client.names().isEmpty == false)
    #expect(try cloud.deleteZone(Client.zoneID, account: Client.account))
    let left = try store.transaction(.read) { (transaction) throws(LocalCloudStoreError) in
      try transaction.items(in: zone, after: 0, limit: .max, byteLimit: .max).count
        + transaction.sources(of: "t", in: zone, limit: .max).count
    }
    #expect(left == 0)
  }

  @Test("A transaction sees what it wrote, and a failing one leaves nothing behind")
  func ownWrites() throws {
    let store = try PostgresStore(conninfo: try schema())
    let client = try Client.ready(store)
    _ = try client.modify([Client.note("a"), Client.note("b")], token: 1).get()
    let before = try client.fetch().get()
    let zone = StoredZoneKey(number: 1, zoneID: Client.zoneID)

    #expect(throws: LocalCloudStoreError.self) {
      try store.transaction(.write) { (transaction) throws(LocalCloudStoreError) in
        func put(_ name: String, _ position: Int64, _ former: Int64?) throws(LocalCloudStoreError) {
          let item = StoredItem(position: position, content: .record(Client.note(name)))
          try transaction.setItem(item, in: zone, replacing: former)
        }
        // Written twice before it is sent, and once more after.
        try put("c", 3, nil)
        try put("c", 4, 3)
        try put("a", 5, 1)
        #expect(try transaction.item(named: "c", in: zone)?.position == 4)
        let all = try transaction.items(in: zone, after: 0, limit: 10, byteLimit: .max)
        #expect(all.map(\.position) == [2, 4, 5])
        try put("c", 6, 4)
        let more = try transaction.items(in: zone, after: 4, limit: 10, byteLimit: .max)
        #expect(more.map(\.recordID.name) == ["a", "c"])
        for isPresent in [true, false, true] {
          try transaction.setLink(from: "a", to: "c", in: zone, isPresent: isPresent)
        }
        #expect(try transaction.sources(of: "c", in: zone, limit: 5) == ["a"])
        try transaction.setLink(from: "a", to: "c", in: zone, isPresent: false)
        #expect(try transaction.sources(of: "c", in: zone, limit: 5) == [])
        try transaction.removeItems(in: zone)
        #expect(try transaction.item(named: "a", in: zone) == nil)
        throw LocalCloudStoreError(.full, "no room")
      }
    }
    #expect(try client.fetch().get() == before)
  }

  @Test("A row that has vanished fails the request that would change it, and nothing is written")
  func vanishedRow() throws {
    let conninfo = try schema()
    let store = try PostgresStore(conninfo: conninfo)
    _ = try Client.ready(store)
    let zone = StoredZoneKey(number: 1, zoneID: Client.zoneID)
    let item = StoredItem(position: 9, content: .record(Client.note("a")))
    let code: LocalCloudStoreError.Code?
    do throws(LocalCloudStoreError) {
      try store.transaction(.write) { (transaction) throws(LocalCloudStoreError) in
        try transaction.setItem(item, in: zone, replacing: 5)
      }
      code = nil
    } catch { code = error.code }
    #expect(code == .damaged)
  }

  @Test("A full disk is told as such, and passes when there is room again")
  func full() throws {
    let server = try PostgresServer.shared.get()
    let conninfo = try schema()
    let client = try Client.ready(PostgresStore(conninfo: conninfo))
    // The error of a disk that is full, without one.
    try server.execute(
      """
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON cloudsync_items EXECUTE FUNCTION refuse();
      """,
      at: conninfo
    )
    let error = client.modify([Client.note("a")], token: 1).error
    #expect(error?.code == .serviceUnavailable)
    #expect(error.map { !"\($0)".contains("extend") } == true)
    try server.execute("DROP TRIGGER refuse ON cloudsync_items", at: conninfo)
    #expect(client.modify([Client.note("a")], token: 1).error == nil)
    #expect(try client.names() == ["a"])
  }

  @Test(
    "1. A database that was put back unnoticed: others have written as much, a lost token means a reset zone",
    arguments: [true, false]
  )
  func putBackUnnoticed(isReopened: Bool) throws {
    let server = try PostgresServer.shared.get()
    let conninfo = try schema()
    let tables = ["cloudsync_documents", "cloudsync_items", "cloudsync_links"]
    let store = try PostgresStore(conninfo: conninfo)
    let client = try Client.ready(store)
    _ = try client.modify([Client.note("r")], token: 1).get()
    let early = try client.fetch().get().changeToken
    for table in tables {
      try server.execute("CREATE TABLE kept_\(table) AS SELECT * FROM \(table)", at: conninfo)
    }
    var tags: [String?] = []
    var tokens: [ChangeToken?] = []
    for number in 0..<3 {
      let saved = try client.modify([Client.note("a\(number)")], token: UInt64(2 + number)).get()
      tags += saved.savedRecords.map(\.changeTag)
      tokens.append(try client.fetch().get().changeToken)
    }
    for table in tables {
      try server.execute("TRUNCATE \(table)", at: conninfo)
      try server.execute("INSERT INTO \(table) SELECT * FROM kept_\(table)", at: conninfo)
    }
    // One that was open all the while notices too, as long as it is the first to write.
    let other = Client(isReopened ? try PostgresStore(conninfo: conninfo) : store, device: "pad")
    var others: [String?] = []
    for number in 0..<4 {
      let saved = try other.modify([Client.note("a\(number)")], token: UInt64(20 + number)).get()
      others += saved.savedRecords.map(\.changeTag)
    }
    for token in tokens {
      let error = other.fetch(token).error
      #expect(error?.code == .zoneNotFound && error?.isEncryptedDataReset == true)
    }
    #expect(Set(tags).isDisjoint(with: others))
    #expect(try other.fetch(early).get().changedRecords.count == 4)
  }

  @Test("A database of version 1, without marks, is read, and its tokens and tags stay good")
  func firstVersion() throws {
    let server = try PostgresServer.shared.get()
    let conninfo = try schema()
    let client = try Client.ready(try PostgresStore(conninfo: conninfo))
    let saved = try client.modify([Client.note("a")], token: 1).get().savedRecords
    let token = try client.fetch().get().changeToken
    try server.execute("UPDATE cloudsync_store SET version = 1", at: conninfo)
    let later = Client(try PostgresStore(conninfo: conninfo))
    #expect(try later.fetch(token).get().changedRecords.isEmpty)
    let edit = Client.note("a", ["x": 2], tag: saved.first?.changeTag)
    #expect(try later.modify([edit], token: 2).get().savedRecords.count == 1)
  }

  @Test("After renew() no tag recurs, and an old token means a reset zone")
  func renewed() throws {
    let store = try PostgresStore(conninfo: try schema())
    let client = try Client.ready(store)
    let saved = try client.modify([Client.note("a")], token: 1).get().savedRecords
    let page = try client.fetch().get()
    try LocalCloud(store: store).renew(nonce: 77)
    let error = client.fetch(page.changeToken).error
    #expect(error?.code == .zoneNotFound && error?.isEncryptedDataReset == true)
    let edit = Client.note("a", ["x": 2], tag: saved.first?.changeTag)
    let again = try client.modify([edit], token: 2).get().savedRecords
    #expect(again.first?.changeTag != saved.first?.changeTag)
  }
}
