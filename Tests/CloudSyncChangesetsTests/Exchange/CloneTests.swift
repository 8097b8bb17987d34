import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import Testing

@testable import CloudSyncChangesets

/// Clones are as their original, and one that was broken off is begun anew.
@Suite struct CloneTests {
  private static let schema = """
    CREATE TABLE things(
      id TEXT PRIMARY KEY NOT NULL, zeta TEXT, alpha INTEGER NOT NULL DEFAULT 3, Mid REAL);
    """

  private static func cloud() async throws -> LocalCloud {
    let cloud = LocalCloud()
    let desk = try HistoryBench(schema, replica: "desk")
    try desk.commit("INSERT INTO things VALUES('a', 'z', 1, 2.5)")
    try await RemoteBench.remote(desk, cloud).sync()
    return cloud
  }

  private static func clone(_ cloud: LocalCloud, into database: DatabaseFile) async throws {
    _ = try await ChangesetRemote.clone(
      into: database,
      from: RemoteBench.handler(cloud, device: "phone"),
      zoneID: RemoteBench.zone,
      options: HistoryBench.options(replica: "phone")
    )
  }

  @Test func columnsAreInTheOrderInWhichTheyAreDeclared() async throws {
    let database = try DatabaseFile(path: ":memory:", createsFile: true)
    try await Self.clone(try await Self.cloud(), into: database)
    let names = try database.rows("SELECT name FROM pragma_table_info('things') ORDER BY cid")
    #expect(names == ["'id'", "'zeta'", "'alpha'", "'Mid'"])
    #expect(try database.rows("SELECT * FROM things") == ["'a', 'z', 1, 2.5"])
  }

  @Test func theOrderOfColumnsMakesNoOtherSchema() throws {
    let other = """
      CREATE TABLE things(
        Mid REAL, id TEXT PRIMARY KEY NOT NULL, alpha INTEGER NOT NULL DEFAULT 3, zeta TEXT);
      """
    let benches = [try HistoryBench(Self.schema), try HistoryBench(other, replica: "phone")]
    try benches[0].commit("INSERT INTO things(id, zeta) VALUES('a', 'z')")
    try HistoryBench.settle(benches)
    try HistoryBench.expectEqual(benches, "SELECT id, zeta, alpha, Mid FROM things")
  }

  @Test func aCloneThatWasBrokenOffIsBegunAnew() async throws {
    let cloud = try await Self.cloud()
    let database = try DatabaseFile(path: ":memory:", createsFile: true)
    try Cloning.begin(in: database, options: HistoryBench.options(replica: "phone"))
    #expect(try ChangesetRemote.isUnfinishedClone(database))
    // Nobody takes it for a history.
    let error = #expect(throws: ChangesetError.self) { try ChangesetRepository(database) }
    #expect(error?.code == .damaged)
    try await Self.clone(cloud, into: database)
    #expect(try ChangesetRemote.isUnfinishedClone(database) == false)
    #expect(try database.rows("SELECT id FROM things") == ["'a'"])
    _ = try ChangesetRepository(database)
    // A whole one is no place for another.
    await #expect(throws: ChangesetError.self) { try await Self.clone(cloud, into: database) }
    #expect(try database.rows("SELECT id FROM things") == ["'a'"])
  }
}
