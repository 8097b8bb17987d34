import CloudSyncSimulator

/// A checker that asks for less once a zone was lost, or somebody has removed a record: what others had in it may be lost
/// with it.
protocol ZoneLossChecker: SimulationChecker {
  /// Whether a zone or a record was lost.
  var losesZones: Bool { get set }
}

extension ZoneLossChecker {
  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    switch event {
    case .zoneLost, .recordRemoved: losesZones = true
    default: break
    }
    return nil
  }
}
