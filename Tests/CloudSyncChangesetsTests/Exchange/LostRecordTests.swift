import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

@testable import CloudSyncChangesets

/// Records that a cloud does not give, or gives damaged: no commit is lost by it.
@Suite struct LostRecordTests {
  @Test func aRecordThatAPageCouldNotBringIsAskedForByName() async throws {
    let cloud = LocalCloud()
    let (desk, phone) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    let one = try RemoteBench.remote(desk, cloud)
    try desk.commit("INSERT INTO people(id) VALUES('a')")
    try await one.push()
    try desk.commit("INSERT INTO people(id) VALUES('b')")
    try await one.push()
    let first = try #require(try RemoteBench.packs(cloud).first?.recordID)
    // The page and the first look-up fail for one record.
    let handler = ChangingHandler(RemoteBench.handler(cloud, device: "phone")) { _, response in
      var response = response
      guard response.changedRecords.contains(where: { $0.recordID == first }) else {
        return response
      }
      response.changedRecords.removeAll { $0.recordID == first }
      response.failures.append(ItemFailure(first, SyncError(.serviceUnavailable)))
      return response
    }
    let other = try ChangesetRemote(
      phone.repository,
      operationHandler: handler,
      zoneID: RemoteBench.zone
    )
    try await other.fetch()
    #expect(try phone.repository.status().refused.map(\.name) == [first.name])
    handler.set(nil)
    try await other.fetch()
    #expect(try phone.repository.status().refused == [])
    #expect(try phone.repository.status().waitingCount == 0)
    try phone.repository.pull()
    try HistoryBench.expectEqual([desk, phone])
  }

  @Test func aRecordThatIsGoneIsAskedForOnce() async throws {
    let cloud = LocalCloud()
    let phone = try HistoryBench(replica: "phone")
    let other = try RemoteBench.remote(phone, cloud, device: "phone")
    try await other.fetch()
    try phone.repository.write { (work) throws(ChangesetError) in
      try PackIntake(work: work).refuse(name: "pack-gone", because: "lost", bytes: nil)
    }
    try await other.fetch()
    #expect(try phone.repository.status().refused == [])
  }

  @Test func aPackThatIsDamagedInTheCloudIsMendedByWhoeverHasIt() async throws {
    let cloud = LocalCloud()
    let (desk, phone) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    let (one, other) = (
      try RemoteBench.remote(desk, cloud), try RemoteBench.remote(phone, cloud, device: "phone")
    )
    try desk.commit("INSERT INTO people(id) VALUES('a')")
    let bytes = try desk.repository.read { (work) throws(ChangesetError) in
      try PackBuilder(work: work).next(after: 0)?.pack.bytes ?? []
    }
    var damaged = bytes
    damaged[damaged.count - 1] ^= 1
    try await RemoteBench.write(damaged, as: Pack.name(of: bytes), cloud)
    try await other.fetch()
    #expect(try phone.repository.status().refused.count == 1)
    // The session finds the record there, but not with the content of its name.
    try await one.push()
    #expect(try await other.fetch().count == 1)
    #expect(try phone.repository.status().refused == [])
    try phone.repository.pull()
    try HistoryBench.expectEqual([desk, phone])
  }

  @Test func everyFlippedBitOfAPackIsRefusedAndWrittenNowhere() throws {
    let (desk, phone) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    try desk.commit("INSERT INTO people(id, name) VALUES('a', 'Ada')")
    try desk.repository.tag("release", "HEAD")
    let bytes = try desk.repository.read { (work) throws(ChangesetError) in
      var pack = try PackBuilder(work: work).next(after: 0)?.pack ?? Pack()
      pack.tags = try PackBuilder(work: work).tags()
      return pack.bytes
    }
    for bit in 0..<bytes.count * 8 {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      let flipped = damaged
      let new = try phone.repository.write { (work) throws(ChangesetError) in
        try PackIntake(work: work).take(name: Pack.name(of: bytes), .success(flipped)).new
      }
      #expect(new == [])
    }
    for length in 0..<bytes.count {
      let cut = Array(bytes[..<length])
      // Under a name of its own it is still no pack.
      let new = try phone.repository.write { (work) throws(ChangesetError) in
        try PackIntake(work: work).take(name: Pack.name(of: cut), .success(cut)).new
      }
      #expect(new == [])
    }
    #expect(try phone.rows("SELECT count(*) FROM changesets_log") == ["0"])
    #expect(try phone.repository.tags() == [])
  }

  @Test func resettingTheZoneKeepsWhatThisReplicaCannotRead() async throws {
    let cloud = LocalCloud()
    let (desk, phone) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    try desk.commit("INSERT INTO people(id) VALUES('a')")
    try await RemoteBench.remote(desk, cloud).push()
    try desk.commit("INSERT INTO people(id) VALUES('b')")
    try await RemoteBench.remote(desk, cloud).push()
    try await RemoteBench.write([1, 2, 3], as: "pack-of-a-newer-version", cloud)
    // A later process knows nothing of what was fetched before.
    let one = try RemoteBench.remote(desk, cloud)
    try await one.fetch()
    try await RemoteBench.remote(desk, cloud).reset()
    let names = try RemoteBench.packs(cloud).map(\.recordID.name)
    // Two packs became one.
    #expect(names.count == 2 && names.contains("pack-of-a-newer-version"))
    let other = try RemoteBench.remote(phone, cloud, device: "phone")
    #expect(try await other.fetch().count == 2)
  }

  @Test func aResetThatEndsAfterTheDeletionIsCompletedByTheNextPush() async throws {
    let cloud = LocalCloud()
    let (desk, phone) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    try desk.commit("INSERT INTO people(id) VALUES('a')")
    let handler = ChangingHandler(RemoteBench.handler(cloud, device: "desk"))
    let one = try ChangesetRemote(
      desk.repository,
      operationHandler: handler,
      zoneID: RemoteBench.zone
    )
    try await one.push()
    let session = one.session
    handler.beforeModify.withLock { before in
      before = { operation in if !operation.recordIDsToDelete.isEmpty { session.stop() } }
    }
    await #expect(throws: ChangesetError.self) { try await one.reset() }
    let again = try RemoteBench.remote(desk, cloud)
    try await again.push()
    let other = try RemoteBench.remote(phone, cloud, device: "phone")
    #expect(try await other.fetch().count == 1)
  }

  @Test func aZoneThatIsLostBetweenTwoPacksIsFilledWhole() async throws {
    let cloud = LocalCloud()
    let (desk, phone) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    let total = SuiteSize.count(500, long: 900)
    for number in 0..<total {
      try desk.commit("REPLACE INTO people(id, score) VALUES('a', \(number))")
    }
    let handler = ChangingHandler(RemoteBench.handler(cloud, device: "desk"))
    let count = Locked(0)
    handler.beforeModify.withLock { before in
      before = { _ in
        let number = count.withLock { count -> Int in
          count += 1
          return count
        }
        if number == 2 {
          _ = try? cloud.deleteZone(RemoteBench.zone, account: RemoteBench.ada)
        }
      }
    }
    let one = try ChangesetRemote(
      desk.repository,
      operationHandler: handler,
      zoneID: RemoteBench.zone
    )
    do { try await one.push() } catch {
      one.session.decideZone(.recreate)
      try await one.push()
    }
    let other = try RemoteBench.remote(phone, cloud, device: "phone")
    #expect(try await other.fetch().count == total)
    try phone.repository.pull()
    try HistoryBench.expectEqual([desk, phone])
  }

  @Test func whatWaitedWhenTheZoneWasLostIsSent() async throws {
    let cloud = LocalCloud()
    let desk = try HistoryBench(replica: "desk")
    let (phone, tablet) = (try HistoryBench(replica: "phone"), try HistoryBench(replica: "tablet"))
    try desk.commit("INSERT INTO people(id) VALUES('a')")
    try tablet.take(from: desk)
    try desk.commit("INSERT INTO people(id) VALUES('b')")
    // The zone has the second commit alone.
    let one = try RemoteBench.remote(phone, cloud, device: "phone")
    try await one.sync()
    let pack = try #require(try desk.repository.packOfLast(1))
    try await RemoteBench.write(pack.bytes, as: pack.name, cloud)
    try await one.sync()
    #expect(try phone.repository.status().waitingCount == 1)
    // The desk is lost, and the zone too.
    _ = try cloud.deleteZone(RemoteBench.zone, account: RemoteBench.ada, reason: .deleted)
    let other = try RemoteBench.remote(tablet, cloud, device: "tablet")
    for _ in 0..<3 { for remote in [other, one] { try await remote.sync() } }
    #expect(try phone.rows("SELECT id FROM people ORDER BY id") == ["'a'", "'b'"])
    #expect(try tablet.rows("SELECT id FROM people ORDER BY id") == ["'a'", "'b'"])
    try HistoryBench.expectEqual([phone, tablet])
  }

  @Test func afterAResetOfTheHistoryItsNewCommitsAreSent() async throws {
    let cloud = LocalCloud()
    let (desk, phone) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    let one = try RemoteBench.remote(desk, cloud)
    for name in ["a", "b", "c"] { try desk.commit("INSERT INTO people(id) VALUES('\(name)')") }
    try await one.push()
    try desk.repository.reset()
    let again = try RemoteBench.remote(desk, cloud)
    try desk.commit("INSERT INTO people(id) VALUES('d')")
    #expect(try await again.push().count == 1)
    let other = try RemoteBench.remote(phone, cloud, device: "phone")
    for remote in [again, other, again, other] { try await remote.sync() }
    try HistoryBench.expectEqual([desk, phone])
    #expect(try phone.rows("SELECT count(*) FROM people") == ["4"])
  }
}
