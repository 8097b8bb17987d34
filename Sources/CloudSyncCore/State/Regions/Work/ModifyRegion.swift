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
  /// How often in a row an answer was lost although the cloud answered other requests.
  package var losses = 0
  /// How many requests the cloud had answered when the last answer was lost.
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

  /// Lets go of so many changes at the front of the batch, which were answered.
  mutating func thaw(count: Int) {
    repeated = 0
    writeToken = nil
    frozen = max(0, frozen - count)
    guard frozen == 0 else { return }
    part = 0
    losses = 0
    lostAt = nil
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
