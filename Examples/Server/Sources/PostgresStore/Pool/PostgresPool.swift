import CloudSyncLocalCloud
import Dispatch
import Synchronization

/// Connections that transactions take turns with.
final class PostgresPool: Sendable {
  private struct State {
    var idle: [PostgresConnection] = []
    /// Rises when idle connections are given up: those of before are not kept any more.
    var generation = 0
    /// The origin of the newest connection, and how often it was another one.
    var origin: Int64?
    var openings: UInt64 = 0

    mutating func note(origin new: Int64) {
      if let origin, origin != new { openings += 1 }
      origin = new
    }
  }

  /// A connection, and when it was made.
  struct Loan: Sendable {
    let connection: PostgresConnection
    fileprivate let generation: Int
  }

  private let conninfo: String
  private let options: PostgresOptions
  private let state = Mutex(State())
  private let free: DispatchSemaphore
  private let count: Int

  init(conninfo: String, options: PostgresOptions) {
    self.conninfo = conninfo
    self.options = options
    count = max(1, options.connections)
    free = DispatchSemaphore(value: count)
  }

  /// Another number whenever the database may have been restored from a backup.
  var opening: UInt64 { state.withLock { $0.openings } }

  /// Makes a connection that can carry out transactions, once the tables are there.
  func connect() throws(PostgresFailure) -> PostgresConnection {
    let connection = try PostgresConnection(conninfo: conninfo)
    try connection.applySettings(options)
    return connection
  }

  /// Lends a connection that nobody uses; to be given back by ``giveBack(_:)``.
  func take() throws(LocalCloudStoreError) -> Loan {
    let limit = DispatchTime.now() + .milliseconds(Int(options.connectionWait.milliseconds))
    guard free.wait(timeout: limit) == .success else {
      throw LocalCloudStoreError(
        .busy,
        "all \(count) connections to PostgreSQL are in use; raise their number, or see what takes so long"
      )
    }
    let (idle, generation) = state.withLock { ($0.idle.popLast(), $0.generation) }
    if let idle { return Loan(connection: idle, generation: generation) }
    do throws(PostgresFailure) {
      let connection = try connect()
      try connection.prepare(PostgresStatement.prepared)
      state.withLock { $0.note(origin: connection.origin) }
      return Loan(connection: connection, generation: generation)
    } catch {
      free.signal()
      throw error.storeError
    }
  }

  /// Takes a connection back; one that is broken is dropped.
  func giveBack(_ loan: Loan) {
    let connection = loan.connection
    state.withLock { state in
      guard !connection.isBroken, loan.generation == state.generation else { return }
      state.idle.append(connection)
    }
    free.signal()
  }

  /// Drops the connections that are not in use: when one is lost, the others mostly are too.
  func dropIdle() {
    state.withLock { state in
      state.idle = []
      state.generation += 1
    }
  }
}
