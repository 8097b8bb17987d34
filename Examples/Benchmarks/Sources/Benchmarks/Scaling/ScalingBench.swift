import CloudSyncSession

/// A session whose requests are answered when the benchmark wants it, and whose clock it sets.
final class ScalingBench {
  typealias Answer = (ModifyOperation) -> Result<ModifyOperation.Response, SyncError>

  let session: CloudSyncSession
  let handler: ScalingHandler
  let clock: Clock

  /// The time, as long as nobody moves it.
  final class Clock: @unchecked Sendable {
    // It is unchecked because the benchmark's world has one thread.
    @exclusivity(unchecked) var now = Timestamp(nanoseconds: 1_700_000_000_000_000_000)
  }

  static var configuration: SyncConfiguration {
    var configuration = SyncConfiguration()
    configuration.parkingBudget = 1 << 40
    configuration.failureBudget = 0
    configuration.zoneBudget = 1 << 40
    configuration.conflictBudget = 1 << 40
    configuration.acknowledgesPages = true
    configuration.zonePolicy.purged = .ask
    return configuration
  }

  init(
    _ archive: SyncArchive? = nil,
    items: Int = 400,
    resolver: ConflictResolver = .fieldwise(default: .client),
    gate: SyncGate? = nil
  ) {
    let clock = Clock()
    var environment = World.immediate
    environment.now = { clock.now }
    let handler = ScalingHandler(items: items)
    self.clock = clock
    self.handler = handler
    if let archive {
      session = CloudSyncSession(
        restoring: archive,
        operationHandler: handler,
        resolver: resolver,
        gate: gate,
        environment: environment
      )
    } else {
      session = CloudSyncSession(
        operationHandler: handler,
        zoneID: World.zoneID,
        configuration: Self.configuration,
        resolver: resolver,
        gate: gate,
        environment: environment
      )
    }
  }

  // MARK: Modifications

  /// Submits one operation of so many records, and waits for the first request.
  func submit(_ records: [Record], deleting deletions: [RecordID] = []) throws {
    try session.modify(ModifyOperation(records: records, recordIDsToDelete: deletions))
  }

  /// Answers the modification in flight, if there is one; returns the nanoseconds that it takes.
  func answer(_ make: Answer) -> Double {
    guard let (operation, completion) = handler.modification else { return 0 }
    handler.modification = nil
    let result = make(operation)
    return ScalingRow.time { completion(result) }
  }

  /// Answers until nothing is asked any more; the session's own waits are skipped.
  func answerAll(_ make: Answer) -> Double {
    var total = 0.0
    while true {
      if handler.fetch != nil {
        total += answerLookup()
      } else if handler.modification != nil {
        total += answer(make)
      } else if session.state.gateIsClosed(at: clock.now) {
        total += ScalingRow.time { session.connectivityChanged() }
      } else {
        return total
      }
    }
  }

  // MARK: Fetches

  /// Answers the fetch in flight with a page.
  func answer(page: FetchOperation.Response) -> Double {
    guard let (_, completion) = handler.fetch else { return 0 }
    handler.fetch = nil
    return ScalingRow.time { completion(.success(page)) }
  }

  /// Answers the fetch in flight with an error.
  func answerFetch(_ error: SyncError) -> Double {
    guard let (_, completion) = handler.fetch else { return 0 }
    handler.fetch = nil
    return ScalingRow.time { completion(.failure(error)) }
  }

  func answerLookup() -> Double {
    guard let (operation, _) = handler.fetch else { return 0 }
    let records = operation.recordIDs.map { Replies.server($0) }
    return answer(page: FetchOperation.Response(changedRecords: records, changeToken: nil))
  }

  // MARK: Bytes

  /// What the session is now, for other sessions to begin with.
  func archive() throws -> SyncArchive {
    let box = Box<SyncArchive?>(nil)
    session.snapshot { bytes in box.value = try? SyncArchive(bytes) }
    guard let archive = box.value else { throw SyncError(.internalError, "no snapshot") }
    return archive
  }
}

extension SyncState {
  func gateIsClosed(at now: Timestamp) -> Bool {
    if case .wait(let reasons, _) = next(at: now) { reasons.contains(.gate) } else { false }
  }
}
