/// The regions of a state that few events change.
package struct ColdState: Sendable {
  package var configuration: SyncConfiguration {
    didSet { timeout = configuration.timeout.clampedNanoseconds }
  }
  package var phase = SessionPhase.created
  /// Whether announcements wait for `start()` because the session was restored.
  package var redeliversOnStart = false
  package var account = AccountRegion()
  package var zone: ZoneRegion
  package var fetch = FetchRegion()
  package var parked = ParkedRegion()
  package var sizing = SizingRegion()
  /// The last error that made the session wait.
  package var lastError: SyncError?
  /// Whether there is one; asked after every response, so that nothing of it is copied.
  package var hasLastError: Bool { if case .some = lastError { true } else { false } }
  /// How many nanoseconds a request may take.
  package internal(set) var timeout: Int64

  package init(zoneID: ZoneID, configuration: SyncConfiguration) {
    self.configuration = configuration
    timeout = configuration.timeout.clampedNanoseconds
    zone = ZoneRegion(zoneID: zoneID)
  }
}
