import CloudSyncEventLog
import CloudSyncSession
import CloudSyncSimulator

/// What it takes to work with a log that has been opened.
enum ReplayBenchmarks {
  /// Events a second of running a log again.
  static func rerun(_ log: EventLog) throws -> Double {
    var rates: [Double] = []
    for run in 0...5 {
      let clock = ContinuousClock()
      let start = clock.now
      let result = try Replay.rerun(log)
      let elapsed = (clock.now - start).nanoseconds
      precondition(result.isFaithful && result.eventCount == log.count, "It did something else.")
      if run > 0 { rates.append(Double(result.eventCount) / elapsed * 1e9) }
    }
    return rates.sorted()[2]
  }

  /// Milliseconds to the state at 50 places of a log: the median, and the longest.
  static func jumps(_ log: EventLog) throws -> (median: Double, longest: Double) {
    var random = SeededRandom(seed: 50)
    let first = log.firstSequence ?? 0
    var times: [Double] = []
    for jump in 0...50 {
      let sequence = first + UInt64(random.below(log.count))
      let clock = ContinuousClock()
      let start = clock.now
      let state = try log.state(at: sequence)
      let elapsed = (clock.now - start).nanoseconds / 1e6
      precondition(state.eventCount == sequence, "It is another state.")
      if jump > 0 { times.append(elapsed) }
    }
    times.sort()
    return (times[times.count / 2], times[times.count - 1])
  }

  /// Seconds to write a report, and its bytes.
  static func report(_ log: EventLog, in folder: ScratchFolder) throws -> (Double, Int) {
    var times: [Double] = []
    for run in 0...3 {
      let clock = ContinuousClock()
      let start = clock.now
      try LogReport.write(log, toFile: folder.path("report.html"), title: "Benchmark")
      if run > 0 { times.append((clock.now - start).nanoseconds / 1e9) }
    }
    return (times.sorted()[1], try folder.size("report.html"))
  }
}
