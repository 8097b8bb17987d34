public import CloudSyncCore

/// A run of the app on a simulated device: everything that it needs for its session.
public struct DeviceProcess: Sendable {
  /// What the session sends its requests to.
  public let handler: any OperationHandler
  /// The session's clock, executor and timer.
  public let environment: SyncEnvironment
  /// How the session is to be configured in this simulation.
  public let configuration: SyncConfiguration
  /// Where callbacks are to run: nil for the session's own executor.
  public let callbackExecutor: SyncExecutor?
  /// Runs jobs of the app, and none once the process has ended.
  public let executor: SyncExecutor
  /// How conflicts are to be resolved.
  public let resolver: ConflictResolver
  let process: SimulatedProcess
  let didMake: @Sendable (CloudSyncSession) -> Void

  /// Whether the process has not ended.
  public var isAlive: Bool { process.isAlive }

  /// Lets the simulation watch a session: call it as soon as the session is made.
  ///
  /// It also appends the middleware that asks about the account, where the simulation has one.
  public func adopt(_ session: CloudSyncSession) { didMake(session) }
}
