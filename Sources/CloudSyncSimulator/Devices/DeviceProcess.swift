public import CloudSyncCore

/// A run of the app on a simulated device: everything that it needs for its session.
public struct DeviceProcess: Sendable {
  /// What the session sends its requests to.
  public let handler: any OperationHandler
  /// The session's clock, executor and timer.
  public let environment: SyncEnvironment
  /// How the session is to be configured in this simulation: pages may have to be acknowledged, and what is refused may
  /// be handed back.
  public let configuration: SyncConfiguration
  /// Where callbacks are to run: nil for the session's own executor.
  public let callbackExecutor: SyncExecutor?
  /// The gate that all sessions of the process share: nil if the device's is the only one.
  public let gate: SyncGate?
  /// Runs jobs of the app, and none once the process has ended.
  public let executor: SyncExecutor
  /// How conflicts are to be resolved.
  public let resolver: ConflictResolver
  /// What the clock of the device shows.
  public var now: Timestamp { process.clock.now }
  let process: SimulatedProcess
  let didMake: @Sendable (CloudSyncSession) -> Void
  let plan: @Sendable () -> FaultPlan
  let accepted: @Sendable (ModifyOperation) -> Void
  let didFail: @Sendable (FaultPoint) -> Void

  /// Whether the process has not ended.
  public var isAlive: Bool { process.isAlive }

  /// Lets the simulation watch a session: call it as soon as the session is made.
  ///
  /// It also appends the middleware that asks about the account, where the simulation has one.
  ///
  /// An app may make a session after another; the last one is watched.
  public func adopt(_ session: CloudSyncSession) { didMake(session) }

  /// Tells that the session has called `accepted` of a modification, as soon as it does.
  public func didAccept(_ operation: ModifyOperation) { accepted(operation) }

  /// How often something goes wrong in the storage layer now: never before the devices are in step,
  /// nor when everything heals.
  public func ratio(of point: FaultPoint) -> FaultPlan.Ratio { plan()[point] }

  /// Notes that something went wrong in the storage layer.
  ///
  /// After ``FaultPoint/killedWriting`` the process has ended, as one that crashes right here: nothing
  /// may be stored any more, and the simulation launches the app again later.
  public func fail(at point: FaultPoint) { didFail(point) }
}
