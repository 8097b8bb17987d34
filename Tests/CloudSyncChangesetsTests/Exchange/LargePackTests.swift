import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Testing

@testable import CloudSyncChangesets

/// Commits that are too large for a field of a record travel as files.
@Suite struct LargePackTests {
  private static func remote(
    _ bench: HistoryBench,
    _ cloud: LocalCloud,
    _ folder: ScratchFolder?,
    device: String
  ) throws -> ChangesetRemote {
    try ChangesetRemote(
      bench.repository,
      operationHandler: RemoteBench.handler(cloud, device: device),
      zoneID: RemoteBench.zone,
      assets: folder.map { AssetOptions(folder: $0.file(device)) }
    )
  }

  @Test(arguments: SuiteSize.some(1, of: [(300_000, 4), (Int.max, 1), (100_001, 10)]))
  func aLargeCommitTravelsAsOneFileOrSeveral(largest: Int, parts: Int) async throws {
    let folder = try ScratchFolder()
    let cloud = LocalCloud(assetFolder: folder.file("cloud"))
    let (desk, phone) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    let one = try Self.remote(desk, cloud, folder, device: "desk")
    try desk.commit("INSERT INTO people(id, note) VALUES('a', randomblob(900000))")
    try desk.commit("INSERT INTO people(id) VALUES('b')")
    try await one.setup()
    #expect(try await Pushing(remote: one, largestFile: largest).push().count == 2)
    let packs = try RemoteBench.packs(cloud)
    let files = packs.flatMap(\.fields)
      .filter { if case .asset = $0.value { true } else { false } }
    #expect(packs.count == 2)
    #expect(files.count == parts)
    // Who has no folder for files lists the record, and gets it later.
    let poor = try Self.remote(phone, cloud, nil, device: "phone")
    try await poor.fetch()
    #expect(try phone.repository.status().refused.count == 1)
    #expect(try phone.repository.status().waitingCount == 1)
    poor.session.stop()
    let other = try Self.remote(phone, cloud, folder, device: "phone")
    #expect(try await other.fetch().count == 2)
    #expect(try phone.repository.status().refused == [])
    try phone.repository.pull()
    try HistoryBench.expectEqual([desk, phone])
  }

  @Test func aPartThatIsMissingIsNoPack() async throws {
    let folder = try ScratchFolder()
    let cloud = LocalCloud(assetFolder: folder.file("cloud"))
    let (desk, phone) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    let one = try Self.remote(desk, cloud, folder, device: "desk")
    try desk.commit("INSERT INTO people(id, note) VALUES('a', randomblob(900000))")
    try await one.setup()
    _ = try await Pushing(remote: one, largestFile: 300_000).push()
    let handler = ChangingHandler(RemoteBench.handler(cloud, device: "phone")) { _, response in
      var response = response
      for place in response.changedRecords.indices {
        response.changedRecords[place]["part1"] = nil
      }
      return response
    }
    let other = try ChangesetRemote(
      phone.repository,
      operationHandler: handler,
      zoneID: RemoteBench.zone,
      assets: AssetOptions(folder: folder.file("phone"))
    )
    #expect(try await other.fetch() == [])
    #expect(try phone.repository.status().refused.count == 1)
    #expect(try phone.rows("SELECT count(*) FROM changesets_log") == ["0"])
  }

  @Test func pagesOfOneRecordBringChildrenBeforeTheirParents() async throws {
    let cloud = LocalCloud()
    cloud.options.pageSize = 1
    let (desk, phone) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    // The second pack is written first.
    let packs = try ["a", "b"]
      .map { name -> [UInt8] in
        try desk.commit("INSERT INTO people(id) VALUES('\(name)')")
        return try desk.repository.write { (work) throws(ChangesetError) in
          let last = try work.info.integer(.pushed) ?? 0
          let next = try PackBuilder(work: work).next(after: last)
          try work.info.set(.pushed, .integer(next?.numbers.last ?? 0))
          return next?.pack.bytes ?? []
        }
      }
    for bytes in packs.reversed() {
      try await RemoteBench.write(bytes, as: Pack.name(of: bytes), cloud)
    }
    let other = try RemoteBench.remote(phone, cloud, device: "phone")
    #expect(try await other.fetch().count == 2)
    #expect(try phone.repository.status().waitingCount == 0)
    try phone.repository.pull()
    try HistoryBench.expectEqual([desk, phone])
  }
}
