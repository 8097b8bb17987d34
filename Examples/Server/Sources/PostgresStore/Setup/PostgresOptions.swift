/// How a store uses its database.
public struct PostgresOptions: Sendable {
  /// How many connections carry out transactions at the same time.
  public var connections = 8
  /// How long a transaction waits for a connection that nobody uses.
  public var connectionWait = Duration.seconds(5)
  /// How long a transaction waits for a lock that another one holds.
  public var lockWait = Duration.seconds(5)
  /// How long one statement may take.
  public var statementTime = Duration.seconds(10)
  /// How long the server waits for a transaction's next statement before it gives the transaction up, and
  /// with it the locks of a process that has vanished.
  public var idleTime = Duration.seconds(15)

  /// Creates the defaults.
  public init() {}
}

extension Duration {
  /// In whole milliseconds, at least one.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    return max(1, seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
  }
}
