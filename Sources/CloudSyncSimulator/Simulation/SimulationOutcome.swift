import CloudSyncCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a simulation has come to.
public struct SimulationOutcome: Sendable {
  /// Something that must not happen.
  public struct Violation: Sendable, Hashable, CustomStringConvertible {
    /// What must hold.
    public let rule: String
    /// What is wrong.
    public let text: String
    /// When it was found.
    public let elapsed: Duration

    /// All of it in one line.
    public var description: String {
      "\(text) [\(rule); after \(Phrase.duration(elapsed.clampedNanoseconds))]"
    }
  }

  /// The event log of one process.
  public struct Log: Sendable {
    /// The number of the device.
    public let device: Int
    /// Counts the device's processes from 1.
    public let process: Int
    /// The bytes of the log.
    public let data: Data
  }

  /// What it was made of.
  public let options: SimulationOptions
  /// The first thing that went wrong; nil if all rules held.
  public internal(set) var violation: Violation?
  /// How much time passed in the world.
  public internal(set) var elapsed = Duration.zero
  /// How many events all sessions reduced.
  public internal(set) var eventCount = 0
  /// How many requests they made.
  public internal(set) var requestCount = 0
  /// What went wrong on purpose.
  public internal(set) var coverage = FaultCoverage()
  /// A number made of all that happened: two runs of a seed that differ have different ones.
  public internal(set) var digest: UInt64 = 0
  /// The event logs, by device and process, if they were kept.
  public internal(set) var logs: [Log] = []
}
