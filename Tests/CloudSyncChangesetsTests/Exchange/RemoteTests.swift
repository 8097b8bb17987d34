import CloudSyncChangesets
import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Foundation
import Testing

/// Replicas that exchange their commits through a cloud.
@Suite struct RemoteTests {
  private static let zone = ZoneID(name: "History")

  private static func remote(
    _ bench: HistoryBench,
    _ cloud: LocalCloud,
    device: String = "desk"
  ) throws -> ChangesetRemote {
    try ChangesetRemote(
      bench.repository,
      operationHandler: handler(cloud, device: device),
      zoneID: zone
    )
  }

  private static func handler(_ cloud: LocalCloud, device: String) -> LocalCloudConnection {
    cloud.connect(device: device, account: AccountIdentity("ada"), zoneID: zone)
  }

  @Test func twoReplicasWorkAsTheOriginalPromises() async throws {
    let cloud = LocalCloud()
    let desk = try HistoryBench(replica: "desk")
    let phone = try HistoryBench(replica: "phone")
    let (one, other) = (
      try Self.remote(desk, cloud), try Self.remote(phone, cloud, device: "phone")
    )
    try desk.repository.commit(meta: #"{"message": "Change #1"}"#) { handle in
      try SQLiteConnection(borrowing: handle)
        .execute("INSERT INTO people(id, name) VALUES('a', 'Ada')")
    }
    #expect(try await one.push().map(\.meta) == [#"{"message": "Change #1"}"#])
    #expect(try await other.fetch().count == 1)
    #expect(try phone.rows("SELECT * FROM people") == [])
    let pulled = try phone.repository.pull()
    #expect(pulled?.uuid == (try desk.repository.head().uuid))
    #expect(try phone.rows("SELECT name FROM people") == ["'Ada'"])
    // A branch of example 2, and its merge.
    try desk.commit("INSERT INTO people(id, name) VALUES('b', 'Bob')")
    try phone.commit("INSERT INTO people(id, name) VALUES('c', 'Cy')")
    try await one.push()
    try await other.push()
    try await one.fetch()
    try await other.fetch()
    #expect(try desk.repository.mergeAll().count == 1)
    #expect(try phone.repository.mergeAll().count == 1)
    try desk.repository.pull()
    try phone.repository.pull()
    try HistoryBench.expectEqual([desk, phone])
    #expect(try await one.push().count == 1)
    #expect(try await other.fetch() == [])
    #expect(try await other.push() == [])
    #expect(try desk.repository.log().allSatisfy(\.isPushed))
  }

  @Test func syncingIsSilentAfterOneRoundOfConcurrentMerges() async throws {
    let cloud = LocalCloud()
    let benches = try (0..<4).map { try HistoryBench(replica: "r\($0)") }
    let remotes = try benches.enumerated().map { try Self.remote($1, cloud, device: "r\($0)") }
    for (place, bench) in benches.enumerated() {
      try bench.database.execute("INSERT INTO people(id, score) VALUES('p\(place)', \(place))")
    }
    for _ in 0..<3 { for remote in remotes { try await remote.sync() } }
    try HistoryBench.expectEqual(benches)
    for remote in remotes {
      let summary = try await remote.sync()
      #expect(summary.sent == 0 && summary.received == 0 && summary.merges == 0)
    }
    #expect(try benches[0].rows("SELECT count(*) FROM people") == ["4"])
  }

  @Test func tagsAndHiddenBranchesTravelAndTheLaterWordCounts() async throws {
    let cloud = LocalCloud()
    let (desk, phone) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    let (one, other) = (
      try Self.remote(desk, cloud), try Self.remote(phone, cloud, device: "phone")
    )
    try desk.commit("INSERT INTO people(id) VALUES('a')")
    try desk.repository.createBranch("idea")
    try desk.repository.switchBranch("idea")
    try desk.commit("INSERT INTO people(id) VALUES('b')")
    try desk.repository.tag("release", "main")
    try await one.push()
    try await other.fetch()
    #expect(try phone.repository.branches().map(\.name) == ["idea", "main"])
    #expect(try phone.repository.tags().map(\.name) == ["release"])
    try phone.repository.deleteBranch("idea")
    try phone.repository.tag("release", "idea")
    try await other.push()
    try await one.fetch()
    #expect(try desk.repository.tags().map(\.id) == [desk.repository.head().id])
    try desk.repository.switchBranch("main")
    #expect(try desk.repository.branches().map(\.name) == ["main"])
  }

  @Test func aDamagedPackIsKeptWithTheReasonAndOthersAreStored() async throws {
    let cloud = LocalCloud()
    let (desk, phone) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    let (one, other) = (
      try Self.remote(desk, cloud), try Self.remote(phone, cloud, device: "phone")
    )
    try desk.commit("INSERT INTO people(id) VALUES('a')")
    try await one.push()
    // Somebody writes a record of the same kind that is none of ours.
    let stranger = CloudSyncSession(
      operationHandler: Self.handler(cloud, device: "x"),
      zoneID: Self.zone
    )
    stranger.start()
    for (name, bytes) in [("pack-0", [1, 2, 3] as [UInt8]), ("pack-1", [9])] {
      var record = Record(
        recordType: "ChangesetPack",
        recordID: RecordID(name: name, zoneID: Self.zone)
      )
      record["data"] = .data(Data(bytes))
      _ = try await stranger.perform(ModifyOperation(records: [record]))
    }
    try desk.commit("INSERT INTO people(id) VALUES('b')")
    try await one.push()
    #expect(try await other.fetch().count == 2)
    #expect(try phone.repository.status().refused.map(\.name) == ["pack-0", "pack-1"])
    try phone.repository.pull()
    try HistoryBench.expectEqual([desk, phone])
  }

  @Test func aCloneHasEverythingAndGoesOn() async throws {
    let cloud = LocalCloud()
    let desk = try HistoryBench(
      """
      CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, name TEXT, score INTEGER, note);
      CREATE TABLE orders(
        number INTEGER NOT NULL, who TEXT REFERENCES people(id) ON DELETE CASCADE, total REAL DEFAULT 1.5,
        mail VARCHAR(20) COLLATE NOCASE UNIQUE, PRIMARY KEY(who, number)) WITHOUT ROWID;
      CREATE TABLE flags(id ANY PRIMARY KEY NOT NULL, on_since TEXT DEFAULT 'never') STRICT;
      """,
      replica: "desk"
    )
    let one = try Self.remote(desk, cloud)
    try desk.commit(
      "INSERT INTO people(id) VALUES('a'); INSERT INTO orders(number, who) VALUES(1, 'a')"
    )
    try desk.commit("INSERT INTO flags(id) VALUES(1), (2.5), (x'00')")
    try await one.push()
    let database = try DatabaseFile(path: ":memory:", createsFile: true)
    let copy = try await ChangesetRemote.clone(
      into: database,
      from: Self.handler(cloud, device: "new"),
      zoneID: Self.zone,
      options: HistoryBench.options(replica: "new")
    )
    for table in ["people", "orders", "flags"] {
      #expect(
        try database.rows("SELECT * FROM \(table) ORDER BY 1").count
          == desk.rows("SELECT * FROM \(table) ORDER BY 1").count
      )
    }
    #expect(try copy.head() == desk.repository.head())
    #expect(try copy.verify().problems == [])
    try database.execute("UPDATE people SET name = 'New'")
    #expect(try copy.commit()?.replica == "new")
    let remote = try ChangesetRemote(
      copy,
      operationHandler: Self.handler(cloud, device: "new"),
      zoneID: Self.zone
    )
    try await remote.push()
    try await one.sync()
    #expect(try desk.rows("SELECT name FROM people") == ["'New'"])
  }

  @Test func cloningIsRefusedIntoAFullDatabaseAndFromAnEmptyCloud() async throws {
    let cloud = LocalCloud()
    let full = try HistoryBench()
    let before = try full.rows("SELECT name FROM sqlite_schema ORDER BY name")
    await #expect(throws: ChangesetError.self) {
      try await ChangesetRemote.clone(
        into: full.database,
        from: Self.handler(cloud, device: "new"),
        zoneID: Self.zone
      )
    }
    #expect(try full.rows("SELECT name FROM sqlite_schema ORDER BY name") == before)
    let empty = try DatabaseFile(path: ":memory:", createsFile: true)
    await #expect(throws: ChangesetError.self) {
      try await ChangesetRemote.clone(
        into: empty,
        from: Self.handler(cloud, device: "new"),
        zoneID: Self.zone
      )
    }
    #expect(try empty.rows("SELECT name FROM sqlite_schema") == [])
  }

  @Test func aZoneThatIsLostIsFilledAgain() async throws {
    let cloud = LocalCloud()
    let (desk, phone) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    let one = try Self.remote(desk, cloud)
    try desk.commit("INSERT INTO people(id) VALUES('a')")
    try await one.push()
    try await one.reset()
    try desk.commit("INSERT INTO people(id) VALUES('b')")
    try await one.push()
    let other = try Self.remote(phone, cloud, device: "phone")
    #expect(try await other.fetch().count == 2)
    try phone.repository.pull()
    try HistoryBench.expectEqual([desk, phone])
  }

  @Test func anotherZoneIsRefused() throws {
    let cloud = LocalCloud()
    let desk = try HistoryBench()
    _ = try Self.remote(desk, cloud)
    let error = #expect(throws: ChangesetError.self) {
      try ChangesetRemote(
        desk.repository,
        operationHandler: Self.handler(cloud, device: "desk"),
        zoneID: ZoneID(name: "Other")
      )
    }
    #expect(error?.code == .foreignCloud)
  }

  @Test func integerKeysArePushedOnlyIfTheyAreDeclaredUnique() async throws {
    let cloud = LocalCloud()
    let schema = "CREATE TABLE numbers(id INTEGER PRIMARY KEY, what TEXT);"
    let refused = try HistoryBench(schema)
    try refused.commit("INSERT INTO numbers(what) VALUES('x')")
    await #expect(throws: ChangesetError.self) {
      try await Self.remote(refused, cloud).push()
    }
    let allowed = try HistoryBench(schema, settings: ["numbers": .init(hasUniqueIntegerKeys: true)])
    try allowed.commit("INSERT INTO numbers(what) VALUES('x')")
    #expect(try await Self.remote(allowed, cloud).push().count == 1)
  }

  @Test func manyCommitsTravelInFewPacks() async throws {
    let cloud = LocalCloud()
    let (desk, phone) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    let total = SuiteSize.count(500, long: 900)
    for number in 0..<total {
      try desk.commit("REPLACE INTO people(id, score) VALUES('a', \(number))")
    }
    let one = try Self.remote(desk, cloud)
    #expect(try await one.push().count == total)
    let other = try Self.remote(phone, cloud, device: "phone")
    #expect(try await other.fetch().count == total)
    try phone.repository.pull()
    try HistoryBench.expectEqual([desk, phone])
  }
}
