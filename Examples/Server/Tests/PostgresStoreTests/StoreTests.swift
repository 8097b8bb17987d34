import CloudSyncLocalCloud
import CloudSyncSession
import Foundation
import PostgresTestServer
import Synchronization
import Testing

@testable import PostgresStore

@Suite("PostgresStore")
struct StoreTests {
  private func schema() throws -> String { try PostgresServer.shared.get().newSchema() }

  private func error(_ conninfo: String) -> LocalCloudStoreError? {
    do throws(LocalCloudStoreError) { _ = try PostgresStore(conninfo: conninfo) } catch {
      return error
    }
    return nil
  }

  // MARK: Set-up

  @Test("Any number of stores may make the tables at the same time", arguments: 0..<3)
  func madeAtOnce(round: Int) async throws {
    let conninfo = try schema()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          let client = try Client.ready(PostgresStore(conninfo: conninfo), device: "d\(number)")
          _ = try client.modify([Client.note("r\(number)")], token: 1).get()
        }
      }
      try await group.waitForAll()
    }
    #expect(try Client(PostgresStore(conninfo: conninfo)).names().count == 8)
  }

  @Test("What is stored is there for the next store: records, tokens, write tokens, schema")
  func persists() throws {
    let conninfo = try schema()
    let first = try Client.ready(PostgresStore(conninfo: conninfo))
    _ = try first.modify([Client.note("a"), Client.note("b")], token: 70).get()
    let page = try first.fetch().get()
    var options = LocalCloudOptions()
    options.seed = 99
    let second = Client(try PostgresStore(conninfo: conninfo), options: options)

    #expect(try second.fetch().get() == page)
    #expect(try second.fetch(page.changeToken).get().isEmpty)
    #expect(second.modify([Client.note("a"), Client.note("b")], token: 70).error == nil)
    let other = second.modify([Client.note("c", ["x": "text"])], token: 71).error
    #expect(other?.itemErrors.map(\.error.code) == [.invalidArguments])
  }

  @Test("Tables of something else, of another version or with a row too few are refused")
  func foreignTables() throws {
    let server = try PostgresServer.shared.get()
    let foreign = try schema()
    try server.execute("CREATE TABLE cloudsync_documents(a int)", at: foreign)
    #expect(error(foreign)?.code == .foreign)
    #expect(try server.execute("SELECT a FROM cloudsync_documents", at: foreign) == [])

    let old = try schema()
    _ = try PostgresStore(conninfo: old)
    try server.execute("UPDATE cloudsync_store SET version = 99", at: old)
    #expect(error(old)?.code == .unknownVersion)
    try server.execute("DELETE FROM cloudsync_store", at: old)
    #expect(error(old)?.code == .damaged)
  }

  @Test("A server that is not there, a schema that is missing, a role that may not: each says so")
  func noAccess() throws {
    let server = try PostgresServer.shared.get()
    #expect(error("host=/nowhere user=postgres")?.code == .cannotAccess)
    #expect(error("this is = no = connection string")?.code == .cannotAccess)
    let missing = "\(server.conninfo) options='-c search_path=missing'"
    #expect(error(missing)?.code == .cannotAccess)
    #expect(error(missing)?.message.contains("schema") == true)

    let database = try server.newDatabase()
    let role = database.replacingOccurrences(of: "user=postgres", with: "user=guest")
    if try server.execute("SELECT 1 FROM pg_roles WHERE rolname = 'guest'").isEmpty {
      try server.execute("CREATE ROLE guest LOGIN")
    }
    #expect(error(role)?.message.contains("GRANT".lowercased()) == true)
    // Tables that their owner has made are enough.
    _ = try PostgresStore(conninfo: database)
    try server.execute(
      "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO guest",
      at: database
    )
    let client = try Client.ready(PostgresStore(conninfo: role))
    _ = try client.modify([Client.note("a")], token: 1).get()
    #expect(try client.names() == ["a"])
  }

  // MARK: Round trips

  @Test("A request makes three round trips, whatever its size; a fetch makes two")
  func roundTrips() throws {
    let store = try PostgresStore(conninfo: try schema())
    let client = try Client.ready(store)
    var token: UInt64 = 0
    func count(_ body: () throws -> Void) throws -> Int {
      let before = try store.roundTrips()
      try body()
      return try store.roundTrips() - before
    }
    func save(_ records: [Record]) throws -> Int {
      token += 1
      return try count { _ = try client.modify(records, token: token).get() }
    }
    // The first of a new type takes the schema's lock; the first of a device looks at the others' answers.
    #expect(try save([Client.note("first")]) == 5)
    #expect(try save([Client.note("a")]) == 3)
    #expect(try save((0..<200).map { Client.note("r\($0)") }) == 3)
    let page = try client.fetch().get()
    let edits = page.changedRecords.map {
      Client.note($0.recordID.name, ["x": 2], tag: $0.changeTag)
    }
    #expect(try save(edits) == 3)
    let deletion = try count { _ = try client.modify(delete: ["a"], token: 500).get() }
    // Which records go with a deleted one is a question of its own.
    #expect(deletion == 4)
    #expect(try count { _ = try client.fetch(page.changeToken).get() } == 2)
    // The repeat of a request finds its response along with the lock.
    #expect(try count { _ = try client.modify(delete: ["a"], token: 500).get() } == 1)
  }

  // MARK: Others at the same time

  @Test("Stores of their own write to one database at once, and nothing is lost")
  func contention() async throws {
    let conninfo = try schema()
    _ = try Client.ready(PostgresStore(conninfo: conninfo))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask {
          let account = AccountIdentity("account\(writer % 2)")
          let store = try PostgresStore(conninfo: conninfo)
          let client = Client(store, device: "d\(writer)", account: account)
          _ = try client.createZone().get()
          for number in 0..<25 {
            // Types of their own, so that the schema changes too.
            let record = Record(
              recordType: "T\(writer)x\(number % 3)",
              recordID: RecordID(name: "r\(writer)x\(number)", zoneID: Client.zoneID),
              fields: ["x": 1]
            )
            _ = try client.modify([record], token: UInt64(number + 1)).get()
          }
        }
      }
      try await group.waitForAll()
    }
    let store = try PostgresStore(conninfo: conninfo)
    for number in 0..<2 {
      let account = AccountIdentity("account\(number)")
      #expect(try Client(store, account: account).names().count == 50)
    }
  }

  @Test(
    "While another one holds the account, a request answers that the zone is busy; others go on"
  )
  func busy() throws {
    let conninfo = try schema()
    let holder = try PostgresStore(conninfo: conninfo)
    _ = try Client.ready(holder)
    var options = PostgresOptions()
    options.lockWait = .milliseconds(1)
    let store = try PostgresStore(conninfo: conninfo, options: options)
    let client = Client(store)
    let other = Client(try PostgresStore(conninfo: conninfo), account: AccountIdentity("bob"))
    let codes = Mutex<[SyncError.Code?]>([])

    try holder.transaction(.write) { (transaction) throws(LocalCloudStoreError) in
      try transaction.lock(.account(Client.account))
      _ = try transaction.document("any")
      let code = client.modify([Client.note("a")], token: 1).error?.code
      let page = client.fetch().error?.code
      let made = other.createZone().error?.code
      codes.withLock { $0 = [code, page, made] }
    }

    #expect(codes.withLock { $0 } == [.zoneBusy, nil, nil])
    // The lock has gone with the transaction; on a busy machine 1 ms is short.
    var code: SyncError.Code? = .zoneBusy
    for _ in 0..<10_000 where code == .zoneBusy {
      code = client.modify([Client.note("a")], token: 1).error?.code
    }
    #expect(code == nil)
  }

  @Test("Two transactions that wait for each other: one of them runs again, and both are done")
  func deadlock() throws {
    let conninfo = try schema()
    // Found at once, where the server would take a second.
    let quick = conninfo.replacingOccurrences(of: "-c ", with: "-c deadlock_timeout=10 -c ")
    let store = try PostgresStore(conninfo: quick)
    let runs = Mutex(0)
    let meeting = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
    @Sendable func take(_ locks: [LocalCloudLock], number: Int) -> LocalCloudStoreError? {
      let isFirst = Mutex(true)
      do throws(LocalCloudStoreError) {
        try store.transaction(.write) { (transaction) throws(LocalCloudStoreError) in
          runs.withLock { $0 += 1 }
          try transaction.lock(locks[0])
          _ = try transaction.document("any")
          let waits = isFirst.withLock { isFirst in
            defer { isFirst = false }
            return isFirst
          }
          if waits {
            meeting[number].signal()
            meeting[1 - number].wait()
          }
          try transaction.lock(locks[1])
          _ = try transaction.document("any")
        }
      } catch { return error }
      return nil
    }
    let other = Background { take([.counters, .schema], number: 1) }

    #expect(take([.schema, .counters], number: 0) == nil)
    #expect(other.value == nil)
    #expect(runs.withLock { $0 } > 2)
  }

  @Test("Whoever reads sees one state, whatever is committed meanwhile, and waits for nobody")
  func snapshot() throws {
    let conninfo = try schema()
    let store = try PostgresStore(conninfo: conninfo)
    let writer = try Client.ready(PostgresStore(conninfo: conninfo))
    _ = try writer.modify([Client.note("a")], token: 1).get()
    let zone = StoredZoneKey(number: 1, zoneID: Client.zoneID)

    let counts = try store.transaction(.read) { (transaction) throws(LocalCloudStoreError) in
      let before = try transaction.items(in: zone, after: 0, limit: 10, byteLimit: .max).count
      let error = writer.modify([Client.note("b")], token: 2).error
      let after = try transaction.items(in: zone, after: 0, limit: 10, byteLimit: .max).count
      return [before, after, error == nil ? 0 : 1]
    }

    #expect(counts == [1, 1, 0])
    #expect(try writer.names() == ["a", "b"])
  }

  @Test("More requests than connections wait for one, and then are told to come later")
  func noConnection() throws {
    var options = PostgresOptions()
    options.connections = 1
    options.connectionWait = .milliseconds(1)
    let store = try PostgresStore(conninfo: try schema(), options: options)
    let client = try Client.ready(store)
    let code = try store.transaction(.read) { _ in client.fetch().error?.code }
    #expect(code == .zoneBusy)
    #expect(client.fetch().error == nil)
  }
}
