import CloudSyncCore

extension ChangesetRepository {
  /// Runs a body in a transaction that writes rows as the history has them: foreign keys do nothing meanwhile.
  func move<Value: Sendable>(
    _ body: @Sendable (HistoryWork) throws(ChangesetError) -> Value
  ) throws(ChangesetError) -> Value {
    try run(enforcingForeignKeys: false, body)
  }

  /// Runs a body in a transaction in which foreign keys are enforced or not, whatever the app has settled.
  func run<Value: Sendable>(
    enforcingForeignKeys isEnforcing: Bool,
    _ body: @Sendable (HistoryWork) throws(ChangesetError) -> Value
  ) throws(ChangesetError) -> Value {
    let (value, head) = try database.use { (connection) throws(ChangesetError) in
      try Self.refuseTransaction(connection: connection)
      return try connection.withForeignKeys(enforced: isEnforcing) { () throws(ChangesetError) in
        try connection.transaction { () throws(ChangesetError) in
          let work = try self.work(on: connection)
          let before = try work.heads.position()
          let value = try body(work)
          let isMoved = try work.heads.position() != before
          return (value, isMoved ? try work.head() : nil)
        }
      }
    }
    if let head { headSubject.send(head) }
    return value
  }
}
