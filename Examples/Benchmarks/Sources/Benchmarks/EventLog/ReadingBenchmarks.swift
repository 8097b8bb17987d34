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

  // MARK: Memory

  /// How many kilobytes reading and folding a log needs at most, above what the process had before.
  ///
  /// It is measured in a process of its own, that has done nothing else.
  static func peakKilobytes(_ path: String) throws -> Int {
    let child = Process()
    child.executableURL = Bundle.main.executableURL
    child.arguments = ["peak", path]
    let output = Pipe()
    child.standardOutput = output
    try child.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    child.waitUntilExit()
    return Int(String(decoding: data, as: UTF8.self).split(separator: "\n").last ?? "") ?? -1
  }

  /// What that process does.
  static func printPeak(_ path: String) throws {
    let before = try peak()
    try fold(path)
    print(try peak() - before)
  }

  /// The most memory that the process has had so far, in kilobytes.
  private static func peak() throws -> Int {
    #if canImport(Darwin)
    var usage = rusage()
    getrusage(RUSAGE_SELF, &usage)
    return usage.ru_maxrss / 1024
    #else
    // What getrusage tells on Linux begins with the parent's.
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split(separator: " ").dropLast().last.flatMap { Int($0) } ?? 0
    #endif
  }
}
