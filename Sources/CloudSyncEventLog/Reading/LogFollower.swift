public import CloudSyncCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Reads what is appended to a log's file, and goes on with the file that takes its place when it is
/// full.
public struct LogFollower {
  private let path: String
  /// The number of the last event that was returned.
  private var last: UInt64
  /// When the log begins that is being read; nil before the first reading.
  public private(set) var start: Timestamp?
  /// The file's number and size when it was last read.
  private var seen: (file: UInt64, size: Int64)?

  /// Follows a file from an event on.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - sequence: The number of the last event that is known already.
  public init(path: String, after sequence: UInt64) {
    self.path = path
    last = sequence
  }

  /// The events that have come since the last call; none if the file is as it was.
  ///
  /// - Returns: Whole events, in order.
  /// - Throws: What is wrong with the file; a last line that is not whole yet is no error.
  public mutating func newSteps() throws(LogError) -> [LogStep] {
    guard let now = Self.status(path: path) else {
      throw LogError(.file, log: path, "it cannot be read: \(LogSource.lastError)")
    }
    if let seen, seen == now { return [] }
    // An event whose effects are still on their way to the file is read with them the next time.
    let isGrowing = seen.map { $0.file == now.file } ?? false
    seen = now
    var reader = try LogReader(path: path, salvaging: true)
    start = reader.header.time
    if reader.header.state.eventCount < last, !isGrowing { last = reader.header.state.eventCount }
    var steps: [LogStep] = []
    while let step = try reader.next() {
      if step.sequence > last { steps.append(step) }
    }
    last = steps.last?.sequence ?? last
    return steps
  }

  private static func status(path: String) -> (file: UInt64, size: Int64)? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return (UInt64(status.st_ino), Int64(status.st_size))
  }
}
