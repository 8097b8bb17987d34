import CloudSyncLocalCloud
import CloudSyncService
import CloudSyncSession
import PostgresTestServer
import Synchronization
import Testing

@testable import PostgresStore

@Suite("PostgresStore: what processes share")
struct NoticesTests {
  private func change(_ account: String, _ device: String) -> LocalCloudChange {
    LocalCloudChange(
      account: AccountIdentity(account),
      zoneID: ZoneID(name: ZoneID.defaultZoneName),
      device: device
    )
  }

  @Test("Changes are told once each, whatever is in their names; too many are told as all")
  func texts() {
    let changes = [
      change("alice", "phone"), change("bob", ""), change("1:x/2", "3:é"), change("", "a:b"),
    ]
    var notices = ChangeNotices()
    #expect(notices.isEmpty)
    for change in changes + changes { notices.add(change) }
    let text = notices.text(namespace: -5)
    #expect(ChangeNotices.changes(in: text, namespace: -5) == changes)
    #expect(ChangeNotices.changes(in: text, namespace: 5).isEmpty)

    for number in 0..<10_000 { notices.add(change("account\(number)", "phone")) }
    #expect(notices.text(namespace: 1) == "1/")
    #expect(ChangeNotices.changes(in: "1/", namespace: 1) == [nil])
    var hostile = ChangeNotices()
    hostile.add(change("a\u{0}b", "phone"))
    #expect(hostile.text(namespace: 1) == "1/")
    for text in ["1/x", "1/5:abc", "1/-1:", "1/99999999999999999999:a", "1/1:a"] {
      #expect(ChangeNotices.changes(in: text, namespace: 1) == [nil])
    }
    var many = ChangeNotices()
    var count = 0
    while many.text(namespace: .min) != "\(Int32.min)/" || count == 0 {
      #expect(many.text(namespace: .min).utf8.count < 8_000)
      many.add(change("account\(count)", "phone"))
      count += 1
    }
    #expect(count > 300)
  }

  /// What a process hears, to be waited for.
  private final class Ears: Sendable {
    private let heard = Mutex<[LocalCloudChange?]>([])
    func hear(_ change: LocalCloudChange?) { heard.withLock { $0.append(change) } }
    func count(of change: LocalCloudChange?) -> Int {
      heard.withLock { $0.count { $0 == change } }
    }
    /// Waits until something was heard so often.
    func wait(for change: LocalCloudChange?, count: Int = 1) async {
      while self.count(of: change) < count { await Task.yield() }
    }
  }

  @Test(
    "A process hears of the changes of others, not of its own; after a loss anything may be new"
  )
  func heard() async throws {
    let server = try PostgresServer.shared.get()
    let conninfo = try server.newDatabase()
    let stores = [try PostgresStore(conninfo: conninfo), try PostgresStore(conninfo: conninfo)]
    let ears = [Ears(), Ears()]
    let notices = [try PostgresNotices(store: stores[0]), try PostgresNotices(store: stores[1])]
    for number in 0..<2 { notices[number].start { ears[number].hear($0) } }
    for ear in ears { await ear.wait(for: nil) }

    notices[0].post(change("alice", "phone"))
    await ears[1].wait(for: change("alice", "phone"))
    // What another store of the database tells is for others.
    try server.execute("SELECT pg_notify('cloudsync', '1/5:alice3:pad')", at: conninfo)
    notices[1].post(change("bob", "pad"))
    await ears[0].wait(for: change("bob", "pad"))
    #expect(ears[0].count(of: change("alice", "phone")) == 0)
    #expect(ears.map { $0.count(of: change("alice", "pad")) } == [0, 0])

    let listeners =
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
      + " WHERE datname = current_database() AND query LIKE 'LISTEN%' OR query LIKE '%pg_notify(''cl%'"
    #expect(try !server.execute(listeners + " AND pid <> pg_backend_pid()", at: conninfo).isEmpty)
    for ear in ears { await ear.wait(for: nil, count: 2) }
    notices[0].post(change("carol", "phone"))
    await ears[1].wait(for: change("carol", "phone"))
    for one in notices { one.stop() }
  }

  @Test(
    "Tokens are shared: what is revoked opens nothing after five seconds, or at once in one process"
  )
  func tokens() throws {
    let conninfo = try PostgresServer.shared.get().newSchema()
    let time = Mutex(Int64(1_700_000_000_000_000_000))
    let now: @Sendable () -> Timestamp = { Timestamp(nanoseconds: time.withLock { $0 }) }
    let first = PostgresTokens(store: try PostgresStore(conninfo: conninfo), now: now)
    let second = PostgresTokens(store: try PostgresStore(conninfo: conninfo), now: now)
    let access = ServiceAccess(account: AccountIdentity("ali'ce"), device: "ph\u{0}one")
    let digest = MemoryTokens.digest(of: "secret")
    #expect(try first.access(digest: digest) == nil)
    try first.add(digest: digest, access: access)
    try first.add(
      digest: MemoryTokens.digest(of: "short"),
      access: access,
      expires: 1_700_000_001_000
    )
    #expect(try first.access(digest: digest) == access)
    #expect(try second.access(digest: digest) == access)
    #expect(try second.access(digest: MemoryTokens.digest(of: "short")) == access)
    #expect(try second.entries().map(\.expires) == [nil, 1_700_000_001_000])

    #expect(try first.revoke(digest: digest))
    #expect(try !first.revoke(digest: digest))
    #expect(try first.access(digest: digest) == nil)
    time.withLock { $0 += 4_000_000_000 }
    #expect(try second.access(digest: digest) == access)
    #expect(try second.access(digest: MemoryTokens.digest(of: "short")) == nil)
    time.withLock { $0 += 2_000_000_000 }
    #expect(try second.access(digest: digest) == nil)
    #expect(try first.entries().map(\.revoked) == [1_700_000_000_000, nil])
  }

  @Test("While the database is away a known token stays so, and of others nobody can say")
  func tokensAway() throws {
    let server = try PostgresServer()
    defer { server.stop() }
    let time = Mutex(Int64(0))
    let store = try PostgresStore(conninfo: server.conninfo)
    let tokens = PostgresTokens(store: store) { Timestamp(nanoseconds: time.withLock { $0 }) }
    let access = ServiceAccess(account: AccountIdentity("alice"), device: "phone")
    try tokens.add(digest: [1], access: access)
    #expect(try tokens.access(digest: [1]) == access)
    try server.kill()
    time.withLock { $0 += 60_000_000_000 }
    #expect(try tokens.access(digest: [1]) == access)
    do throws(SyncError) {
      _ = try tokens.access(digest: [2])
      Issue.record("nobody can know this")
    } catch { #expect(error.code == .serviceUnavailable) }
    try server.start()
    #expect(try tokens.access(digest: [2]) == nil)
  }

  @Test("A connection string with a password, or that is none, is refused as an argument")
  func conninfos() {
    for bad in ["host=a password=secret", "postgresql://u:secret@h/db", "nonsense", "a=b"] {
      let problem = PostgresConninfo.problem(bad)
      #expect(problem != nil && problem?.contains("secret") == false, "\(bad)")
    }
    for good in ["", "service=x", "postgresql://u@h/db?sslmode=verify-full", "host=a dbname=b"] {
      #expect(PostgresConninfo.problem(good) == nil, "\(good)")
    }
  }
}
