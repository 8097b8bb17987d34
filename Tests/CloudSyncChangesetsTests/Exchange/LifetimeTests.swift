import CloudSyncChangesets
import CloudSyncCore
import CloudSyncLocalCloud
import Testing

/// What is left of a history's objects that nobody holds: nothing.
struct LifetimeTests {
  @Test(arguments: [false, true])
  func whoLetsGoOfARemoteLeavesNothingBehind(isUsed: Bool) async throws {
    let cloud = LocalCloud()
    weak var repository: ChangesetRepository?
    weak var remote: ChangesetRemote?
    weak var session: CloudSyncSession?
    try await {
      let desk = try HistoryBench(replica: "desk")
      try desk.commit("INSERT INTO people(id, score) VALUES('a', 0)")
      let one = try RemoteBench.remote(desk, cloud)
      (repository, remote, session) = (desk.repository, one, one.session)
      guard isUsed else { return }
      _ = try await one.sync()
      one.stop()
    }()
    #expect(remote == nil && repository == nil && session == nil)
  }
}
