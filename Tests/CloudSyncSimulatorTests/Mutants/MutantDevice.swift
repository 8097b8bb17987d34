import CloudSyncCore
import CloudSyncSimulator

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A mistake of an app.
protocol DeviceFlaw: Sendable {
  /// The edits that the app takes of those that the user made, in parts.
  static func taken(_ edits: [DeviceEdit]) -> [[DeviceEdit]]
  /// What the app shows.
  static func shown(_ contents: [DeviceRecord]) -> [DeviceRecord]
  /// What is stored of the session.
  static func stored(_ archive: Data) -> Data
  /// Whether the disk survives the process.
  static var keepsDisk: Bool { get }
}

extension DeviceFlaw {
  static func taken(_ edits: [DeviceEdit]) -> [[DeviceEdit]] { [edits] }
  static func shown(_ contents: [DeviceRecord]) -> [DeviceRecord] { contents }
  static func stored(_ archive: Data) -> Data { archive }
  static var keepsDisk: Bool { true }
}

/// An app with a mistake, around the default one.
final class MutantDevice<Flaw: DeviceFlaw>: SimulatedDevice {
  private let setup: DeviceSetup
  private let notes: Locked<NotesDevice>

  init(_ setup: DeviceSetup) {
    self.setup = setup
    notes = Locked(NotesDevice(setup))
  }

  private var base: NotesDevice { notes.withLock { $0 } }

  static var sharesGate: Bool { true }
  static var middleware: [any Middleware] { NotesDevice.middleware }
  func launch(_ process: DeviceProcess) { base.launch(process) }
  var session: CloudSyncSession? { base.session }
  func apply(_ edits: [DeviceEdit]) { for part in Flaw.taken(edits) { base.apply(part) } }
  func fetch() { base.fetch() }
  func repair() { base.repair() }
  func contents() -> [DeviceRecord] { Flaw.shown(base.contents()) }
  var archive: Data? { base.archive.map(Flaw.stored) }
  func tearArchive(leaving tail: Data) -> Bool { base.tearArchive(leaving: tail) }

  func quit() {
    base.quit()
    guard !Flaw.keepsDisk else { return }
    let fresh = NotesDevice(setup)
    notes.withLock { $0 = fresh }
  }
}

/// Every seventh edit is forgotten.
enum Forgetting: DeviceFlaw {
  static func taken(_ edits: [DeviceEdit]) -> [[DeviceEdit]] {
    [edits.filter { $0.number % 7 != 0 }]
  }
}

/// Edits are submitted twice.
enum Repeating: DeviceFlaw {
  static func taken(_ edits: [DeviceEdit]) -> [[DeviceEdit]] { [edits, edits] }
}

/// Nothing is shown.
enum Blind: DeviceFlaw {
  static func shown(_ contents: [DeviceRecord]) -> [DeviceRecord] { [] }
}

/// Nothing of the disk survives the process.
enum Wiped: DeviceFlaw { static var keepsDisk: Bool { false } }

/// The last write for the session never reaches the disk.
enum Late: DeviceFlaw {
  static func stored(_ archive: Data) -> Data { archive.dropLast(12) }
}

/// What a torn write left behind the journal is never cut off.
enum Dirty: DeviceFlaw {
  static func stored(_ archive: Data) -> Data { archive + Data(repeating: 0, count: 64) }
}

extension Mutant {
  /// Runs a simulation with the mistake in it.
  func run(_ options: SimulationOptions) -> SimulationOutcome {
    switch self {
    case .forgetsEdits: run(options, MutantDevice<Forgetting>.self)
    case .submitsTwice: run(options, MutantDevice<Repeating>.self)
    case .showsOldContents: run(options, MutantDevice<Blind>.self)
    case .losesDisk: run(options, MutantDevice<Wiped>.self)
    case .tearsWithoutTelling: run(options, MutantDevice<Late>.self)
    case .leavesZerosBehind: run(options, MutantDevice<Dirty>.self)
    default: run(options, NotesDevice.self)
    }
  }

  private func run<Device: SimulatedDevice>(
    _ options: SimulationOptions,
    _ type: Device.Type
  ) -> SimulationOutcome {
    var simulation = Simulation<Device>(options)
    simulation.mutation = self
    return simulation.run()
  }
}
