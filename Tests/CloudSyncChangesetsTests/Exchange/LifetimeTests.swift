import CloudSyncChangesets
import CloudSyncCore
import CloudSyncLocalCloud
import Testing

/// What is left of a history's objects that nobody holds: nothing.
struct LifetimeTests {
  @Test(arguments: [false, true])
  func whoLetsGoOfARemoteLeavesNothingBehind(isUsed: Bool) async throws {
    let cloud = LocalCloud()
    // All is done when a call returns: no other thread still holds what it has worked with.
    var environment = SyncEnvironment.live
    environment.makeExecutor = { .immediate }
    weak var repository: ChangesetRepository?
    weak var remote: ChangesetRemote?
    weak var session: CloudSyncSession?
    try await { [environment] in
      let desk = try HistoryBench(replica: "desk")
      try desk.commit("INSERT INTO people(id, score) VALUES('a', 0)")
      let one = try ChangesetRemote(
        desk.repository,
        operationHandler: RemoteBench.handler(cloud, device: "desk"),
        zoneID: RemoteBench.zone,
        environment: environment
      )
      (repository, remote, session) = (desk.repository, one, one.session)
      guard isUsed else { return }
      _ = try await one.sync()
      one.stop()
    }()
    #expect(remote == nil && repository == nil && session == nil)
  }
}
