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
}

extension ModifyRegion: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("queue", queue)
      $0.field("cursor", cursor)
      $0.field("open", open)
      $0.field("batch", batch)
      $0.field("frozen", frozen)
      $0.field("repeated", repeated)
      $0.field("part", part)
      $0.field("losses", losses)
      $0.field("lostAt", lostAt)
      $0.field("cancelling", cancelling)
      $0.field("writeToken", writeToken)
      $0.field("localTags", localTags)
      $0.field("tagsInvalidBefore", tagsInvalidBefore)
      $0.field("queuedItems", queuedItems)
      $0.field("queuedBytes", queuedBytes)
      $0.field("lookups", lookups)
      $0.field("isProbing", isProbing)
      $0.field("othersFirst", othersFirst)
      $0.field("areOthersBlocked", areOthersBlocked)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    queue = try reader.field("queue")
    cursor = try reader.amount("cursor")
    open = try reader.field("open")
    batch = try reader.field("batch")
    frozen = try reader.amount("frozen")
    repeated = try reader.amount("repeated")
    part = try reader.amount("part")
    losses = try reader.amount("losses")
    lostAt = try reader.field("lostAt")
    cancelling = try reader.field("cancelling")
    writeToken = try reader.field("writeToken")
    localTags = try reader.field("localTags")
    tagsInvalidBefore = try reader.field("tagsInvalidBefore")
    queuedItems = try reader.amount("queuedItems")
    queuedBytes = try reader.amount("queuedBytes")
    lookups = try reader.amount("lookups")
    isProbing = try reader.field("isProbing")
    othersFirst = try reader.field("othersFirst")
    areOthersBlocked = try reader.field("areOthersBlocked")
    try reader.endObject()
  }
}
