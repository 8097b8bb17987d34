/// One parked entry.
package struct ParkedEntry: Sendable {
  package var entry: PendingChange
  package var error: SyncError
  /// Counts parked entries, for their order.
  package var number: UInt64
  /// Whether it only waits for storage.
  package var isQuota: Bool
  /// When it is tried again by itself, if what was wrong with it may pass.
  package var probe: Deadline?
  /// Whether it returns when any parked record is saved: it was refused because of another record,
  /// and refers to none that was parked then.
  package var waitsForAny = false

  /// The records that it waits for: those that it refers to, if it was refused because of them.
  package var targets: [RecordID] {
    error.code == .referenceViolation ? entry.edit?.referredRecordIDs ?? [] : []
  }

  /// What becomes of it together with a later change of its record: a change with a fresh attempt.
  func merged(with later: PendingChange) -> PendingChange {
    var merged = entry
    if merged.edit == nil, later.edit != nil {
      // The deletion cannot be done; the app wants the record to exist.
      merged = later
    } else if error.code == .awaitsAppEdit, let edit = later.edit,
      !UTF8Bytes.equal(edit.changeTag, merged.edit?.changeTag)
    {
      // The app has merged by itself: its edit, from a newer state, takes the place of the old one.
      merged = later
    } else {
      _ = merged.merge(later)
    }
    merged.wasParked = true
    merged.refresh()
    return merged
  }
}

extension Record {
  /// The records that the record refers to by its fields and as its parent, each once.
  package var referredRecordIDs: [RecordID] {
    var found: [RecordID] = []
    func add(_ recordID: RecordID) {
      if recordID != self.recordID, !found.contains(recordID) { found.append(recordID) }
    }
    if let parent { add(parent) }
    for field in fields {
      switch field.value {
      case .reference(let reference): add(reference.recordID)
      case .list(let values):
        for value in values {
          if case .reference(let reference) = value { add(reference.recordID) }
        }
      default: break
      }
    }
    return found
  }
}

extension ParkedEntry: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    entry = try coder.field("entry") { $0.entry }
    error = try coder.field("error") { $0.error }
    number = try coder.field("number") { $0.number }
    isQuota = try coder.field("isQuota") { $0.isQuota }
    probe = try coder.field("probe") { $0.probe }
    waitsForAny = try coder.field("waitsForAny") { $0.waitsForAny }
  }
}
