#if canImport(Observation)
import CloudSyncCore

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
extension SyncEngineStatus {
  /// Creates a status that follows an engine over all of its runs.
  public convenience init(of engine: SyncEngine) {
    self.init(following: engine.activity.publisher, from: engine.control.activity)
  }
}
#endif
