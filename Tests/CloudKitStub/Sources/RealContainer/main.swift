import CloudKit
import CloudSyncCloudKit
import CloudSyncLocalCloud
import Foundation

// Runs the conformance suite against a real container: in a Mac app, or a signed tool, with the entitlement for it.
// The second argument names the run, as every check needs zones that are new: give each run another one.
let (container, run) = (
  CommandLine.arguments.dropFirst().first ?? "", CommandLine.arguments.last ?? ""
)
for (number, check) in OperationHandlerConformance.all.enumerated() {
  let zone = "Conformance-\(run)-\(number)"
  let folder = FileManager.default.temporaryDirectory.path + "/\(zone)"
  let (zoneID, can) = (ZoneID(name: zone), ConformanceCapabilities.cloudKit(assetFolder: folder))
  let cloud = ConformanceCloud(zoneID: zoneID, capabilities: can) { _ in
    CloudKitOperationHandler(
      database: CKContainer(identifier: container).privateCloudDatabase,
      zoneID: CKRecordZone.ID(zoneName: zone),
      assets: AssetCache(folder: folder + "-received")
    )
  }
  if let reason = check.reasonLeftOut(for: cloud) { print("\(check): left out, \(reason)") }
  for failure in await check.run(cloud) { print("\(check): \(failure)") }
}
