import CloudSyncEventLog
import CloudSyncSimulator

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Where the event logs of simulations are written: a new folder, made when the first is written
/// unless the user named it.
struct LogFolder: Sendable {
  private let wanted: String?

  /// Makes the folder that is wanted, which must not exist.
  init(_ wanted: String?) throws {
    self.wanted = wanted
    if let wanted, mkdir(wanted, 0o777) != 0 {
      let reason = String(cString: strerror(errno))
      throw ToolError.failure("the folder \(wanted) cannot be made: \(reason); name a new one")
    }
  }

  /// Whether the user named it.
  var isWanted: Bool { wanted != nil }

  /// Writes the logs of a simulation; returns where they are.
  func write(_ outcome: SimulationOutcome) throws -> String {
    let path = try wanted ?? temporary()
    for log in outcome.logs {
      let name = "seed-\(outcome.options.seed)-device-\(log.device)-process-\(log.process).jsonl"
      try LogFile.write(log.data, to: "\(path)/\(name)")
    }
    return path
  }

  private func temporary() throws -> String {
    var template = Array(
      (FileManager.default.temporaryDirectory.path + "/cloudsync-simulate-XXXXXX").utf8CString
    )
    guard mkdtemp(&template) != nil else {
      let reason = String(cString: strerror(errno))
      throw ToolError.failure("no folder for logs can be made: \(reason); name one with --log-dir")
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
