import CloudSyncSQLiteSimulation
import CloudSyncSimulator

/// What the devices of a simulation are.
enum SimulatedKind: String, Sendable, CaseIterable {
  /// Records in memory: a small app over the session.
  case notes
  /// Rows of SQLite databases, which a sync engine synchronizes.
  case sqlite
  /// Rows of SQLite databases, of which histories are kept and exchanged.
  case history

  /// The kind that options name.
  init(_ options: SimulationOptions) {
    self = options.device.flatMap { SimulatedKind(rawValue: $0) } ?? .notes
  }

  /// How many edits a simulation has if nobody says; a thousand of them try everything.
  var usualEdits: Int { self == .notes ? 200 : 40 }

  /// Whether the devices' storage layers draw faults.
  var hasStorage: Bool { self != .notes }
}

extension SimulationOptions {
  /// Runs a simulation.
  func run() -> SimulationOutcome {
    switch SimulatedKind(self) {
    case .notes: Simulation<NotesDevice>(self).run()
    case .sqlite: Simulation<SQLiteDevice>(self).run()
    case .history: Simulation<ChangesetDevice>(self).run()
    }
  }

  /// Runs a simulation twice, and compares.
  func runTwice() -> SimulationOutcome {
    switch SimulatedKind(self) {
    case .notes: Simulation<NotesDevice>(self).runTwice()
    case .sqlite: Simulation<SQLiteDevice>(self).runTwice()
    case .history: Simulation<ChangesetDevice>(self).runTwice()
    }
  }

  /// The smallest simulation found that breaks the same rule.
  func shrunk(violation: SimulationOutcome.Violation) -> SimulationOptions {
    switch SimulatedKind(self) {
    case .notes: Simulation<NotesDevice>(self).shrunk(violation)
    case .sqlite: Simulation<SQLiteDevice>(self).shrunk(violation)
    case .history: Simulation<ChangesetDevice>(self).shrunk(violation)
    }
  }
}
