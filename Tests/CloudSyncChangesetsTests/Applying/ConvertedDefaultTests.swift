import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

@testable import CloudSyncChangesets

/// A column that copies add with one default and unlike types is one column, whatever its types make of the default.
@Suite struct ConvertedDefaultTests {
  private static let all = "SELECT id, size FROM people ORDER BY id"

  private static func merges(_ benches: [HistoryBench]) throws -> Int {
    Set(try benches.flatMap { try $0.repository.log().filter { $0.kind == .merge }.map(\.id) })
      .count
  }

  @Test(
    arguments: SuiteSize.some(
      2,
      of: [
        ("INTEGER DEFAULT 5", "REAL DEFAULT 5"), ("INTEGER DEFAULT 5", "REAL DEFAULT 5.0"),
        ("INTEGER DEFAULT 5", "TEXT DEFAULT 5"), ("NUMERIC DEFAULT '5'", "REAL DEFAULT 5"),
        ("INTEGER DEFAULT 5", "DEFAULT 5"), ("REAL DEFAULT 5", "REAL DEFAULT 5"),
      ]
    )
  )
  func aDefaultIsOneConstantWhateverItsType(one: String, other: String) throws {
    let benches = [try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone")]
    let (desk, phone) = (benches[0], benches[1])
    try desk.commit("INSERT INTO people(id) VALUES('a'), ('b'), ('c')")
    try phone.sync(from: desk)
    for (bench, type) in zip(benches, [one, other]) {
      try bench.database.execute("ALTER TABLE people ADD COLUMN size \(type)")
      try bench.rescan()
      #expect(try bench.repository.changes() == [])
      #expect(try bench.repository.verify().problems == [])
    }
    try desk.commit("UPDATE people SET note = 'desk' WHERE id = 'a'")
    try phone.commit(
      "UPDATE people SET size = 7 WHERE id = 'b'; INSERT INTO people(id) VALUES('d')"
    )
    for bench in benches {
      try bench.take(from: bench === desk ? phone : desk)
      try bench.repository.mergeAll()
      try bench.repository.pull()
    }
    try HistoryBench.expectAgreement(benches)
    #expect(try Self.merges(benches) <= 1)
    // What somebody writes is what it is, also if it is what the default was made of.
    try phone.commit(
      "UPDATE people SET size = 5 WHERE id = 'b'; UPDATE people SET size = 5.0 WHERE id = 'a'"
    )
    try desk.sync(from: phone)
    try HistoryBench.expectAgreement(benches)
    try desk.commit("UPDATE people SET size = 6 WHERE id = 'c'")
    try phone.sync(from: desk)
    try HistoryBench.expectAgreement(benches)
    try desk.repository.undo()
    try phone.sync(from: desk)
    try HistoryBench.expectAgreement(benches)
    #expect(
      try desk.rows("SELECT size + 0 = 5 FROM people WHERE id IN ('a', 'b', 'c')") == [
        "1", "1", "1",
      ]
    )
  }

  /// What is noted of a default is one row, however many rows were filled with it, here and in a clone.
  @Test func whatATypeMakesOfADefaultIsNotedOnce() async throws {
    let cloud = LocalCloud()
    let desk = try HistoryBench(replica: "desk")
    try desk.commit("INSERT INTO people(id) VALUES('a'), ('b'), ('c')")
    try desk.database.execute("ALTER TABLE people ADD COLUMN size REAL DEFAULT 5")
    try desk.rescan()
    try desk.commit("INSERT INTO people(id) VALUES('d')")
    try await RemoteBench.remote(desk, cloud).sync()
    let copy = try DatabaseFile(path: ":memory:", createsFile: true)
    let clone = try await ChangesetRemote.clone(
      into: copy,
      from: RemoteBench.handler(cloud, device: "copy"),
      zoneID: RemoteBench.zone
    )
    for (database, repository) in [(desk.database, desk.repository), (copy, clone)] {
      #expect(try database.rows("SELECT size FROM people") == ["5.0", "5.0", "5.0", "5.0"])
      #expect(try database.rows("SELECT count(*) FROM changesets_converted") == ["1"])
      #expect(try repository.verify().problems == [])
    }
  }

  @Test(arguments: ["TEXT", "INTEGER", ""])
  func anotherTypeLaterChangesNothing(type: String) throws {
    let desk = try HistoryBench(replica: "desk")
    try desk.commit("INSERT INTO people(id) VALUES('a'), ('b')")
    try desk.database.execute("ALTER TABLE people ADD COLUMN size REAL DEFAULT 5")
    try desk.rescan()
    try desk.commit("UPDATE people SET size = 6 WHERE id = 'b'")
    for declared in ["size \(type) DEFAULT 5", "extent \(type) DEFAULT 5"] {
      try desk.database.execute(
        """
        CREATE TABLE rebuilt(id TEXT PRIMARY KEY NOT NULL, name TEXT, score INTEGER, note, \(declared));
        INSERT INTO rebuilt SELECT * FROM people; DROP TABLE people; ALTER TABLE rebuilt RENAME TO people
        """
      )
      try desk.rescan()
      #expect(try desk.repository.changes() == [])
      try HistoryBench.expectAgreement([desk])
    }
  }
}
