import CloudSyncCore

/// One request to save and delete: first everything is judged, then what passed is written.
///
/// It is a class because a structure of this size would be copied from step to step.
final class ModifyRequest {
  /// One item of the request.
  struct Item {
    let recordID: RecordID
    /// What to save; nil for a deletion.
    let edit: Record?
    /// What the server has under the name.
    var old: StoredItem?
    /// The record as it will be, still without change tag and dates.
    var merged: Record?
    /// What the record counts for the quota, before and after.
    var oldBytes: Int64 = 0
    var newBytes: Int64 = 0
    /// Whether the edit sets a reference or a parent.
    var hasReferences = false
  }

  let engine: CloudEngine
  let operation: ModifyOperation
  var account: AccountDocument
  var zone: ZoneDocument
  let seed: UInt64
  var items: [Item] = []
  /// The indexes of the items by name.
  private var names = NameTable()
  /// Why items are refused, by index; looked into, never iterated.
  var errors: [Int: SyncError] = [:]
  var schema = SchemaDocument()
  /// What was done, item by item, to be able to say it again.
  var outcomes: [AnswerDocument.Outcome] = []
  var response = ModifyOperation.Response()

  let options: LocalCloudOptions
  let assetErrors: [RecordID: SyncError]
  let store: any LocalCloudTransaction
  let now: Timestamp
  let key: StoredZoneKey
  let isAtomic: Bool

  init(
    _ operation: ModifyOperation,
    by engine: CloudEngine,
    in account: AccountDocument,
    zone: ZoneDocument,
    seed: UInt64
  ) {
    self.engine = engine
    self.operation = operation
    self.account = account
    self.zone = zone
    self.seed = seed
    options = engine.options
    assetErrors = engine.frame.assetErrors
    store = engine.store
    now = engine.frame.now
    key = zone.key
    isAtomic =
      engine.options.isAtomic && !UTF8Bytes.equal(zone.zoneID.name, ZoneID.defaultZoneName)
  }

  /// Judges, writes and answers.
  func run() throws(LocalCloudStoreError) -> Result<ModifyOperation.Response, SyncError> {
    if let error = enterItems() { return .failure(error) }
    try store.prefetch(names: items.map(\.recordID.name), in: key)
    var byteCount = 0
    for index in items.indices { byteCount += try examine(index: index) }
    if byteCount > options.requestByteLimit {
      return .failure(
        SyncError(
          .limitExceeded,
          "a request has at most \(options.requestByteLimit) bytes without assets"
        )
      )
    }
    try settle()
    if !errors.isEmpty, isAtomic || errors.count == items.count { return .success(refused()) }
    try apply()
    return .success(response)
  }

  /// Enters the items by name, and finds what is wrong with the request as a whole.
  private func enterItems() -> SyncError? {
    let count = operation.itemCount
    if count > options.itemLimit {
      return SyncError(.limitExceeded, "a request has at most \(options.itemLimit) items")
    }
    items.reserveCapacity(count)
    names = NameTable(capacity: count)
    for record in operation.records { items.append(Item(recordID: record.recordID, edit: record)) }
    for recordID in operation.recordIDsToDelete {
      items.append(Item(recordID: recordID, edit: nil))
    }
    for index in items.indices {
      let name = items[index].recordID.name
      let hash = NameTable.hash(of: name)
      if find(name: name, hash: hash) != nil {
        return SyncError(.invalidArguments, "\(items[index].recordID) is in the request twice")
      }
      names.add(hash: hash, number: index)
    }
    return nil
  }

  private func find(name: String, hash: UInt64) -> Int? {
    let items = items
    return names.find(hash: hash) { UTF8Bytes.equal(items[$0].recordID.name, name) }
  }

  /// The index of the item of a name, if the request has one.
  func itemIndex(of name: String) -> Int? { find(name: name, hash: NameTable.hash(of: name)) }

  /// Keeps the account and the zone as they are now.
  func keepDocuments() throws(LocalCloudStoreError) {
    try engine.set(account: account)
    try engine.set(zone: zone, of: account)
  }

  /// The response when nothing was done.
  private func refused() -> ModifyOperation.Response {
    var response = ModifyOperation.Response()
    for index in items.indices {
      let error =
        errors[index] ?? SyncError(.batchRequestFailed, "another item of the request failed")
      response.failures.append(ItemFailure(items[index].recordID, error))
    }
    return response
  }
}

extension CloudEngine {
  /// Saves and deletes records.
  ///
  /// Returns the devices that are to hear of it; nil where nothing was changed.
  func modify(
    _ operation: ModifyOperation,
    _ token: WriteToken
  ) throws(LocalCloudStoreError) -> (
    Result<ModifyOperation.Response, SyncError>, subscribers: [String]?
  ) {
    if UTF8Bytes.equal(frame.zoneID.name, ZoneID.defaultZoneName) {
      // The order of locks: the zone needs the counters, and the records may need the schema.
      if !options.hasSchemaPerAccount { try store.lock(.schema) }
      // It has always been there.
      if case .failure(let error) = try createZone() { return (.failure(error), nil) }
    }
    let (account, zone): (AccountDocument, ZoneDocument)
    switch try admitted() {
    case .failure(let error): return (.failure(error), nil)
    case .success(let found): (account, zone) = found
    }
    if let error = try lostHistory(of: account) { return (.failure(error), nil) }
    let counters = try counters()
    let answerKey = AnswerDocument.key(
      account: account.number,
      device: frame.device,
      zoneID: zone.zoneID
    )
    let digest = AnswerDocument.digest(operation: operation)
    if options.knowsWriteTokens, case .answer(let known) = try store.document(answerKey)?.content,
      known.token == token, known.zone == zone.number
    {
      let again = repeated(
        known: known,
        operation: operation,
        digest: digest,
        zone: zone.number,
        seed: counters.tagSeed(mark: known.mark)
      )
      return (again.telling(try historyToken(of: account, zone)), nil)
    }
    let marked = try marked(account)
    let seed = counters.tagSeed(mark: marked.mark.number)
    let request = ModifyRequest(operation, by: self, in: marked, zone: zone, seed: seed)
    let result = try request.run()
    guard case .success(let response) = result else { return (result, nil) }
    guard !request.outcomes.isEmpty else {
      // The mark of a request that has changed nothing is none.
      let token = try historyToken(of: account, zone)
      return (shaped(response: response).telling(token), nil)
    }
    let answer = AnswerDocument(
      token: token,
      digest: digest,
      zone: zone.number,
      time: frame.now,
      mark: marked.mark.number,
      outcomes: request.outcomes
    )
    if options.knowsWriteTokens { try keep(answer, for: answerKey, of: account) }
    return (result.telling(try historyToken(of: request.account, zone)), zone.subscribers)
  }

  /// Keeps a device's last response; makes room for that of a device that had none.
  private func keep(
    _ answer: AnswerDocument,
    for key: String,
    of account: AccountDocument
  ) throws(LocalCloudStoreError) {
    if try store.document(key) == nil {
      let prefix = AnswerDocument.prefix(account: account.number)
      var others: [(key: String, time: Timestamp)] = []
      for (key, document) in try store.documents(withPrefix: prefix) {
        guard case .answer(let other) = document.content else { continue }
        if other.time.adding(AnswerDocument.lifetime) < answer.time {
          try store.removeDocument(key)
        } else if other.zone == answer.zone {
          others.append((key, other.time))
        }
      }
      others.sort { $0.time < $1.time }
      for (key, _) in others.dropLast(AnswerDocument.limit - 1) { try store.removeDocument(key) }
    }
    try store.setDocument(StoreDocument(.answer(answer)), for: key)
  }

  /// A response of which nothing was done, in the shape that the options ask for.
  private func shaped(
    response: ModifyOperation.Response
  ) -> Result<ModifyOperation.Response, SyncError> {
    guard options.partialFailureShape == .error, !response.failures.isEmpty else {
      return .success(response)
    }
    return .failure(
      SyncError(.partialFailure, "the request failed", itemErrors: response.failures)
    )
  }

  /// The response to a request that was carried out already.
  private func repeated(
    known: AnswerDocument,
    operation: ModifyOperation,
    digest: UInt64,
    zone: Int64,
    seed: UInt64
  ) -> Result<ModifyOperation.Response, SyncError> {
    guard known.digest == digest, known.outcomes.count == operation.itemCount else {
      return .failure(
        SyncError(
          .invalidArguments,
          "the write token belongs to another request; give every session nonces of its own"
        )
      )
    }
    var response = ModifyOperation.Response()
    for (index, outcome) in known.outcomes.enumerated() {
      let saves = operation.records.count
      let recordID =
        index < saves
        ? operation.records[index].recordID : operation.recordIDsToDelete[index - saves]
      switch outcome {
      case .saved(let position, let creationDate):
        let storage = operation.records[index].storage.copy()
        storage.changeTag = ChangeTags.tag(zone: zone, position: position, seed: seed)
        storage.creationDate = creationDate ?? known.time
        storage.modificationDate = known.time
        response.savedRecords.append(Record(storage: storage))
      case .deleted: response.deletedRecordIDs.append(recordID)
      case .failed(let error): response.failures.append(ItemFailure(recordID, error))
      }
    }
    return .success(response)
  }
}

extension Result where Success == ModifyOperation.Response, Failure == SyncError {
  /// The response with how far the history has come.
  fileprivate func telling(_ token: ChangeToken?) -> Self {
    switch self {
    case .success(var response):
      response.historyToken = token
      return .success(response)
    case .failure(var error):
      if error.code == .partialFailure { error.historyToken = token }
      return .failure(error)
    }
  }
}
