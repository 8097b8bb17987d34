package import CloudSyncCore

/// A session with a scripted handler.
package final class SessionHarness: SessionBench {
  package let world = VirtualEnvironment()
  package let handler: ScriptedHandler
  package let session: CloudSyncSession
  package let announcements: Announcements

  package static let zoneID = ZoneID(name: "Notes")

  package init(
    limits: RequestLimits = RequestLimits(),
    configuration: SyncConfiguration = SyncConfiguration(),
    resolver: ConflictResolver = .client,
    resolveExpiredChangeToken: (@Sendable () -> ChangeToken?)? = nil,
    restoring archive: SyncArchive? = nil,
    timestampUnit: Duration = .nanoseconds(1),
    script: ScriptedHandler.Script = ScriptedHandler.Script()
  ) {
    handler = ScriptedHandler(
      in: world,
      limits: limits,
      timestampUnit: timestampUnit,
      script: script
    )
    if let archive {
      session = CloudSyncSession(
        restoring: archive,
        operationHandler: handler,
        resolver: resolver,
        resolveExpiredChangeToken: resolveExpiredChangeToken,
        environment: world.environment
      )
    } else {
      session = CloudSyncSession(
        operationHandler: handler,
        zoneID: Self.zoneID,
        configuration: configuration,
        resolver: resolver,
        resolveExpiredChangeToken: resolveExpiredChangeToken,
        environment: world.environment
      )
    }
    announcements = Announcements(of: session)
  }

  package static func id(_ name: String) -> RecordID { RecordID(name: name, zoneID: zoneID) }

  package static func record(
    _ name: String,
    _ fields: [String: FieldValue] = ["x": 1],
    tag: String? = nil
  ) -> Record {
    Record(recordType: "Note", recordID: id(name), fields: fields, changeTag: tag)
  }
}
