public import CloudSyncCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An app on a device, as a simulation sees it: a storage layer over a session.
///
/// Conform your app's storage layer to it to have it go through everything that a ``Simulation`` can
/// think of. ``NotesDevice`` is a complete one of a few pages.
///
/// An object stands for the device's disk as well as for the app: what ``quit()`` does not forget
/// survives. The simulation calls it from one thread. Take care of three things:
///
/// - Call ``DeviceProcess/adopt(_:)`` with a new session before any other call of it.
/// - Once the process has ended nothing may be stored any more: let callbacks run on the executor of
///   the process, or ask ``DeviceProcess/isAlive`` in each.
/// - What ``apply(_:)`` was given must never be lost, whenever the process ends.
public protocol SimulatedDevice: AnyObject, Sendable {
  /// Creates a device on which nothing is stored.
  init(_ setup: DeviceSetup)

  /// Starts the app: makes a session, or restores it from what is stored, and starts it.
  func launch(_ process: DeviceProcess)

  /// Forgets everything that was only in memory: the process has ended.
  func quit()

  /// The session of the running app.
  ///
  /// Now and then the simulation waits for it, as an app does that a push has woken: `idle(upTo:)`, and
  /// `fetchNow(upTo:)`, which fetches besides what the device asks for itself.
  var session: CloudSyncSession? { get }

  /// Takes edits that the user made together, each of another record.
  ///
  /// When it returns they are stored: the user may rely on them.
  func apply(_ edits: [DeviceEdit])

  /// Fetches what has changed: a push came, or the user wants to see.
  func fetch()

  /// Does what a user does to get going again: starts a halted session, sends parked records again,
  /// decides about a lost zone.
  func repair()

  /// What the user sees, sorted by name.
  func contents() -> [DeviceRecord]

  /// Whether it is going to ask the cloud for something by itself, of which its session does not know yet.
  var hasPlans: Bool { get }

  /// The bytes from which the session would be restored; nil if the device does not tell.
  var archive: Data? { get }

  /// Loses the end of the last bytes that were written for the session, or all of them, as in a crash
  /// amid a write, and finds other bytes in their place.
  ///
  /// - Parameter tail: What stands behind the end then: nothing, zeros, or anything.
  /// - Returns: Whether it did.
  func tearArchive(leaving tail: Data) -> Bool

  /// Whether its sessions join ``DeviceProcess/gate``: then the app may have another session for another zone.
  static var sharesGate: Bool { get }

  /// The middleware of its own that its sessions may have: logs are run again with them.
  static var middleware: [any Middleware] { get }

  /// The checkers that know what is in the records, instead of those for ``NotesDevice``'s.
  ///
  /// - Returns: The checkers for a run; nil if a record's fields have the numbers of the edits that set
  ///   them, conflicts are the session's to resolve, and ``contents()`` is what the cloud has.
  static func makeCheckers() -> sending [any SimulationChecker]?
}

extension SimulatedDevice {
  /// All that it does begins with an edit, a push or a response.
  public var hasPlans: Bool { false }
  /// Nothing is told.
  public var archive: Data? { nil }
  /// Writes are whole.
  public func tearArchive(leaving tail: Data) -> Bool { false }
  /// The device's session is the only one.
  public static var sharesGate: Bool { false }
  /// Sessions have the usual middleware only.
  public static var middleware: [any Middleware] { [] }
  /// The records are those of ``NotesDevice``.
  public static func makeCheckers() -> sending [any SimulationChecker]? { nil }
}

/// A device that can begin with what another one has stored.
package protocol AcquaintedDevice: SimulatedDevice {
  /// Tells it which devices there are, before any of them is launched.
  func meet(_ devices: [any SimulatedDevice])
}

/// What a simulation gives a device to begin with.
public struct DeviceSetup: Sendable {
  /// Counts the devices from 0.
  public let number: Int
  /// The zone to keep in step.
  public let zoneID: ZoneID
  /// A seed of the device's own.
  public let seed: UInt64
  /// A seed that all devices of a simulation have in common.
  public let commonSeed: UInt64

  /// Creates a setup.
  public init(number: Int, zoneID: ZoneID, seed: UInt64, commonSeed: UInt64 = 0) {
    self.number = number
    self.zoneID = zoneID
    self.seed = seed
    self.commonSeed = commonSeed
  }
}

/// An edit of the user's.
public struct DeviceEdit: Sendable, Hashable {
  /// What is done.
  public enum Change: Sendable, Hashable {
    /// The field of this name gets the edit's number as its value.
    case set(field: String)
    /// The record is deleted.
    case delete
  }

  /// The number of the edit, counting from 1 over all devices; also the value that is set.
  public let number: Int64
  /// The record's name; it comes into being when a field is set.
  public let name: String
  /// What is done.
  public let change: Change

  /// Creates an edit.
  public init(number: Int64, name: String, change: Change) {
    self.number = number
    self.name = name
    self.change = change
  }
}

/// A record as the user sees it.
public struct DeviceRecord: Sendable, Hashable {
  /// A field and its value.
  public struct Field: Sendable, Hashable {
    /// The field's name.
    public let name: String
    /// The number of the edit that set it.
    public let value: Int64

    /// Creates a field.
    public init(name: String, value: Int64) {
      self.name = name
      self.value = value
    }
  }

  /// The record's name.
  public let name: String
  /// The fields, sorted by name.
  public let fields: [Field]

  /// Creates a record.
  public init(name: String, fields: [Field]) {
    self.name = name
    self.fields = fields
  }

  /// The record as the cloud has it.
  public init(_ record: Record) {
    name = record.recordID.name
    fields = record.fields.compactMap { field in
      guard case .int64(let value) = field.value else { return nil }
      return Field(name: field.name, value: value)
    }
  }
}

extension DeviceRecord: CustomStringConvertible {
  /// The name and the fields in one line.
  public var description: String {
    "\(name)(\(fields.map { "\($0.name): \($0.value)" }.joined(separator: ", ")))"
  }
}
