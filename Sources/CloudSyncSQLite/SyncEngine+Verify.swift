import CloudSyncCore
import CloudSyncSQLiteSupport

extension SyncEngine {
  /// Compares every table with what is known of its rows, and everything that the cloud has with both.
  ///
  /// Nothing is changed and nothing sent: what is found is for who looks for a fault. ``rebuild()`` makes the
  /// rows what the cloud has, ``uploadEverything()`` gives the cloud what it lacks. Synchronize first: what the
  /// cloud has got since the last fetch is a difference too.
  ///
  /// - Returns: What differs.
  /// - Throws: A ``SyncEngineError`` if the database cannot be read; a `SyncError` if the cloud cannot be asked,
  ///   as it answers: nothing is tried twice.
  public func verify() async throws -> SyncVerification {
    try await withCheckedThrowingContinuation { continuation in
      verify { continuation.resume(with: $0) }
    }
  }

  /// Compares every table with what is known of its rows, and everything that the cloud has with both; the
  /// result is given to a function.
  ///
  /// - Parameter completion: Called once, on any thread, perhaps before this call returns.
  public func verify(
    completion: @escaping @Sendable (Result<SyncVerification, any Error>) -> Void
  ) {
    let work = Locked(VerificationWork())
    let failure = Locked<SyncEngineError?>(nil)
    do throws(SyncEngineError) { try verifyTables(work) } catch {
      return completion(.failure(error))
    }
    SessionlessFetch(
      context.handler,
      after: nil,
      context.environment,
      pageHandler: { [self] page in
        if failure.withLock({ $0 != nil }) { return }
        do throws(SyncEngineError) {
          try step(of: work) { (work, transaction) throws(SQLiteError) in
            try work.compare(page, in: transaction)
          }
        } catch { failure.withLock { $0 = error } }
      },
      completion: { [self] fetched in
        do {
          _ = try fetched.get()
          if let error = failure.withLock({ $0 }) { throw error }
          try step(of: work) { (work, transaction) throws(SQLiteError) in
            try work.noteMissing(in: transaction)
          }
          completion(.success(work.withLock { $0.result }))
        } catch { completion(.failure(error)) }
      }
    )
    .run()
  }

  private func verifyTables(_ work: Locked<VerificationWork>) throws(SyncEngineError) {
    try step(of: work) { (work, transaction) throws(SQLiteError) in
      for place in transaction.tables.inOrder.indices {
        try work.compareTable(at: place, in: transaction)
      }
    }
  }

  /// Does a part in a transaction that has read what was captured.
  private func step(
    of work: Locked<VerificationWork>,
    _ body:
      @escaping @Sendable (inout VerificationWork, SyncTransaction) throws(SQLiteError) -> Void
  ) throws(SyncEngineError) {
    try control.transaction { (transaction) throws(SQLiteError) in
      try transaction.finish()
      let finished = transaction
      // It has a set of all rows, which must not be copied.
      try work.withLock { (work) throws(SQLiteError) in try body(&work, finished) }
    }
  }
}
