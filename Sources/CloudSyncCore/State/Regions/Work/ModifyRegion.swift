/// Modifications: what is queued, what is on its way, and what is known of its own saves.
package struct ModifyRegion: Sendable {
  /// Operations of which no request has taken anything yet, and the one that is being taken from.
  package var queue = PersistentQueue<ModifyOperation>()
  /// How many items of the queue's first operation have been taken.
  package var cursor = 0
  /// Operations with items in the window, or waiting for an earlier one to complete; in order.
  package var open: [OpenOperation] = []
  /// The ordered entries that the next requests are made of, one a record; nothing is put back.
  package var window: [WindowEntry] = []
  /// How many entries at the front of the window were sent without an answer: they are sent again
  /// unchanged.
  package var frozen = 0
  /// The token of the request in flight, or of the frozen one.
  package var writeToken: WriteToken?
  /// What this session's own saves made of change tags; boxed, for only saves change it.
  package var own = CopyOnWrite(OwnTags())
  /// Operations before this number carry change tags of a zone or account that is gone.
  package var tagsVoidBefore: UInt64 = 0
  /// Items and bytes that no request has taken yet.
  package var queuedItems = 0
  package var queuedBytes = 0
  /// Entries of the window whose server record has to be looked up.
  package var lookups = 0

  package init() {}
}

/// What this session's own saves made of change tags.
package struct OwnTags: Sendable {
  /// The tags, by record.
  package var tags = PersistentMap<RecordID, OwnTag>()
  /// The records in the order of their saves.
  package var order = PersistentQueue<OwnTagMark>()

  package init() {}
}

/// The change tag that a record got by this session's own save.
package struct OwnTag: Sendable {
  /// The first tag that was replaced, nil for a new record: what a long queue was built from.
  package var first: String?
  /// The tags that were replaced after it, oldest first.
  package var further: [String] = []
  package var tag: String
  /// The next operation's number when it was saved: earlier ones cannot know the tag.
  package var savedBefore: UInt64

  /// How many replaced tags of one record are remembered besides the first.
  private static let longest = 32

  package init(replacing first: String?, by tag: String, savedBefore: UInt64) {
    self.first = first
    self.tag = tag
    self.savedBefore = savedBefore
  }

  /// Whether an edit made from a tag is no conflict with the record's present version.
  package func replaces(_ tag: String?) -> Bool {
    if UTF8Bytes.equal(first, tag) { return true }
    guard let tag else { return false }
    return further.contains { UTF8Bytes.equal($0, tag) }
  }

  /// Takes the next save into account, which replaced the present tag.
  package mutating func advance(to tag: String, savedBefore: UInt64) {
    further.append(self.tag)
    if further.count > Self.longest { further.removeFirst() }
    self.tag = tag
    self.savedBefore = savedBefore
  }
}

/// One save, for forgetting its tag in time.
package struct OwnTagMark: Sendable {
  package var recordID: RecordID
  package var savedBefore: UInt64
}

extension OwnTag: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("first", first)
      $0.field("further", further)
      $0.field("tag", tag)
      $0.field("savedBefore", savedBefore)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    first = try reader.field("first")
    further = try reader.field("further")
    tag = try reader.field("tag")
    savedBefore = try reader.field("savedBefore")
    try reader.endObject()
  }
}

extension OwnTagMark: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("recordID", recordID)
      $0.field("savedBefore", savedBefore)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    recordID = try reader.field("recordID")
    savedBefore = try reader.field("savedBefore")
    try reader.endObject()
  }
}

extension OwnTags: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.key("tags")
      $0.beginArray(count: tags.count)
      for (recordID, own) in tags.sorted(by: RecordID.precedes) {
        $0.object {
          $0.field("recordID", recordID)
          $0.field("own", own)
        }
      }
      $0.endArray()
      $0.field("order", order)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    try reader.key("tags")
    let pairs = try reader.array { (reader) throws(CodedError) -> (RecordID, OwnTag) in
      try reader.beginObject()
      let pair: (RecordID, OwnTag) = (try reader.field("recordID"), try reader.field("own"))
      try reader.endObject()
      return pair
    }
    for (recordID, own) in pairs { tags[recordID] = own }
    order = try reader.field("order")
    try reader.endObject()
  }
}

extension ModifyRegion: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("queue", queue)
      $0.field("cursor", cursor)
      $0.field("open", open)
      $0.field("window", window)
      $0.field("frozen", frozen)
      $0.field("writeToken", writeToken)
      $0.field("own", own.value)
      $0.field("tagsVoidBefore", tagsVoidBefore)
      $0.field("queuedItems", queuedItems)
      $0.field("queuedBytes", queuedBytes)
      $0.field("lookups", lookups)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    queue = try reader.field("queue")
    cursor = try reader.field("cursor")
    open = try reader.field("open")
    window = try reader.field("window")
    frozen = try reader.field("frozen")
    writeToken = try reader.field("writeToken")
    own = CopyOnWrite(try reader.field("own") as OwnTags)
    tagsVoidBefore = try reader.field("tagsVoidBefore")
    queuedItems = try reader.field("queuedItems")
    queuedBytes = try reader.field("queuedBytes")
    lookups = try reader.field("lookups")
    try reader.endObject()
  }
}
