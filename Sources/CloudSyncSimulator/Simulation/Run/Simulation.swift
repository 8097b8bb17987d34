/// Some devices, one cloud, and everything that can go wrong: one run is a function of its seed.
///
/// The devices start in sync and drift apart: users edit the same few records, delete and make them
/// again, in bursts, while requests get lost, services refuse, zones disappear, clocks are wrong and
/// apps are killed. Then everything heals, and in the end all must be well. ``SimulationChecker``s
/// watch all the while.
///
/// ```swift
/// let outcome = Simulation<NotesDevice>(SimulationOptions(seed: 42)).run()
/// #expect(outcome.violation == nil, "\(outcome.options.command)")
/// ```
///
/// The default device is ``NotesDevice``; give a type of your own that conforms to
/// ``SimulatedDevice`` to try your own storage layer.
public struct Simulation<Device: SimulatedDevice>: Sendable {
  /// What the simulation is made of.
  public internal(set) var options: SimulationOptions
  private let checkers: @Sendable () -> sending [any SimulationChecker]
  package var mutation: (any SimulationMutation)?

  /// Creates a simulation.
  ///
  /// - Parameters:
  ///   - options: What it is made of.
  ///   - checkers: Makes further checkers for a run.
  public init(
    _ options: SimulationOptions,
    checkers: @escaping @Sendable () -> sending [any SimulationChecker] = { [] }
  ) {
    self.options = options
    self.checkers = checkers
  }

  /// Runs it, on the calling thread, from the beginning to the end or to the first violation.
  public func run() -> SimulationOutcome {
    SimulationRun(
      options,
      makeDevice: { Device($0) },
      mutation: mutation,
      recordCheckers: { Device.makeCheckers() },
      checkers: checkers
    )
    .execute()
  }
}
