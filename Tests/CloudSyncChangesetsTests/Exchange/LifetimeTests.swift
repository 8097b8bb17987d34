import CloudSyncChangesets
import CloudSyncLocalCloud
import Testing

/// What a history's objects leave behind: nothing.
struct LifetimeTests {
  @Test func whoLetsGoOfARemoteLeavesNothingBehind() async throws {
    let cloud = LocalCloud()
    weak var repository: ChangesetRepository?
    weak var remote: ChangesetRemote?
    for isStopped in [true, false] {
      try await {
        let desk = try HistoryBench(replica: "desk")
        try desk.commit("INSERT INTO people(id, score) VALUES('a', 0)")
        let one = try RemoteBench.remote(desk, cloud)
        (repository, remote) = (desk.repository, one)
        _ = try await one.sync()
        if isStopped { one.stop() }
      }()
      #expect(remote == nil && repository == nil, "stopped: \(isStopped)")
    }
  }
}
