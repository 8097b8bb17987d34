/// What own saves made of change tags.
extension ModifyRegion {
  /// How many own saves are remembered beyond what the queue needs: an app may submit an edit from
  /// the old change tag while the completion with the new one is on its way to it.
  static let rememberedSaves = 1_024

  /// Forgets the change tags of own saves that no queued operation can lack any more.
  mutating func forgetOldTags(next: UInt64) {
    let oldest = queue.first?.id.number ?? next
    guard localTags.canForget(before: oldest, keeping: Self.rememberedSaves) else { return }
    localTags.forget(before: oldest, keeping: Self.rememberedSaves)
  }

  /// Remembers that a save of this session's own replaced a change tag.
  ///
  /// - Parameters:
  ///   - entry: What was saved.
  ///   - old: The tag that it was made from, nil for a new record.
  ///   - new: The tag of the save; nil where the cloud gives none, so that there is nothing to remember.
  ///   - next: The number of the operation that comes next.
  mutating func rememberTag(
    of entry: PendingChange,
    replacing old: String?,
    by new: String?,
    before next: UInt64
  ) {
    guard let new else { return }
    let recordID = entry.recordID
    let isResolved = entry.isResolved && !UTF8Bytes.equal(old, new)
    // A record without a tag was new: nothing that is known of it leads to this save.
    if !isResolved, old != nil, let present = localTags[recordID],
      UTF8Bytes.equal(present.tag, old)
    {
      localTags.append(present.advanced(to: new, savedBefore: next))
    } else {
      localTags.append(
        LocalTag(recordID, replacing: old, by: new, savedBefore: next, isResolved: isResolved)
      )
    }
  }

  /// Remembers that a record was deleted: no change tag of it is of use any more.
  mutating func forgetTag(of recordID: RecordID, before next: UInt64) {
    guard !localTags.isEmpty, localTags[recordID]?.tag != nil else { return }
    localTags.append(LocalTag(recordID, replacing: nil, by: nil, savedBefore: next))
  }

  /// Makes all change tags void: they belong to a zone or an account that is gone.
  mutating func invalidateTags(before next: UInt64) {
    tagsInvalidBefore = next
    localTags = LocalTagHistory()
    thaw(count: frozen)
    lookups = 0
    for index in batch.indices { batch[index].forgetServer() }
  }

  /// The next item of an operation, with the change tag that own saves have made of its own.
  @inline(__always)
  func entry(for operation: ModifyOperation, item: Int, bytes: Int) -> PendingChange {
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
    let own = localTags.isEmpty ? nil : localTags[record.storage.recordID]
    if number < tagsInvalidBefore {
      record.replaceChangeTag(by: nil)
      // This session has made the record anew, and knows more of it than the ancestor; unless somebody else had.
      if own?.isResolved == false { ancestor = nil }
      if let own, own.replaces(nil, byEditWithAncestor: ancestor != nil) {
        record.replaceChangeTag(by: own.tag)
      }
    } else if let own,
      own.replaces(record.storage.changeTag, byEditWithAncestor: ancestor != nil)
    {
      record.replaceChangeTag(by: own.tag)
    }
    var change = PendingChange(
      intent: .save(record),
      ancestor: ancestor,
      byteCount: bytes,
      source: number
    )
    if ancestor != nil { change.byteCount = change.sent(record).byteCount }
    return change
  }
}
