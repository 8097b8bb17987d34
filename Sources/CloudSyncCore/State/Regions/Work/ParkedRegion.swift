/// What is set aside: the shelf, and what is on its way back from it.
package struct ParkedRegion: Sendable {
  /// Parked entries by record.
  package var entries = PersistentMap<RecordID, ParkedEntry>()
  /// Entries to be sent again: they go before everything that is queued.
  package var returning = PersistentQueue<PendingChange>()
  /// The number of the next entry to be parked.
  package var next: UInt64 = 1
  /// How many records were parked since one was saved.
  package var inRow = 0
  /// When storage is probed again; saves are parked unsent until then.
  package var quota: Deadline?
  /// The record that is sent as a probe of the storage, while it is on its way.
  package var probe: RecordID?

  package init() {}

  /// All parked entries in the order in which they were parked.
  package var inOrder: [ParkedEntry] {
    entries.sorted(by: RecordID.precedes).map(\.value).sorted { $0.number < $1.number }
  }
}

/// One parked entry.
package struct ParkedEntry: Sendable {
  package var entry: PendingChange
  package var error: SyncError
  /// Counts parked entries, for their order.
  package var number: UInt64
  /// Whether it only waits for storage.
  package var isQuota: Bool
}

extension ParkedEntry: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("entry", entry)
      $0.field("error", error)
      $0.field("number", number)
      $0.field("isQuota", isQuota)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    entry = try reader.field("entry")
    error = try reader.field("error")
    number = try reader.field("number")
    isQuota = try reader.field("isQuota")
    try reader.endObject()
  }
}

extension ParkedRegion: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("entries", inOrder)
      $0.field("returning", returning)
      $0.field("next", next)
      $0.field("inRow", inRow)
      $0.field("quota", quota)
      $0.field("probe", probe)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    let list: [ParkedEntry] = try reader.field("entries")
    for parked in list { entries[parked.entry.recordID] = parked }
    returning = try reader.field("returning")
    next = try reader.number("next")
    inRow = try reader.amount("inRow")
    quota = try reader.field("quota")
    probe = try reader.field("probe")
    try reader.endObject()
  }
}
