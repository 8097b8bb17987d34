import CloudKit
import CloudSyncCloudKit
import CloudSyncLocalCloud
import CloudSyncSession
import CloudSyncSimulator
import Foundation
import StubCloud
import Testing

@Suite("Conformance of the CloudKit handler")
struct ConformanceTests {
  @Test(
    "The handler does what handlers must do, whatever CloudKit does where its documentation is silent",
    arguments: OperationHandlerConformance.all.indices,
    StubWays.all.indices
  )
  func conforms(check index: Int, ways: Int) async {
    for isAtomic in ways == 0 ? [false, true] : [false] {
      let world = StubWorld(options: { $0.pageSize = 50 })
      let (name, ways) = StubWays.all[ways]
      let devices = ["a", "b"]
        .map { device in
          world.stub(device, ways: ways, executor: SyncEnvironment.live.makeExecutor())
        }
      var capabilities = ConformanceCapabilities.cloudKit(assetFolder: world.folder + "/files")
      capabilities.knowsWriteTokens = ways.knowsClientTokens
      // The stub's fields need no type.
      capabilities.hasEmptyLists = true
      let cloud = ConformanceCloud(
        zoneID: StubWorld.zoneID,
        capabilities: capabilities,
        deleteZone: { reason in
          _ = try? world.cloud.deleteZone(
            StubWorld.zoneID,
            account: StubWorld.alice,
            reason: reason
          )
        }
      ) { device in
        var options = CloudKitOptions()
        options.isAtomic = isAtomic
        options.sendsClientChangeToken = ways.knowsClientTokens
        return CloudKitOperationHandler(
          database: devices[device == "a" ? 0 : 1].container.privateCloudDatabase,
          zoneID: CKRecordZone.ID(zoneName: StubWorld.zoneName),
          assets: AssetCache(folder: "\(world.folder)/received-\(device)"),
          options: options
        )
      }
      let check = OperationHandlerConformance.all[index]
      for failure in await check.run(cloud) {
        Issue.record("\(check), \(name), \(isAtomic ? "atomic" : "not atomic"): \(failure)")
      }
      withExtendedLifetime(devices) {}
    }
  }
}
