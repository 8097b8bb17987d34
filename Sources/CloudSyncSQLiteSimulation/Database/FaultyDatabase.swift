import CloudSyncCore
package import CloudSyncSQLite
package import CloudSyncSQLiteSupport
import CloudSyncSimulator

/// A database whose writes break off in the midst, because the process ends or the disk fails.
package final class FaultyDatabase: StatementKeeping {
  /// What happens at a statement.
  package enum Fault: Sendable {
    /// The process ends: nothing is written any more.
    case ends
    /// The statement fails, and its transaction with it; the next one is as good as ever.
    case fails

    /// What the simulation calls it.
    var point: FaultPoint {
      switch self {
      case .ends: .killedWriting
      case .fails: .writeFails
      }
    }
  }

  /// Nothing is written by a process that has ended.
  package struct ProcessHasEnded: Error {}

  private struct State {
    var fault: Fault?
    /// At which of the statements to come.
    var statement = 0
    var hasEnded = false
    var strikes = 0
    /// Whether nobody has asked about the last failure.
    var hasStruck = false
  }

  private let file: DatabaseFile
  private let willWrite: @Sendable (FaultyDatabase, SQLiteConnection) throws -> Void
  private let didStrike: @Sendable (Fault) -> Void
  private let state = Locked(State())

  /// Creates a database around another.
  ///
  /// - Parameters:
  ///   - file: The database.
  ///   - willWrite: Is called before every write.
  ///   - didStrike: Is called when something goes wrong, at the statement.
  package init(
    _ file: DatabaseFile,
    willWrite: @escaping @Sendable (FaultyDatabase, SQLiteConnection) throws -> Void = { _, _ in },
    didStrike: @escaping @Sendable (Fault) -> Void = { _ in }
  ) {
    self.file = file
    self.willWrite = willWrite
    self.didStrike = didStrike
  }

  /// Has a statement go wrong: the first of those to come has the number 1.
  package func arm(fault: Fault, at statement: Int) {
    state.withLock { state in
      state.fault = fault
      state.statement = statement
    }
  }

  /// Draws what goes wrong with the statements to come.
  ///
  /// - Parameters:
  ///   - process: The process that writes.
  ///   - draw: Draws at which statement something goes wrong that does so often; nil for at none.
  func arm(for process: DeviceProcess, draw: (FaultPlan.Ratio) -> Int?) {
    let faults = [Fault.ends, .fails].filter { process.ratio(of: $0.point).hits > 0 }
    // When everything heals, nothing waits for its statement.
    if faults.isEmpty { disarm() }
    guard !isArmed else { return }
    for fault in faults {
      guard let statement = draw(process.ratio(of: fault.point)) else { continue }
      return arm(fault: fault, at: statement)
    }
  }

  /// Lets nothing go wrong any more.
  package func disarm() { state.withLock { $0.fault = nil } }

  /// Whether a fault waits for its statement.
  package var isArmed: Bool { state.withLock { $0.fault != nil } }

  /// How often something went wrong.
  package var strikes: Int { state.withLock { $0.strikes } }

  /// Whether something went wrong since this was asked last.
  package func takeStrike() -> Bool {
    state.withLock { state in
      defer { state.hasStruck = false }
      return state.hasStruck
    }
  }

  /// Whether the process has ended.
  package var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// Lets nothing be written any more.
  package func end() { state.withLock { $0.hasEnded = true } }

  private func checkIsAlive() throws {
    if state.withLock({ $0.hasEnded }) { throw ProcessHasEnded() }
  }

  /// Runs a block with the connection, unless the process has ended.
  package func write<Value: Sendable>(
    _ body: @Sendable (OpaquePointer) throws -> Value
  ) throws -> Value {
    try withConnection { connection in try body(connection.handle) }
  }

  package func withConnection<Value: Sendable>(
    _ body: @Sendable (SQLiteConnection) throws -> Value
  ) throws -> Value {
    try checkIsAlive()
    let value = try file.withConnection { [self] connection in
      try willWrite(self, connection)
      let (armed, statement) = state.withLock { ($0.fault, $0.statement) }
      guard let armed else { return try body(connection) }
      let fault = StatementFault(at: statement) { [self] in strike(fault: armed) }
      defer {
        if !fault.hasStruck { state.withLock { $0.statement = fault.remaining } }
      }
      return try connection.withFault(fault) { try body(connection) }
    }
    // What was only read is of no use to a process that has ended either.
    try checkIsAlive()
    return value
  }

  private func strike(fault: Fault) {
    state.withLock { state in
      state.fault = nil
      state.strikes += 1
      state.hasStruck = true
      if fault == .ends { state.hasEnded = true }
    }
    didStrike(fault)
  }
}
