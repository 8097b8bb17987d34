package import CloudSyncCore

/// A mistake that is put into a simulation on purpose, to show that its checkers find it.
package protocol SimulationMutation: Sendable {
  /// Puts something between a session and its handler.
  func handler(base: any OperationHandler, device: Int) -> any OperationHandler
  /// Puts something into a session.
  func attach(to session: CloudSyncSession, device: Int)
  /// Changes what a session takes from the world.
  func environment(base: SyncEnvironment, device: Int) -> SyncEnvironment
  /// Changes what sessions are told to do.
  func configuration(base: SyncConfiguration) -> SyncConfiguration
  /// Changes the gate that a device's session joins.
  func gate(base: SyncGate?) -> SyncGate?
  /// Changes what is told of a session, as if it had done otherwise.
  func told(_ event: SimulationEvent, device: Int) -> [SimulationEvent]
  /// Further checkers.
  func makeCheckers() -> sending [any SimulationChecker]
}

extension SimulationMutation {
  package func handler(base: any OperationHandler, device: Int) -> any OperationHandler { base }
  package func attach(to session: CloudSyncSession, device: Int) {}
  package func environment(base: SyncEnvironment, device: Int) -> SyncEnvironment { base }
  package func configuration(base: SyncConfiguration) -> SyncConfiguration { base }
  package func gate(base: SyncGate?) -> SyncGate? { base }
  package func told(_ event: SimulationEvent, device: Int) -> [SimulationEvent] { [event] }
  package func makeCheckers() -> sending [any SimulationChecker] { [] }
}
