public import CloudSyncLocalCloud

/// Keeps a local cloud in a PostgreSQL database, which any number of processes may use at the same time.
///
/// Requests that change one account run one after the other, whichever processes they come to; those of
/// different accounts run side by side, and whoever reads waits for nobody. What was answered is on the disk
/// of the database. A process that is killed at any moment leaves each request done or not done.
///
/// ```swift
/// let store = try PostgresStore(conninfo: "service=cloudsync")
/// let cloud = LocalCloud(store: store, assetFolder: folder)
/// ```
///
/// Calls wait for the database on the calling thread. A backup is restored while no process uses the database; devices
/// then upload what it lacks. Once `LocalCloud.renew(nonce:)` was called, all devices do.
public final class PostgresStore: LocalCloudStore {
  /// How often a transaction is run again before its request is told to come later.
  private static let repeats = 3

  let conninfo: String
  let options: PostgresOptions
  private let pool: PostgresPool
  private let onStep: (@Sendable (PostgresStep) -> Void)?

  /// Connects, and makes the tables where they are missing.
  ///
  /// - Parameters:
  ///   - conninfo: A connection string or an address, as libpq reads it: `host=… dbname=… user=…
  ///     sslmode=verify-full`. Passwords are better kept in libpq's password file.
  ///   - options: How the database is used.
  /// - Throws: What is wrong with the database, and what to do.
  public convenience init(
    conninfo: String,
    options: PostgresOptions = PostgresOptions()
  ) throws(LocalCloudStoreError) {
    try self.init(conninfo: conninfo, options: options, onStep: nil)
  }

  /// Connects with an ear for the steps of transactions that write.
  package init(
    conninfo: String,
    options: PostgresOptions = PostgresOptions(),
    onStep: (@Sendable (PostgresStep) -> Void)?
  ) throws(LocalCloudStoreError) {
    self.conninfo = conninfo
    self.options = options
    self.onStep = onStep
    pool = PostgresPool(conninfo: conninfo, options: options)
    let connection: PostgresConnection
    do throws(PostgresFailure) { connection = try pool.connect() } catch { throw error.storeError }
    try PostgresSchema.prepare(connection)
  }

  /// Another number after each start of the database server that was noticed.
  public var opening: UInt64 { pool.opening }

  /// A connection beside those that carry out transactions.
  func newConnection() throws(PostgresFailure) -> PostgresConnection { try pool.connect() }

  /// Carries out one statement by itself, again on another connection if one that was idle is lost.
  func query(_ call: PostgresCall) throws(LocalCloudStoreError) -> PostgresRows {
    var repeats = 0
    while true {
      let loan = try pool.take()
      do throws(PostgresFailure) {
        let rows = try loan.connection.run([call])
        pool.giveBack(loan)
        return rows[0]
      } catch {
        pool.giveBack(loan)
        if error.isLoss { pool.dropIdle() }
        guard error.isLoss, repeats < Self.repeats else { throw error.storeError }
        repeats += 1
      }
    }
  }

  /// How many round trips the connection made that the next transaction gets.
  func roundTrips() throws(LocalCloudStoreError) -> Int {
    let loan = try pool.take()
    defer { pool.giveBack(loan) }
    return loan.connection.roundTrips
  }

  /// Runs a body in one transaction of PostgreSQL's, again if others were in its way or the connection was
  /// lost before its end was sent.
  public func transaction<Value: Sendable>(
    _ kind: LocalCloudTransactionKind,
    _ body: (any LocalCloudTransaction) throws(LocalCloudStoreError) -> Value
  ) throws(LocalCloudStoreError) -> Value {
    var repeats = 0
    while true {
      let loan = try pool.take()
      let transaction = PostgresTransaction(kind, on: loan.connection, onStep: onStep)
      let result = run(transaction, body: body)
      pool.giveBack(loan)
      let error: LocalCloudStoreError
      switch result {
      case .success(let value): return value
      case .failure(let found): error = found
      }
      guard let failure = transaction.failure else { throw error }
      if failure.isLoss {
        pool.dropIdle()
        guard !transaction.isCommitting else {
          throw LocalCloudStoreError(
            .outcomeUnknown,
            "the connection to PostgreSQL was lost before it said whether a transaction is done"
          )
        }
      }
      guard failure.isLoss || failure.isCollision, repeats < Self.repeats else { throw error }
      repeats += 1
    }
  }

  private func run<Value: Sendable>(
    _ transaction: PostgresTransaction,
    body: (any LocalCloudTransaction) throws(LocalCloudStoreError) -> Value
  ) -> Result<Value, LocalCloudStoreError> {
    do throws(LocalCloudStoreError) {
      let value = try body(transaction)
      try transaction.commit()
      return .success(value)
    } catch {
      transaction.abandon()
      return .failure(error)
    }
  }
}

/// What a test hears of while a transaction that writes runs.
package enum PostgresStep: String, Sendable, CaseIterable {
  /// It is about to begin, and to wait for its lock.
  case beginning
  /// It has its account's lock.
  case locked
  /// Everything is about to be written and committed.
  case committing
  /// It is committed.
  case committed
}
