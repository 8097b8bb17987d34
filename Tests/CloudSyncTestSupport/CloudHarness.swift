package import CloudSyncCore

/// A session over a stub cloud.
package final class CloudHarness: SessionBench {
  package let world = VirtualEnvironment()
  package let cloud: StubCloud
  package let session: CloudSyncSession
  package let announcements: Announcements

  package init(
    options: StubCloud.Options = StubCloud.Options(),
    configuration: SyncConfiguration = SyncConfiguration(),
    resolver: ConflictResolver = .client,
    fault: @escaping StubCloud.Faults = { _, _ in nil }
  ) {
    cloud = StubCloud(in: world, options: options, fault: fault)
    session = CloudSyncSession(
      operationHandler: cloud,
      zoneID: SessionHarness.zoneID,
      configuration: configuration,
      resolver: resolver,
      environment: world.environment
    )
    announcements = Announcements(of: session)
  }

  /// What is wrong with the session by the cloud's account or by its own.
  package var wrongs: [String] {
    cloud.violations + [brokenInvariant].compactMap(\.self)
  }

  /// The values that were stored for a field of a record, in order; nil for its deletions.
  package func values(of name: String, field: String = "x") -> [FieldValue?] {
    cloud.changes.filter { $0.recordID.name == name }.map { $0.edit?[field] }
  }
}

extension Record {
  /// A record of the benches with one number.
  package static func note(_ name: String, _ x: Int, tag: String? = nil) -> Record {
    SessionHarness.record(name, ["x": .int64(Int64(x))], tag: tag)
  }
}

extension ScriptedHandler.Reply where Value == ModifyOperation.Response {
  /// The response to a request of which single items failed.
  package static func items(_ failures: [(String, SyncError.Code)]) -> Self {
    let items = failures.map { ItemFailure(SessionHarness.id($0.0), SyncError($0.1)) }
    return .failure(SyncError(.partialFailure, itemErrors: items))
  }
}
