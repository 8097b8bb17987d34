/// What one record's change tag became by this session's own saves.
///
/// It is a class so that the collections that hold it copy one reference.
package final class LocalTag: Sendable {
  package let recordID: RecordID
  /// The record's stable hash, by which it is found.
  package let hash: UInt64
  /// The first tag that was replaced, nil for a new record: what a long queue was built from.
  package let first: String?
  /// The tags that were replaced after it, oldest first.
  package let further: [String]
  /// The present tag; nil when the record was deleted since, so that nothing is replaced any more.
  package let tag: String?
  /// The next operation's number when it was saved: earlier ones cannot know the tag.
  package let savedBefore: UInt64
  /// Whether what replaced the first tag was decided in a conflict: what an edit made of that tag holds may not have
  /// the others' part of it.
  package let isResolved: Bool

  /// How many replaced tags of one record are remembered besides the first.
  private static let longest = 32

  package init(
    _ recordID: RecordID,
    replacing first: String?,
    _ further: [String] = [],
    by tag: String?,
    savedBefore: UInt64,
    isResolved: Bool = false
  ) {
    self.recordID = recordID
    hash = recordID.stableHash
    self.first = first
    self.further = further
    self.tag = tag
    self.savedBefore = savedBefore
    self.isResolved = isResolved
  }

  /// Whether an edit made from a tag is no conflict with the record's present version.
  ///
  /// - Parameters:
  ///   - old: The edit's tag.
  ///   - isMeasured: Whether the edit says what it was made of: where a conflict was decided, it is measured from that.
  /// - Returns: Whether it is none.
  package func replaces(_ old: String?, byEditWithAncestor isMeasured: Bool) -> Bool {
    guard tag != nil else { return false }
    if UTF8Bytes.equal(first, old) { return !(isResolved && isMeasured) }
    guard let old else { return false }
    return further.contains { UTF8Bytes.equal($0, old) }
  }

  /// What becomes of it with the next save, which replaced the present tag.
  package func advanced(to tag: String, savedBefore: UInt64) -> LocalTag {
    var further = further
    if let present = self.tag { further.append(present) }
    if further.count > Self.longest { further.removeFirst() }
    return LocalTag(
      recordID,
      replacing: first,
      further,
      by: tag,
      savedBefore: savedBefore,
      isResolved: isResolved
    )
  }
}

extension LocalTag {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("recordID", recordID)
      $0.field("first", first)
      $0.field("further", further)
      $0.field("tag", tag)
      $0.field("savedBefore", savedBefore)
      $0.field("isResolved", isResolved)
    }
  }

  package static func read<R: CodedReader>(
    from reader: inout R
  ) throws(CodedError) -> LocalTag {
    try reader.beginObject()
    let recordID: RecordID = try reader.field("recordID")
    let first: String? = try reader.field("first")
    let further: [String] = try reader.field("further")
    let tag: String? = try reader.field("tag")
    let savedBefore: UInt64 = try reader.field("savedBefore")
    let isResolved: Bool = try reader.field("isResolved")
    try reader.endObject()
    return LocalTag(
      recordID,
      replacing: first,
      further,
      by: tag,
      savedBefore: savedBefore,
      isResolved: isResolved
    )
  }
}
