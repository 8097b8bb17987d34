import CloudSyncSession
import Foundation

/// One line of the table: how long something takes with so many of everything around it.
struct ScalingRow {
  /// How many times the time the large size may take.
  static let most = 2.0
  private static let runs = 5

  let name: String
  /// What is counted: a call, a response, a record.
  let unit: String
  /// Makes everything anew with so many, and returns the nanoseconds for one unit.
  let run: (Int) throws -> Double

  /// The medians at both sizes; the first runs warm up.
  func measure(_ sizes: (small: Int, large: Int)) throws -> (small: Double, large: Double) {
    var times: (small: [Double], large: [Double]) = ([], [])
    for run in 0...Self.runs {
      let small = try self.run(sizes.small)
      let large = try self.run(sizes.large)
      guard run > 0 else { continue }
      times.small.append(small)
      times.large.append(large)
    }
    return (times.small.sorted()[Self.runs / 2], times.large.sorted()[Self.runs / 2])
  }

  /// Measures rows and prints them as a Markdown table.
  static func printTable(_ rows: [ScalingRow], sizes: (small: Int, large: Int)) throws {
    let (small, large) = (Double(sizes.small).grouped, Double(sizes.large).grouped)
    print("\n| what | one | at \(small) | at \(large) | times | |")
    print("| --- | --- | --- | --- | --- | --- |")
    var slow = 0
    for row in rows {
      let (small, large) = try row.measure(sizes)
      let ratio = large / small
      if ratio > most { slow += 1 }
      print(
        "| \(row.name) | \(row.unit) | \(micro(small)) | \(micro(large)) | "
          + "\(ratio.rounded(2)) | \(ratio <= most ? "✔" : "✘") |"
      )
    }
    print("\n\(rows.count) rows, \(slow) above \(most.rounded(0)) times")
  }

  private static func micro(_ nanoseconds: Double) -> String {
    "\((nanoseconds / 1000).rounded(nanoseconds < 10_000 ? 2 : 0)) µs"
  }

  /// The nanoseconds of processor time that a body takes, on all threads: a machine that is busy with
  /// something else changes them little.
  @inline(never)  // By its name a profiler counts what is in it.
  static func time(_ body: () throws -> Void) rethrows -> Double {
    let start = processorTime()
    try body()
    return processorTime() - start
  }

  private static func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
}
