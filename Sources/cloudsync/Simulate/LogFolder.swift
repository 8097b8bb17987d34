import CloudSyncEventLog
import CloudSyncSimulator

/// Where the event logs of simulations are written: a new folder, made when the first is written
/// unless the user named it.
struct LogFolder: Sendable {
  private let wanted: String?

  /// Makes the folder that is wanted, which must not exist.
  init(_ wanted: String?) throws {
    self.wanted = wanted
    if let wanted { try NewFolder.make(at: wanted) }
  }

  /// Whether the user named it.
  var isWanted: Bool { wanted != nil }

  /// Writes the logs of a simulation; returns where they are.
  func write(_ outcome: SimulationOutcome) throws -> String {
    let path = try wanted ?? NewFolder.makeTemporary(for: "simulate", option: "--log-dir")
    for log in outcome.logs {
      let name = Self.name(of: log, seed: outcome.options.seed)
      try LogFile.write(log.data, to: "\(path)/\(name)")
    }
    return path
  }

  static func name(of log: SimulationOutcome.Log, seed: UInt64) -> String {
    "seed-\(seed)-device-\(log.device)-process-\(log.process).jsonl"
  }
}
