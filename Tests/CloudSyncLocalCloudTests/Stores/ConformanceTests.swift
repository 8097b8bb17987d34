import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncTestSupport
import Testing

@Suite("OperationHandlerConformance")
struct ConformanceTests {
  @Test(
    "A local cloud does what handlers must do",
    arguments: SuiteSize.pairs(
      8,
      Array(OperationHandlerConformance.all.indices),
      StoreKind.allCases
    )
  )
  func localCloudConforms(index: Int, kind: StoreKind) async throws {
    let check = OperationHandlerConformance.all[index]
    for change in Self.variants(index) {
      let world = try CloudWorld(kind, change)
      var cloud = ConformanceCloud(
        zoneID: CloudWorld.zoneID,
        deleteZone: { reason in
          _ = try? world.cloud.deleteZone(
            CloudWorld.zoneID,
            account: CloudWorld.alice,
            reason: reason
          )
        }
      ) { device in world.connect(device).connection }
      cloud.connectToOther = { device, zoneID in
        world.connect(device, CloudWorld.alice, zoneID).connection
      }

      // Files are the next test's.
      if let reason = check.reasonLeftOut(for: cloud) { #expect(reason.contains("assetFolder")) }
      for failure in await check.run(cloud) { Issue.record("\(check): \(failure)") }
    }
  }

  @Test(
    "A local cloud that keeps files does what handlers must do with assets",
    arguments: OperationHandlerConformance.all.indices
  )
  func filesConform(index: Int) async throws {
    let check = OperationHandlerConformance.all[index]
    var capabilities = ConformanceCapabilities()
    let folder = ScratchFolder.shared.newPath() + "-files"
    capabilities.assetFolder = folder
    let kept = LocalCloud(assetFolder: folder + "/cloud")
    var cloud = ConformanceCloud(zoneID: CloudWorld.zoneID, capabilities: capabilities) { device in
      kept.connect(device: device, account: CloudWorld.alice, zoneID: CloudWorld.zoneID)
    }
    cloud.connectToOther = { device, zoneID in
      kept.connect(device: device, account: CloudWorld.alice, zoneID: zoneID)
    }
    cloud.deleteZone = { reason in
      _ = try? kept.deleteZone(CloudWorld.zoneID, account: CloudWorld.alice, reason: reason)
    }

    #expect(check.reasonLeftOut(for: cloud) == nil)
    for failure in await check.run(cloud) { Issue.record("\(check): \(failure)") }
  }

  /// Ways of CloudKit that all conform.
  private static var variants: [(inout LocalCloudOptions) -> Void] {
    [
      { _ in },
      { $0.isAtomic = false },
      { $0.partialFailureShape = .response },
      { $0.missingDeletion = .unknownItem },
      { $0.knowsWriteTokens = false },
      { options in
        options.pageSize = 7
        options.emptyPages = 3
        options.itemLimit = 5
        options.tellsDeletedTypes = false
      },
    ]
  }

  /// What a check is run with: one of the variants, all of them in the long run.
  private static func variants(_ index: Int) -> [(inout LocalCloudOptions) -> Void] {
    if SuiteSize.isLong { return variants }
    return [variants[index % variants.count]]
  }

  @Test("A check that is left out says why")
  func leftOut() {
    func reasons(_ change: (inout ConformanceCloud) -> Void) -> Set<String> {
      var cloud = ConformanceCloud(zoneID: CloudWorld.zoneID) { _ in IdleHandler() }
      change(&cloud)
      return Set(OperationHandlerConformance.all.compactMap { $0.reasonLeftOut(for: cloud) })
    }
    let missing: Set<String> = [
      "for capabilities.assetFolder is nil", "for deleteZone is nil", "for connectToOther is nil",
    ]
    #expect(reasons { _ in } == missing)
    let added = { (change: (inout ConformanceCloud) -> Void) in reasons(change).subtracting(missing)
    }
    #expect(
      added { $0.capabilities.hasParents = false } == ["for capabilities.hasParents is false"]
    )
    #expect(
      added { $0.capabilities.keepsEncryptedKeys = false }
        == ["for capabilities.keepsEncryptedKeys is false"]
    )
    #expect(
      added { $0.capabilities.deletesWithTargets = false }
        == ["for capabilities.deletesWithTargets is false"]
    )
  }

  @Test("Every check tells a handler apart that does nothing")
  func brokenHandler() async {
    for check in OperationHandlerConformance.all.dropFirst() {
      var cloud = ConformanceCloud(zoneID: CloudWorld.zoneID) { _ in IdleHandler() }
      cloud.connectToOther = { _, _ in IdleHandler() }
      cloud.deleteZone = { _ in }
      cloud.capabilities.assetFolder = ScratchFolder.shared.newPath() + "-idle"

      let failures = await check.run(cloud)

      #expect(!failures.isEmpty, "\(check)")
    }
  }
}

/// Answers everything with a success, and does nothing.
private struct IdleHandler: OperationHandler {
  func handle(
    createZoneOperation: CreateZoneOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) { completion(.success(false)) }

  func handle(
    createSubscriptionOperation: CreateSubscriptionOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) { completion(.success(false)) }

  func handle(
    modifyOperation: ModifyOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
  ) { completion(.success(ModifyOperation.Response())) }

  func handle(
    fetchOperation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  ) { completion(.success(FetchOperation.Response(changeToken: nil))) }
}
