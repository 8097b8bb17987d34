extension SyncRegions {
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
      modify.open(operation)
      while modify.cursor < operation.itemCount {
        guard taken < Self.longestFill, modify.batch.count < limits.items else { return }
        let bytes = operation.byteCount(ofItem: modify.cursor)
        let entry = modify.entry(for: operation, item: modify.cursor, bytes: bytes)
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
    modify.forgetOldTags(next: nextOperation)
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
    guard wasRefused, modify.batch.prefix(limits.items).allSatisfy(wasRefusedLast) else { return }
    var more = limits
    let (items, isTooMany) = more.items.addingReportingOverflow(
      modify.batch.count(where: wasRefusedLast)
    )
    more.items = isTooMany ? .max : items
    fillBatch(limits: more, at: now)
    let others = modify.batch.filter { !wasRefusedLast($0) }
    if others.isEmpty {
      modify.areOthersBlocked = !modify.queue.isEmpty
    } else {
      modify.batch = others + modify.batch.filter(wasRefusedLast)
    }
  }

  private func wasRefusedLast(_ entry: PendingChange) -> Bool {
    entry.refusedAt > 0 && entry.refusedAt == answered
  }

  private mutating func takeReturningChanges(limits: RequestLimits) {
    guard !parked.returning.isEmpty else { return }
    while modify.batch.count < limits.items, let entry = parked.returning.popFirst() {
      modify.add(entry)
    }
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
    if entry.source < modify.tagsInvalidBefore, entry.ancestor != nil || entry.isResolved {
      entry.forgetServer()
    }
    modify.add(entry)
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
    if parkedEntry.entry.edit == nil, entry.edit != nil, !parkedEntry.entry.isLastTry {
      // The deletion takes one more attempt before the record is saved again.
      var deletion = parkedEntry.entry
      deletion.isLastTry = true
      deletion.refresh()
      parked.unpark(recordID)
      modify.batch.append(deletion)
      index.add(recordID, to: modify.batch)
      return false
    }
    let merged = parkedEntry.merged(with: entry)
    if parkedEntry.isQuota, parked.quota != nil, merged.edit != nil {
      parked.unpark(recordID)
      park(merged, error: parkedEntry.error, isQuota: true, at: now)
      return true
    }
    parked.unpark(recordID)
    modify.add(merged)
    index.add(recordID, to: modify.batch)
    return true
  }

  /// Remembers that a save of this session's own replaced a change tag.
  mutating func rememberLocalTag(of entry: PendingChange, replacing old: String?, by new: String?) {
    // Who keeps what is pending by itself makes each edit from what it knows of the record: an edit that does not
    // know of a save has to meet it as a conflict, or fields that it would have cleared stay.
    guard configuration.refusedItems == .park else { return }
    modify.rememberTag(of: entry, replacing: old, by: new, before: nextOperation)
  }

  /// Makes all change tags void: they belong to a zone or an account that is gone.
  mutating func invalidateTags() {
    modify.invalidateTags(before: nextOperation)
    parked.forgetServer()
  }
}

/// Where the batch has which record; only while it is filled.
private struct BatchIndex {
  /// Empty while the batch is so short that looking through it is faster.
  private var places: [RecordID: Int] = [:]
  private let expected: Int

  private static let fewest = 8

  init(_ batch: [PendingChange], expecting count: Int) {
    expected = batch.count + min(count, SyncRegions.longestFill)
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
