/// Modifications: what is queued, what is on its way, and what is known of its own saves.
package struct ModifyRegion: Sendable {
  /// Operations of which no request has taken anything yet, and the one that is being taken from.
  package var queue = PersistentQueue<ModifyOperation>()
  /// How many items of the queue's first operation have been taken.
  package var cursor = 0
  /// Operations with items in the batch, or waiting for an earlier one to complete; in order.
  package var open = OpenOperations()
  /// The ordered entries that the next requests are made of, one a record; nothing is put back.
  package var batch: [PendingChange] = []
  /// How many entries at the front of the batch were sent and not answered: they go before all others,
  /// and nothing is merged with them.
  package var frozen = 0
  /// How many of them are the request that is sent again unchanged; 0 if the next is a new one.
  package var repeated = 0
  /// How many of them at most travel together, 0 if all do: a request that is not answered is halved.
  package var part = 0
  /// How often in a row a response was lost although the cloud answered other requests.
  package var losses = 0
  /// How many requests the cloud had answered when the last response was lost.
  package var lostAt: UInt64?
  /// The numbers of open operations that the app has given up, and that could not end yet.
  package var cancelling: [UInt64] = []
  /// The token of the request in flight, or of the one that is sent again.
  package var writeToken: WriteToken?
  /// What this session's own saves made of change tags.
  package var localTags = LocalTagHistory()
  /// Operations before this number carry change tags of a zone or account that is gone.
  package var tagsInvalidBefore: UInt64 = 0
  /// Items and bytes that no request has taken yet.
  package var queuedItems = 0
  package var queuedBytes = 0
  /// Entries of the batch whose server record has to be looked up.
  package var lookups = 0
  /// Whether parked records are being tried again: they are at the front of the batch.
  package var isProbing = false
  /// Whether others have their turn before parked records are tried again.
  package var othersFirst = false
  /// Whether the request is of changes that were refused in passing, and all others wait for them.
  package var areOthersBlocked = false

  package init() {}

  // MARK: Requests

  /// How many changes at the front of the batch travel together.
  func countForRequest(limits: RequestLimits) -> Int {
    var count = 0
    var bytes = 0
    for place in 0..<min(limits.items, batch.count) {
      bytes += batch[place].byteCount
      // What has to be looked up first may have come in just now.
      if batch[place].needsLookup || (count > 0 && bytes > limits.bytes) { break }
      count += 1
    }
    return count
  }

  /// Whether a response has as many saves and deletions as the request.
  func isFitting(_ response: ModifyOperation.Response, to count: Int) -> Bool {
    guard batch.count >= count,
      response.savedRecords.count + response.deletedRecordIDs.count == count
    else { return false }
    var saves = 0
    for place in 0..<count where batch[place].isSave { saves += 1 }
    return saves == response.savedRecords.count
  }

  /// Puts a change at the end of the batch.
  mutating func add(_ entry: consuming PendingChange) {
    if entry.needsLookup { lookups += 1 }
    // An array of one costs less to make than one that grows.
    if batch.isEmpty { batch = [entry] } else { batch.append(entry) }
  }

  // MARK: The queue

  /// Counts an operation as begun, once.
  mutating func open(_ operation: ModifyOperation) {
    guard cursor == 0, !operation.isWithdrawn, open.lastNumber != operation.id.number else {
      return
    }
    open.append(OpenOperation(operation))
  }

  /// Where an operation of this epoch is in the queue: numbers ascend in it.
  func queueIndex(of id: OperationID) -> Int? {
    let place = (0..<queue.count).firstPlace { queue[$0].id.number >= id.number }
    guard place < queue.count, queue[place].id == id else { return nil }
    return queue[place].isWithdrawn ? nil : place
  }

  /// Takes an operation out of the queue of which nothing has been taken.
  mutating func withdraw(at index: Int) {
    let operation = queue[index]
    queuedItems -= operation.itemCount
    queuedBytes -= operation.byteCount
    // A queue has no gaps: what was given up leaves an empty operation that announces nothing.
    queue.replace(at: index, with: operation.withdrawn)
  }

  /// Takes the part of an operation that no request has taken yet out of the queue.
  mutating func withdrawRest(of number: UInt64) -> [RecordID] {
    guard let first = queue.first, first.id.number == number else { return [] }
    let rest = first.itemIDs(from: cursor)
    queuedItems -= rest.count
    for item in cursor..<first.itemCount { queuedBytes -= first.byteCount(ofItem: item) }
    _ = queue.popFirst()
    cursor = 0
    return rest
  }

  /// Takes the numbers of the given up operations of which no edit is on its way for the first time, or is looked up.
  mutating func takeCancellable(during flight: Flight?) -> [UInt64] {
    var held = 0
    if let flight, frozen == 0 {
      held = flight.isLookup ? batch.count : flight.mode == .modify ? flight.count : 0
    }
    // A set is asked for single numbers only; its order never shows.
    var waiting: Set<UInt64> = []
    for entry in batch.prefix(held) { waiting.formUnion(entry.sources) }
    let numbers = cancelling
    cancelling = numbers.filter(waiting.contains)
    return numbers.filter { !waiting.contains($0) }
  }

  /// Takes an operation's edits out of the batch; a request that is sent again is given up if it
  /// has an entry of its own, and the rest of it is sent under a new write token.
  ///
  /// What was merged with another operation's edit, or with one that had been parked, goes on with that.
  ///
  /// - Parameters:
  ///   - number: The operation's number.
  ///   - sent: How many entries are in flight.
  /// - Returns: What was taken out, and whether some of it is in flight.
  mutating func withdrawFromBatch(
    operation number: UInt64,
    sent: Int
  ) -> (failures: [ItemFailure], endsRequest: Bool) {
    var withdrawn: [ItemFailure] = []
    var kept: [PendingChange] = []
    var (stillFrozen, endsRequest) = (0, false)
    let sent = max(repeated, sent)
    for (place, entry) in batch.enumerated() {
      var entry = entry
      let carried = entry.remove(number)
      let isKept = carried == 0 || entry.source != 0 || entry.wasParked
      if carried > 0 {
        let error: SyncError =
          isKept ? .goesOnMerged : entry.mayBeSaved ? .outcomeUnknown : .cancelled
        withdrawn += Array(repeating: ItemFailure(entry.recordID, error), count: carried)
      }
      if isKept {
        kept.append(entry)
        if place < frozen { stillFrozen += 1 }
      } else if place < sent {
        endsRequest = true
      }
    }
    guard !withdrawn.isEmpty else { return ([], false) }
    batch = kept
    if endsRequest || (frozen > 0 && stillFrozen == 0) {
      thaw(count: frozen - stillFrozen)
    } else {
      frozen = stillFrozen
    }
    return (withdrawn, endsRequest)
  }

  /// The records of the open operations that are still in the batch, on the way back to it, or not
  /// taken yet, by the operation's number.
  func unsettledItems(returning: [PendingChange]) -> [UInt64: [RecordID]] {
    // A dictionary is asked for single operations only; its order never shows.
    var found: [UInt64: [RecordID]] = [:]
    for entry in batch + returning where entry.source != 0 {
      found[entry.source, default: []].append(entry.recordID)
      for number in entry.furtherSources where number != entry.source {
        found[number, default: []].append(entry.recordID)
      }
    }
    if let first = queue.first, open.lastNumber == first.id.number {
      found[first.id.number, default: []] += first.itemIDs(from: cursor)
    }
    return found
  }

  /// Calls a function with every open operation that an entry carries.
  mutating func forEachSource(of entry: PendingChange, body: (inout OpenOperation) -> Void) {
    guard entry.source != 0 else { return }
    open.change(operation: entry.source, body)
    for number in entry.furtherSources { open.change(operation: number, body) }
  }

  /// Puts an operation at the end of the queue.
  mutating func enqueue(_ operation: ModifyOperation) {
    queue.append(operation)
    queuedItems += operation.itemCount
    queuedBytes += operation.byteCount
  }
}

extension ModifyRegion: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    queue = try coder.field("queue") { $0.queue }
    cursor = try coder.amount("cursor") { $0.cursor }
    open = try coder.field("open") { $0.open }
    batch = try coder.field("batch") { $0.batch }
    frozen = try coder.amount("frozen") { $0.frozen }
    repeated = try coder.amount("repeated") { $0.repeated }
    part = try coder.amount("part") { $0.part }
    losses = try coder.amount("losses") { $0.losses }
    lostAt = try coder.field("lostAt") { $0.lostAt }
    cancelling = try coder.field("cancelling") { $0.cancelling }
    writeToken = try coder.field("writeToken") { $0.writeToken }
    localTags = try coder.field("localTags") { $0.localTags }
    tagsInvalidBefore = try coder.field("tagsInvalidBefore") { $0.tagsInvalidBefore }
    queuedItems = try coder.amount("queuedItems") { $0.queuedItems }
    queuedBytes = try coder.amount("queuedBytes") { $0.queuedBytes }
    lookups = try coder.amount("lookups") { $0.lookups }
    isProbing = try coder.field("isProbing") { $0.isProbing }
    othersFirst = try coder.field("othersFirst") { $0.othersFirst }
    areOthersBlocked = try coder.field("areOthersBlocked") { $0.areOthersBlocked }
  }
}
