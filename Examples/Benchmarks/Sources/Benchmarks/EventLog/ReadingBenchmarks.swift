import CloudSyncEventLog
import CloudSyncSession
import Foundation

/// What it takes to read a log, and what the memory of it.
enum ReadingBenchmarks {
  /// Reads a log event by event and folds the states; returns how many events it has.
  @discardableResult
  static func fold(_ path: String) throws -> Int {
    var reader = try LogReader(path: path)
    var state = reader.header.state
    var digest: LogDigest?
    var count = 0
    while let step = try reader.next() {
      state.reduce(step.record.event, at: step.record.time)
      digest = step.digest
      count += 1
    }
    precondition(digest?.digest == LogDigest.of(state), "The fold ended in another state.")
    return count
  }

  /// Events a second of reading and folding a file.
  static func eventsPerSecond(_ path: String) throws -> Double {
    var rates: [Double] = []
    for run in 0...7 {
      let clock = ContinuousClock()
      let start = clock.now
      let count = try fold(path)
      if run > 0 { rates.append(Double(count) / (clock.now - start).nanoseconds * 1e9) }
    }
    return rates.sorted()[3]
  }
}
