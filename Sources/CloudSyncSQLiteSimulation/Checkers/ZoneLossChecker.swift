import CloudSyncSimulator

/// A checker that asks for less once a zone was lost: what others had in it may be lost with it.
protocol ZoneLossChecker: SimulationChecker {
  /// Whether a zone was lost.
  var losesZones: Bool { get set }
}

extension ZoneLossChecker {
  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    if case .zoneLost = event { losesZones = true }
    return nil
  }
}
