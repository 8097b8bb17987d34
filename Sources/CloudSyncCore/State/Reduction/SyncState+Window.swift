extension SyncState {
  /// How many queued items one request may look at: a bound for the time that it takes.
  static let longestFill = 4_096

  /// Fills the window from the front of the queue, up to the limit.
  ///
  /// What was parked and is to be sent again goes first. Edits of a record that is in the window, or
  /// on the shelf, are merged with it, in order.
  mutating func fillWindow(_ limits: RequestLimits, at now: Timestamp) {
    guard modify.frozen == 0 else { return }
    takeReturning(limits)
    guard !modify.queue.isEmpty, modify.window.count < limits.items else { return }
    var index = WindowIndex(modify.window, expecting: min(limits.items, modify.queuedItems))
    var taken = 0
    while taken < Self.longestFill, modify.window.count < limits.items,
      let operation = modify.queue.first
    {
      openOperation(operation)
      while modify.cursor < operation.itemCount {
        guard taken < Self.longestFill, modify.window.count < limits.items else { return }
        let bytes = operation.byteCount(ofItem: modify.cursor)
        let entry = entry(for: operation, item: modify.cursor, bytes: bytes)
        guard take(entry, &index, at: now) else { return }
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

  /// Counts an operation as begun, once.
  private mutating func openOperation(_ operation: ModifyOperation) {
    guard modify.cursor == 0, !operation.isWithdrawn,
      modify.open.last?.number != operation.id.number
    else { return }
    modify.open.append(OpenOperation(operation))
  }

  private mutating func takeReturning(_ limits: RequestLimits) {
    guard !parked.returning.isEmpty else { return }
    while modify.window.count < limits.items, let entry = parked.returning.popFirst() {
      modify.window.append(entry)
      if entry.needsLookup { modify.lookups += 1 }
    }
  }

  private func entry(for operation: ModifyOperation, item: Int, bytes: Int) -> WindowEntry {
    let number = operation.id.number
    let saves = operation.records
    guard item < saves.count else {
      let recordID = operation.recordIDsToDelete[item - saves.count]
      return WindowEntry(
        intent: .delete(recordID),
        ancestor: nil,
        byteCount: bytes,
        source: number
      )
    }
    var entry = WindowEntry(
      intent: .save(saves[item]),
      ancestor: operation.ancestor(at: item),
      byteCount: bytes,
      source: number
    )
    if number < modify.tagsVoidBefore {
      entry.setChangeTag(nil)
      guard let own = modify.own.value[saves[item].recordID] else { return entry }
      // This session has made the record anew, and knows more of it than the ancestor.
      entry.ancestor = nil
      if own.replaces(nil) { entry.setChangeTag(own.tag) }
    } else if !modify.own.value.isEmpty, let own = modify.own.value[saves[item].recordID],
      own.replaces(saves[item].changeTag)
    {
      entry.setChangeTag(own.tag)
    }
    return entry
  }

  /// Puts one item into the window, or merges it; false if it has to wait.
  private mutating func take(
    _ entry: WindowEntry,
    _ index: inout WindowIndex,
    at now: Timestamp
  ) -> Bool {
    let recordID = entry.recordID
    if let place = index[recordID] {
      let wasLookedUp = modify.window[place].needsLookup
      guard modify.window[place].merge(entry) else { return false }
      let isLookedUp = modify.window[place].needsLookup
      if wasLookedUp != isLookedUp { modify.lookups += isLookedUp ? 1 : -1 }
      return true
    }
    if !parked.shelf.isEmpty, let shelved = parked.shelf[recordID] {
      return take(entry, over: shelved, &index, at: now)
    }
    if parked.quota != nil, entry.edit != nil {
      let error = SyncError(
        .quotaExceeded,
        "the storage is full; the save waits for the next probe"
      )
      park(entry, error, isQuota: true)
      return true
    }
    var entry = entry
    if entry.source < modify.tagsVoidBefore, entry.ancestor != nil || entry.base != nil {
      entry.forgetServer()
    }
    index.add(recordID, at: modify.window.count)
    modify.window.append(entry)
    return true
  }

  /// Merges an item with the parked entry of its record, which takes a fresh attempt.
  private mutating func take(
    _ entry: WindowEntry,
    over shelved: ParkedEntry,
    _ index: inout WindowIndex,
    at now: Timestamp
  ) -> Bool {
    let recordID = entry.recordID
    var merged = shelved.entry
    if merged.edit == nil, entry.edit != nil {
      if !merged.isLastTry {
        // The deletion takes one more attempt before the record is saved again.
        merged.isLastTry = true
        merged.refresh()
        unshelve(recordID)
        index.add(recordID, at: modify.window.count)
        modify.window.append(merged)
        return false
      }
      // The deletion cannot be done; the app wants the record to exist.
      merged = entry
    } else if shelved.error.code == .awaitsAppEdit, let edit = entry.edit,
      !UTF8Bytes.equal(edit.changeTag, merged.edit?.changeTag)
    {
      // The app has merged by itself: its edit, from a newer state, takes the place of the old one.
      merged = entry
    } else {
      _ = merged.merge(entry)
    }
    merged.wasParked = true
    merged.refresh()
    if shelved.isQuota, parked.quota != nil, merged.edit != nil {
      park(merged, shelved.error, isQuota: true)
      return true
    }
    unshelve(recordID)
    index.add(recordID, at: modify.window.count)
    modify.window.append(merged)
    if merged.needsLookup { modify.lookups += 1 }
    return true
  }

  /// Forgets the change tags of own saves that no queued operation can lack any more.
  private mutating func forgetOldTags() {
    let oldest = modify.queue.first?.id.number ?? nextOperation
    guard modify.own.value.canForget(before: oldest, keeping: Self.rememberedSaves) else { return }
    modify.own.value.forget(before: oldest, keeping: Self.rememberedSaves)
  }

  /// How many own saves are remembered beyond what the queue needs: an app may submit an edit from
  /// the old change tag while the completion with the new one is on its way to it.
  static let rememberedSaves = 1_024

  /// Remembers that a save of this session's own replaced a change tag.
  mutating func rememberOwnTag(_ recordID: RecordID, replacing old: String?, by new: String?) {
    guard let new else { return }
    // A record without a tag was new: nothing that is known of it leads to this save.
    if old != nil, let present = modify.own.value[recordID], UTF8Bytes.equal(present.tag, old) {
      modify.own.value.append(present.advanced(to: new, savedBefore: nextOperation))
    } else {
      modify.own.value.append(
        OwnTag(recordID, replacing: old, by: new, savedBefore: nextOperation)
      )
    }
  }

  /// Remembers that a record was deleted: no change tag of it is of use any more.
  mutating func forgetOwnTag(_ recordID: RecordID) {
    guard !modify.own.value.isEmpty, modify.own.value[recordID]?.tag != nil else { return }
    modify.own.value.append(
      OwnTag(recordID, replacing: nil, by: nil, savedBefore: nextOperation)
    )
  }

  /// Makes all change tags void: they belong to a zone or an account that is gone.
  mutating func voidTags() {
    modify.tagsVoidBefore = nextOperation
    modify.own = CopyOnWrite(OwnTags())
    modify.frozen = 0
    modify.lookups = 0
    for index in modify.window.indices { modify.window[index].forgetServer() }
    var returning = PersistentQueue<WindowEntry>()
    for var entry in parked.returning {
      entry.forgetServer()
      returning.append(entry)
    }
    parked.returning = returning
    for var shelved in parked.inOrder {
      shelved.entry.forgetServer()
      parked.shelf[shelved.entry.recordID] = shelved
    }
  }
}

extension WindowEntry {
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
    base = nil
    setChangeTag(nil)
    isMixed = false
    needsLookup = false
    conflicts = 0
  }
}

/// Where the window has which record; only while it is filled.
private struct WindowIndex {
  private var places: [RecordID: Int] = [:]
  /// The records, while they are so few that looking through them is faster.
  private var few: [RecordID] = []

  private static let fewest = 8

  init(_ window: [WindowEntry], expecting count: Int) {
    let count = window.count + min(count, SyncState.longestFill)
    if count <= Self.fewest {
      few.reserveCapacity(count)
    } else {
      places.reserveCapacity(count)
    }
    for (place, entry) in window.enumerated() { add(entry.recordID, at: place) }
  }

  subscript(recordID: RecordID) -> Int? {
    places.isEmpty ? few.firstIndex(of: recordID) : places[recordID]
  }

  /// Adds a record at the end of the window.
  mutating func add(_ recordID: RecordID, at place: Int) {
    if places.isEmpty, place < Self.fewest {
      few.append(recordID)
      return
    }
    for (place, recordID) in few.enumerated() { places[recordID] = place }
    few = []
    places[recordID] = place
  }
}
