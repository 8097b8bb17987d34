/// What a simulation is made of; together with the version of the package it says everything.
public struct SimulationOptions: Sendable, Hashable {
  /// Where every draw comes from.
  public var seed: UInt64
  /// How many devices there are, at least 1.
  public var devices = 3
  /// How many edits users make, besides those of the beginning.
  public var edits = 200
  /// How many records the edits are of; nil for a number that fits the edits.
  public var records: Int?
  /// What goes wrong, and how often.
  public var faults = FaultPlan.default
  /// Whether the event logs of all sessions are kept.
  public var keepsLogs = false
  /// In how much simulated time everything must come to rest by itself, each time that the users
  /// have looked after their devices in the quiet phase.
  public var quietLimit = Duration.seconds(100_000)

  /// Creates options.
  public init(seed: UInt64) { self.seed = seed }

  /// How many records the edits are of.
  var recordCount: Int {
    get { max(1, records ?? min(5_000, max(6, edits / 5))) }
    set { records = newValue }
  }

  /// What the tool calls the devices; nil for its default.
  package var device: String?

  /// The command that runs the same simulation again.
  public var command: String { (["cloudsync"] + arguments).joined(separator: " ") }

  /// What the tool is told to run the same simulation again.
  package var arguments: [String] {
    var words = ["simulate", "--seed", "\(seed)"]
    if let device { words += ["--device", device] }
    if devices != 3 { words += ["--devices", "\(devices)"] }
    if edits != 200 || device != nil { words += ["--edits", "\(edits)"] }
    if let records { words += ["--records", "\(records)"] }
    if faults != .default { words += ["--faults", "\(faults)"] }
    return words
  }
}
