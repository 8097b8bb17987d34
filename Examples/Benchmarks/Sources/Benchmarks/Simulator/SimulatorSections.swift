import CloudSyncSimulator

/// The section about whole simulations.
enum SimulatorSections {
  private static let seeds: Range<UInt64> = 1..<321

  static func simulations() {
    let single = median { seed in Simulation<NotesDevice>(SimulationOptions(seed: seed)).run() }
    add(
      "simulations of 3 devices, 200 edits, default faults, all checkers",
      "100 seeds/s",
      "\(single.rate.rounded(0)) seeds/s",
      single.rate >= 100
    )
    let proved = median { seed in
      let simulation = Simulation<NotesDevice>(SimulationOptions(seed: seed))
      return seed % 16 == 0 ? simulation.runTwice() : simulation.run()
    }
    add(
      "the same, every 16th twice and its logs re-run",
      "300 seeds/s",
      "\(proved.rate.rounded(0)) seeds/s",
      proved.rate >= 300
    )
    add(
      "simulated time against real time",
      "1,000 times",
      "\(single.speed.grouped) times, \(single.events.grouped) events/s",
      single.speed >= 1_000
    )
  }

  /// The run of all seeds with the median rate: seeds, events and simulated seconds a second.
  private static func median(
    _ run: (UInt64) -> SimulationOutcome
  ) -> (rate: Double, events: Double, speed: Double) {
    let clock = ContinuousClock()
    var runs: [(rate: Double, events: Double, speed: Double)] = []
    for _ in 0..<4 {
      var (events, simulated) = (0.0, 0.0)
      let start = clock.now
      for seed in seeds {
        let outcome = run(seed)
        precondition(outcome.violation == nil, "Seed \(seed) broke a rule.")
        events += Double(outcome.eventCount)
        simulated += outcome.elapsed.nanoseconds / 1e9
      }
      let seconds = (clock.now - start).nanoseconds / 1e9
      runs.append((Double(seeds.count) / seconds, events / seconds, simulated / seconds))
    }
    // The first run warms up.
    return runs.dropFirst().sorted { $0.rate < $1.rate }[1]
  }
}
