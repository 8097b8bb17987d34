extension SyncState {
  /// How many queued items one request may look at: a bound for the time that it takes.
  static let longestFill = 4_096

  /// Fills the batch from the front of the queue, up to the limit.
  ///
  /// What was parked and is to be sent again goes first. Edits of a record that is in the batch, or
  /// parked, are merged with it, in order.
  mutating func fillBatch(limits: RequestLimits, at now: Timestamp) {
    guard modify.frozen == 0 else { return }
    takeReturningChanges(limits: limits)
    guard !modify.queue.isEmpty, modify.batch.count < limits.items else { return }
    var index = BatchIndex(modify.batch, expecting: min(limits.items, modify.queuedItems))
    var taken = 0
    while taken < Self.longestFill, modify.batch.count < limits.items,
      let operation = modify.queue.first
    {
      openOperation(operation: operation)
      while modify.cursor < operation.itemCount {
        guard taken < Self.longestFill, modify.batch.count < limits.items else { return }
        let bytes = operation.byteCount(ofItem: modify.cursor)
        let entry = entry(for: operation, item: modify.cursor, bytes: bytes)
        guard add(entry, to: &index, at: now) else { return }
        modify.cursor += 1
        modify.queuedItems -= 1
        modify.queuedBytes -= bytes
        taken += 1
      }
      _ = modify.queue.popFirst()
      modify.cursor = 0
      taken += 1
    }
    forgetOldTags()
  }

  /// Fills the batch for the next request.
  ///
  /// If that would only be of changes that were refused in passing since the cloud answered last,
  /// others go before them: they show whether it is the cloud that is away.
  mutating func fillWithOthers(limits: RequestLimits, at now: Timestamp) {
    if modify.areOthersBlocked { modify.areOthersBlocked = false }
    let wasRefused = modify.othersFirst
    modify.othersFirst = false
    fillBatch(limits: limits, at: now)
    guard wasRefused, modify.batch.prefix(limits.items).allSatisfy(isRefused) else { return }
    var more = limits
    more.items += modify.batch.count(where: isRefused)
    fillBatch(limits: more, at: now)
    let others = modify.batch.filter { !isRefused($0) }
    if others.isEmpty {
      modify.areOthersBlocked = !modify.queue.isEmpty
    } else {
      modify.batch = others + modify.batch.filter(isRefused)
    }
  }

  private func isRefused(_ entry: PendingChange) -> Bool {
    entry.refusedAt > 0 && entry.refusedAt == answered
  }

  /// Counts an operation as begun, once.
  private mutating func openOperation(operation: ModifyOperation) {
    guard modify.cursor == 0, !operation.isWithdrawn,
      modify.open.last?.number != operation.id.number
    else { return }
    modify.open.append(OpenOperation(operation))
  }

  private mutating func takeReturningChanges(limits: RequestLimits) {
    guard !parked.returning.isEmpty else { return }
    while modify.batch.count < limits.items, let entry = parked.returning.popFirst() {
      modify.batch.append(entry)
      if entry.needsLookup { modify.lookups += 1 }
    }
  }

  @inline(__always)
  private func entry(for operation: ModifyOperation, item: Int, bytes: Int) -> PendingChange {
    let number = operation.id.number
    let saves = operation.records
    guard item < saves.count else {
      let recordID = operation.recordIDsToDelete[item - saves.count]
      return PendingChange(
        intent: .delete(recordID),
        ancestor: nil,
        byteCount: bytes,
        source: number
      )
    }
    var record = saves[item]
    var ancestor = operation.ancestor(at: item)
    let own = modify.localTags.isEmpty ? nil : modify.localTags[record.storage.recordID]
    if number < modify.tagsInvalidBefore {
      record.replaceChangeTag(by: nil)
      // This session has made the record anew, and knows more of it than the ancestor.
      if own != nil { ancestor = nil }
      if let own, own.replaces(nil) { record.replaceChangeTag(by: own.tag) }
    } else if let own, own.replaces(record.storage.changeTag) {
      record.replaceChangeTag(by: own.tag)
    }
    return PendingChange(
      intent: .save(record),
      ancestor: ancestor,
      byteCount: bytes,
      source: number
    )
  }

  /// Puts one item into the batch, or merges it; false if it has to wait.
  @inline(__always)
  private mutating func add(
    _ entry: consuming PendingChange,
    to index: inout BatchIndex,
    at now: Timestamp
  ) -> Bool {
    let recordID = entry.recordID
    if let place = index.place(of: recordID, in: modify.batch) {
      let wasLookedUp = modify.batch[place].needsLookup
      guard modify.batch[place].merge(entry) else { return false }
      let isLookedUp = modify.batch[place].needsLookup
      if wasLookedUp != isLookedUp { modify.lookups += isLookedUp ? 1 : -1 }
      return true
    }
    if !parked.entries.isEmpty, let parkedEntry = parked.entries[recordID] {
      return merge(entry, with: parkedEntry, in: &index, at: now)
    }
    if parked.quota != nil, entry.edit != nil {
      let error = SyncError(
        .quotaExceeded,
        "the storage is full; the save waits for the next probe"
      )
      park(entry, error: error, isQuota: true, at: now)
      return true
    }
    // An array of one costs less to make than one that grows.
    if entry.source < modify.tagsInvalidBefore, entry.ancestor != nil || entry.base != nil {
      entry.forgetServer()
    }
    if modify.batch.isEmpty { modify.batch = [entry] } else { modify.batch.append(entry) }
    index.add(recordID, to: modify.batch)
    return true
  }

  /// Merges an item with the parked entry of its record, which takes a fresh attempt.
  private mutating func merge(
    _ entry: PendingChange,
    with parkedEntry: ParkedEntry,
    in index: inout BatchIndex,
    at now: Timestamp
  ) -> Bool {
    let recordID = entry.recordID
    var merged = parkedEntry.entry
    if merged.edit == nil, entry.edit != nil {
      if !merged.isLastTry {
        // The deletion takes one more attempt before the record is saved again.
        merged.isLastTry = true
        merged.refresh()
        parked.unpark(recordID)
        modify.batch.append(merged)
        index.add(recordID, to: modify.batch)
        return false
      }
      // The deletion cannot be done; the app wants the record to exist.
      merged = entry
    } else if parkedEntry.error.code == .awaitsAppEdit, let edit = entry.edit,
      !UTF8Bytes.equal(edit.changeTag, merged.edit?.changeTag)
    {
      // The app has merged by itself: its edit, from a newer state, takes the place of the old one.
      merged = entry
    } else {
      _ = merged.merge(entry)
    }
    merged.wasParked = true
    merged.refresh()
    if parkedEntry.isQuota, parked.quota != nil, merged.edit != nil {
      parked.unpark(recordID)
      park(merged, error: parkedEntry.error, isQuota: true, at: now)
      return true
    }
    parked.unpark(recordID)
    modify.batch.append(merged)
    index.add(recordID, to: modify.batch)
    if merged.needsLookup { modify.lookups += 1 }
    return true
  }

  /// Forgets the change tags of own saves that no queued operation can lack any more.
  private mutating func forgetOldTags() {
    let oldest = modify.queue.first?.id.number ?? nextOperation
    guard modify.localTags.canForget(before: oldest, keeping: Self.rememberedSaves) else {
      return
    }
    modify.localTags.forget(before: oldest, keeping: Self.rememberedSaves)
  }

  /// How many own saves are remembered beyond what the queue needs: an app may submit an edit from
  /// the old change tag while the completion with the new one is on its way to it.
  static let rememberedSaves = 1_024

  /// Remembers that a save of this session's own replaced a change tag.
  mutating func rememberLocalTag(recordID: RecordID, replacing old: String?, by new: String?) {
    // Who keeps what is pending by itself makes each edit from what it knows of the record: an edit that does not
    // know of a save has to meet it as a conflict, or fields that it would have cleared stay.
    guard let new, configuration.refusedItems == .park else { return }
    // A record without a tag was new: nothing that is known of it leads to this save.
    if old != nil, let present = modify.localTags[recordID], UTF8Bytes.equal(present.tag, old) {
      modify.localTags.append(present.advanced(to: new, savedBefore: nextOperation))
    } else {
      modify.localTags.append(
        LocalTag(recordID, replacing: old, by: new, savedBefore: nextOperation)
      )
    }
  }

  /// Remembers that a record was deleted: no change tag of it is of use any more.
  mutating func forgetLocalTag(recordID: RecordID) {
    guard !modify.localTags.isEmpty, modify.localTags[recordID]?.tag != nil else {
      return
    }
    modify.localTags.append(
      LocalTag(recordID, replacing: nil, by: nil, savedBefore: nextOperation)
    )
  }

  /// Makes all change tags void: they belong to a zone or an account that is gone.
  mutating func invalidateTags() {
    modify.tagsInvalidBefore = nextOperation
    modify.localTags = LocalTagHistory()
    thaw(count: modify.frozen)
    modify.lookups = 0
    for index in modify.batch.indices { modify.batch[index].forgetServer() }
    var returning = PersistentQueue<PendingChange>()
    for var entry in parked.returning {
      entry.forgetServer()
      returning.append(entry)
    }
    parked.returning = returning
    for recordID in parked.records {
      guard var parkedEntry = parked.unpark(recordID) else { continue }
      parkedEntry.entry.forgetServer()
      parked.park(parkedEntry)
    }
  }
}

extension PendingChange {
  /// Forgets what belongs to a server that has gone: the tag, and conflicts with it.
  ///
  /// The record has to be made anew, so an edit takes the other fields along where the app gave them.
  fileprivate mutating func forgetServer() {
    if let ancestor, case .save(let edit) = intent {
      let whole = ancestor.applying(edit)
      intent = .save(whole)
      byteCount = whole.byteCount
      self.ancestor = nil
    }
    setChangeTag(tag: nil)
    isMixed = false
    needsLookup = false
    guard hasHistory else { return }
    base = nil
    conflicts = 0
    doubt = .none
  }
}

/// Where the batch has which record; only while it is filled.
private struct BatchIndex {
  /// Empty while the batch is so short that looking through it is faster.
  private var places: [RecordID: Int] = [:]
  private let expected: Int

  private static let fewest = 8

  init(_ batch: [PendingChange], expecting count: Int) {
    expected = batch.count + min(count, SyncState.longestFill)
    if batch.count > Self.fewest { fill(batch) }
  }

  func place(of recordID: RecordID, in batch: [PendingChange]) -> Int? {
    places.isEmpty ? batch.firstIndex { $0.recordID == recordID } : places[recordID]
  }

  /// Takes note of the record that was added at the end of the batch.
  mutating func add(_ recordID: RecordID, to batch: [PendingChange]) {
    if !places.isEmpty {
      places[recordID] = batch.count - 1
    } else if batch.count > Self.fewest {
      fill(batch)
    }
  }

  private mutating func fill(_ batch: [PendingChange]) {
    places.reserveCapacity(expected)
    for (place, entry) in batch.enumerated() { places[entry.recordID] = place }
  }
}
