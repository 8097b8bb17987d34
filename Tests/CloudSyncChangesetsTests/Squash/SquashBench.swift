import CloudSyncChangesets
import CloudSyncLocalCloud
import CloudSyncSQLite
import Foundation
import Testing

/// A replica with its cloud, whose histories are squashed.
struct SquashBench {
  let bench: HistoryBench
  let remote: ChangesetRemote
  let cloud: LocalCloud

  init(
    _ cloud: LocalCloud,
    _ name: String,
    schema: String = HistoryBench.people,
    settings: [String: ChangesetOptions.Table] = [:],
    startingAt start: Int64 = 1_760_000_000
  ) throws {
    self.cloud = cloud
    bench = try HistoryBench(schema, replica: name, settings: settings, startingAt: start)
    remote = try RemoteBench.remote(bench, cloud, device: name)
  }

  /// Another process on a replica's database.
  init(_ bench: HistoryBench, _ cloud: LocalCloud, _ name: String) throws {
    self.cloud = cloud
    self.bench = bench
    remote = try RemoteBench.remote(bench, cloud, device: name)
  }

  /// A desk with so many commits and a phone, whose last edit both have.
  static func pair(
    _ cloud: LocalCloud = LocalCloud(),
    filling numbers: ClosedRange<Int> = 1...5,
    edit: String = "UPDATE people SET note = 'seen' WHERE id = 'p5'"
  ) async throws -> (desk: SquashBench, phone: SquashBench) {
    let (desk, phone) = (try SquashBench(cloud, "desk"), try SquashBench(cloud, "phone"))
    try await desk.fill(numbers)
    try await phone.remote.sync()
    try phone.bench.commit(edit)
    try await settle([desk, phone])
    return (desk, phone)
  }

  static let day: Int64 = 24 * 3_600

  var repository: ChangesetRepository { bench.repository }

  /// So many commits of one row each, which all change the first row, in packs of their own.
  func fill(_ numbers: ClosedRange<Int>) async throws {
    for number in numbers {
      try bench.commit(
        """
        INSERT INTO people(id, score) VALUES('p\(number)', 0);
        UPDATE people SET score = \(number) WHERE id = 'p1';
        """,
        meta: #"{"message": "\#(number)"}"#
      )
      try await remote.push()
    }
  }

  /// A copy that has nothing but what the cloud has.
  func clone(_ name: String = "new") async throws -> (ChangesetRepository, DatabaseFile) {
    let database = try DatabaseFile(path: ":memory:", createsFile: true)
    let repository = try await ChangesetRemote.clone(
      into: database,
      from: RemoteBench.handler(cloud, device: name),
      zoneID: RemoteBench.zone,
      options: HistoryBench.options(replica: name)
    )
    return (repository, database)
  }

  /// That a new copy has the same head and rows.
  func expectClone(sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let (copy, database) = try await clone()
    #expect(try copy.head().id == repository.head().id, sourceLocation: sourceLocation)
    let query = "SELECT * FROM people ORDER BY id"
    #expect(try database.rows(query) == bench.rows(query), sourceLocation: sourceLocation)
    #expect(try copy.verify().problems == [], sourceLocation: sourceLocation)
  }

  static func settle(_ benches: [SquashBench]) async throws {
    for _ in 0..<3 { for bench in benches { try await bench.remote.sync() } }
    try HistoryBench.expectEqual(benches.map(\.bench))
  }

  /// The code of what an asynchronous body throws.
  static func code(_ body: () async throws -> Void) async -> ChangesetError.Code? {
    do {
      try await body()
      return nil
    } catch { return (error as? ChangesetError)?.code }
  }
}
