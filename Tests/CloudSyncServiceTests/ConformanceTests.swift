import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncService
import CloudSyncTestSupport
import CloudSyncWebServices
import Foundation
import Testing

@Suite("Conformance through bytes")
struct ConformanceTests {
  /// Ways of CloudKit that all conform.
  private static var variants: [(inout LocalCloudOptions) -> Void] {
    [
      { _ in },
      { $0.partialFailureShape = .response },
      { $0.missingDeletion = .unknownItem },
      { $0.knowsWriteTokens = false },
      { options in
        options.pageSize = 7
        options.emptyPages = 3
        options.tellsDeletedTypes = false
      },
    ]
  }

  /// What a check is run with: one of the variants, all of them in the long run.
  private static func variants(_ index: Int) -> [(inout LocalCloudOptions) -> Void] {
    if SuiteSize.isLong { return variants }
    return [variants[index % variants.count]]
  }

  @Test(
    "Client and service do what handlers must do",
    arguments: SuiteSize.pairs(8, Array(OperationHandlerConformance.all.indices), [false, true])
  )
  func clientAndService(index: Int, isAtomic: Bool) async throws {
    let check = OperationHandlerConformance.all[index]
    let base = TestPath.folder
    let process = ProcessInfo.processInfo.processIdentifier
    let folder = "\(base)/cloudsync-conformance-\(process)-\(index)-\(isAtomic)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var capabilities = ConformanceCapabilities()
    capabilities.assetFolder = folder + "/files"
    for change in Self.variants(index) {
      try? FileManager.default.removeItem(atPath: folder)
      let world = ServiceWorld(assetFolder: folder + "/cloud", change)
      let clients = [try world.client("a"), try world.client("b")]
      var cloud = ConformanceCloud(
        zoneID: ServiceWorld.zoneID,
        capabilities: capabilities,
        deleteZone: { reason in
          _ = try? world.cloud.deleteZone(
            ServiceWorld.zoneID,
            account: ServiceWorld.alice,
            reason: reason
          )
        }
      ) { device in
        WebServicesOperationHandler(
          client: clients[device == "a" ? 0 : 1],
          zoneID: ServiceWorld.zoneID,
          isAtomic: isAtomic,
          assets: AssetCache(folder: "\(folder)/\(device)")
        )
      }
      cloud.connectToOther = { _, zoneID in
        WebServicesOperationHandler(client: clients[0], zoneID: zoneID, isAtomic: isAtomic)
      }
      #expect(check.reasonLeftOut(for: cloud) == nil)
      for failure in await check.run(cloud) { Issue.record("\(check): \(failure)") }
    }
  }

  @Test(
    "A handler behind the codec does what handlers must do",
    arguments: SuiteSize.some(8, of: Array(OperationHandlerConformance.all.indices))
  )
  func loopback(index: Int) async throws {
    let check = OperationHandlerConformance.all[index]
    for change in Self.variants(index) {
      var options = LocalCloudOptions()
      change(&options)
      let cloud = LocalCloud(options: options)
      let conformance = ConformanceCloud(zoneID: ServiceWorld.zoneID) { device in
        let connection = cloud.connect(
          device: device,
          account: ServiceWorld.alice,
          zoneID: ServiceWorld.zoneID
        )
        return WireLoopbackHandler(connection, zoneID: ServiceWorld.zoneID)
      }
      for failure in await check.run(conformance) { Issue.record("\(check): \(failure)") }
    }
  }

  @Test(
    "Client and service over a file do what handlers must do",
    arguments: SuiteSize.some(2, of: Array(OperationHandlerConformance.all.indices))
  )
  func file(index: Int) async throws {
    let folder = TestPath.folder
    let path = "\(folder)/cloudsync-wire-\(ProcessInfo.processInfo.processIdentifier)-\(index)"
    defer {
      for suffix in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: path + suffix)
      }
    }
    let world = ServiceWorld(store: try SQLiteStore(path: path))
    let clients = [try world.client("a"), try world.client("b")]
    let check = OperationHandlerConformance.all[index]
    let cloud = ConformanceCloud(zoneID: ServiceWorld.zoneID) { device in
      WebServicesOperationHandler(
        client: clients[device == "a" ? 0 : 1],
        zoneID: ServiceWorld.zoneID
      )
    }
    for failure in await check.run(cloud) { Issue.record("\(check): \(failure)") }
  }
}
