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
  let zoneName = "Conformance-\(run)-\(number)"
  var capabilities = ConformanceCapabilities()
  capabilities.assetFolder = FileManager.default.temporaryDirectory.path + "/\(zoneName)"
  (capabilities.knowsWriteTokens, capabilities.hasFiniteNumbersOnly) = (false, true)
  let folder = FileManager.default.temporaryDirectory.path + "/\(zoneName)-received"
  let cloud = ConformanceCloud(zoneID: ZoneID(name: zoneName), capabilities: capabilities) { _ in
    CloudKitOperationHandler(
      database: CKContainer(identifier: container).privateCloudDatabase,
      zoneID: CKRecordZone.ID(zoneName: zoneName),
      assets: AssetCache(folder: folder)
    )
  }
  for failure in await check.run(cloud) { print("\(check): \(failure)") }
}
