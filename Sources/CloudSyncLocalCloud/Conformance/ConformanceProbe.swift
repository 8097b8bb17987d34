import CloudSyncCore

/// The devices of one check, and what it found.
final class ConformanceProbe: Sendable {
  private let found = Locked<[String]>([])
  private let counter = Locked<UInt64>(0)
  let zoneID: ZoneID
  let capabilities: ConformanceCapabilities
  let deleteZone: (@Sendable (ZoneDeletionReason) -> Void)?
  let a: ConformanceDevice
  let b: ConformanceDevice
  /// Device a in another zone.
  let other: ConformanceDevice?

  init(_ cloud: ConformanceCloud) {
    zoneID = cloud.zoneID
    capabilities = cloud.capabilities
    deleteZone = cloud.deleteZone
    a = ConformanceDevice(cloud.connect("a"), zoneID: cloud.zoneID, epoch: 1)
    b = ConformanceDevice(cloud.connect("b"), zoneID: cloud.zoneID, epoch: 2)
    let zone = cloud.zoneID
    let another = ZoneID(name: zone.name + "-other", owner: zone.owner, scope: zone.scope)
    other = cloud.connectToOther.map {
      ConformanceDevice($0("a", another), zoneID: another, epoch: 3)
    }
  }

  var failures: [String] {
    found.withLock { $0 } + a.repeats.map { "device a: \($0)" }
      + b.repeats.map { "device b: \($0)" }
      + (other?.repeats ?? []).map { "device a in another zone: \($0)" }
  }

  /// Notes what is wrong unless a condition holds.
  func expect(_ condition: Bool, _ failure: @autoclosure () -> String) {
    guard !condition else { return }
    let text = failure()
    found.withLock { $0.append(text) }
  }

  /// The value of a response; nil, and a failure is noted, where it is an error.
  func value<Value>(of result: Result<Value, SyncError>, when what: String) -> Value? {
    switch result {
    case .success(let value): return value
    case .failure(let error):
      expect(false, "\(what) failed: \(error)")
      return nil
    }
  }

  /// Expects every item that is named to fail with one of some codes, and no other.
  func expect(
    _ result: Result<ModifyOperation.Response, SyncError>,
    fails names: [String],
    with codes: [SyncError.Code],
    _ what: String
  ) {
    let failures: [ItemFailure]
    switch result {
    case .success(let response): failures = response.failures
    case .failure(let error): failures = error.itemErrors
    }
    let culprits = failures.filter { $0.error.code != .batchRequestFailed }
    expect(
      culprits.map(\.recordID.name) == names,
      "\(what): the items \(culprits.map(\.recordID.name)) failed, not \(names)"
    )
    for failure in culprits where !codes.contains(failure.error.code) {
      expect(false, "\(what): \(failure.recordID.name) failed with \(failure.error.code)")
    }
  }

  func id(name: String) -> RecordID { RecordID(name: name, zoneID: zoneID) }

  /// An edit of the checks.
  func note(_ name: String, _ fields: [String: FieldValue], tag: String? = nil) -> Record {
    Record(recordType: "Conformance", recordID: id(name: name), fields: fields, changeTag: tag)
  }

  /// Creates the zone from device a.
  func createZone() async {
    let created = value(of: await a.createZone(), when: "creating the zone")
    expect(created == true, "creating the zone answered that it does not exist")
  }

  /// Saves one record on a device, and returns it with its new tag.
  func save(device: ConformanceDevice, record: Record) async -> Record? {
    let answer = await device.modify([record])
    let response = value(of: answer, when: "saving \(record.recordID.name)")
    expect(
      response.map { $0.failures.isEmpty && $0.savedRecords.count == 1 } ?? true,
      "saving \(record.recordID.name) did not answer with it alone"
    )
    guard let saved = response?.savedRecords.first else { return nil }
    expect(saved.recordID == record.recordID, "a save answered with another record")
    expect(saved.changeTag?.isEmpty == false, "a saved record has no change tag")
    return saved
  }

  /// All pages from a token on; the check ends when they do not.
  func pages(
    device: ConformanceDevice,
    after token: ChangeToken? = nil
  ) async -> [FetchOperation.Response] {
    var pages: [FetchOperation.Response] = []
    var token = token
    for _ in 0..<1_000 {
      guard let page = value(of: await device.fetch(token), when: "fetching changes") else {
        return pages
      }
      pages.append(page)
      expect(page.changeToken != nil, "a page has no change token")
      token = page.changeToken
      if !page.hasMore { return pages }
    }
    expect(false, "a fetch has more after 1,000 pages")
    return pages
  }
}

/// A handler whose answers are awaited.
final class ConformanceDevice: Sendable {
  private let handler: any OperationHandler
  let zoneID: ZoneID
  private let epoch: UInt64
  private let counter = Locked<UInt64>(0)
  private let found = Locked<[String]>([])

  init(_ handler: any OperationHandler, zoneID: ZoneID, epoch: UInt64) {
    self.handler = handler
    self.zoneID = zoneID
    self.epoch = epoch
  }

  var limits: RequestLimits { handler.limits }
  /// The nanoseconds that timestamps are multiples of.
  var timestampUnit: Int64 { handler.timestampUnit.clampedNanoseconds }
  /// Calls that were answered more than once.
  var repeats: [String] { found.withLock { $0 } }

  func context(writeToken: WriteToken? = nil) -> RequestContext {
    let number = counter.withLock { number in
      number += 1
      return number
    }
    let attempt = Attempt(epoch: epoch, number: number)
    let token = writeToken ?? WriteToken(nonce: epoch &* 0x9e37_79b9_7f4a_7c15, number: number)
    return RequestContext(attempt: attempt, writeToken: token, deadline: .distantFuture)
  }

  private func answer<Value: Sendable>(
    when what: String,
    call: (@escaping @Sendable (Result<Value, SyncError>) -> Void) -> Void
  ) async -> Result<Value, SyncError> {
    let isAnswered = Locked(false)
    let found = found
    return await withCheckedContinuation { continuation in
      call { result in
        let isFirst = isAnswered.withLock { isAnswered in
          defer { isAnswered = true }
          return !isAnswered
        }
        if isFirst {
          continuation.resume(returning: result)
        } else {
          found.withLock { $0.append("\(what) was answered more than once") }
        }
      }
    }
  }

  func createZone() async -> Result<Bool, SyncError> {
    let operation = CreateZoneOperation(zoneID: zoneID)
    return await answer(when: "createZone") {
      handler.handle(createZoneOperation: operation, context: context(), completion: $0)
    }
  }

  func createSubscription() async -> Result<Bool, SyncError> {
    let operation = CreateSubscriptionOperation(zoneID: zoneID)
    return await answer(when: "createSubscription") {
      handler.handle(createSubscriptionOperation: operation, context: context(), completion: $0)
    }
  }

  func modify(
    _ records: [Record] = [],
    delete recordIDs: [RecordID] = [],
    context given: RequestContext? = nil
  ) async -> Result<ModifyOperation.Response, SyncError> {
    let operation = ModifyOperation(records: records, recordIDsToDelete: recordIDs)
    return await answer(when: "modify") {
      handler.handle(
        modifyOperation: operation,
        context: given ?? context(),
        completion: $0
      )
    }
  }

  /// Sends a modification and gives it up at once; whatever the response is, there is at most one.
  func modifyAndCancel(_ records: [Record]) {
    let context = context()
    let isAnswered = Locked(false)
    let found = found
    handler.handle(
      modifyOperation: ModifyOperation(records: records),
      context: context
    ) { _ in
      let isFirst = isAnswered.withLock { isAnswered in
        defer { isAnswered = true }
        return !isAnswered
      }
      if !isFirst { found.withLock { $0.append("a cancelled call was answered more than once") } }
    }
    handler.cancel(context.attempt)
  }

  func fetch(_ token: ChangeToken? = nil) async -> Result<FetchOperation.Response, SyncError> {
    await fetch(FetchOperation(changeToken: token))
  }

  func lookUp(recordIDs: [RecordID]) async -> Result<FetchOperation.Response, SyncError> {
    await fetch(FetchOperation(lookingUp: recordIDs))
  }

  private func fetch(
    _ operation: FetchOperation
  ) async -> Result<FetchOperation.Response, SyncError> {
    await answer(when: "fetch") {
      handler.handle(fetchOperation: operation, context: context(), completion: $0)
    }
  }
}
