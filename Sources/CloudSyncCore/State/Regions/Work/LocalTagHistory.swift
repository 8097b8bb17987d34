/// What this session's own saves made of change tags, by record; the latest save of a record counts.
///
/// Saves come in at the end, are looked up when an edit is taken from the queue, and are forgotten
/// from the front. So they lie in generations: small ones are merged into larger ones as they grow
/// in number, which keeps an old version cheap to hold and a look-up short. A whole generation is
/// forgotten at once.
package struct LocalTagHistory: Sendable {
  /// Saves that lie together, each record once, and a table that finds them.
  package final class Generation: Sendable {
    /// In the order in which they were made.
    package let tags: [LocalTag]
    /// The latest of their `savedBefore`.
    package let savedBefore: UInt64
    /// The index of a save plus one, at the place that its hash names or the next free one.
    private let slots: [UInt32]

    /// - Parameter all: Saves in the order in which they were made; of a record the latest counts.
    package init(_ all: [LocalTag]) {
      var size = 8
      while size < all.count * 2 { size *= 2 }
      var slots = [UInt32](repeating: 0, count: size)
      var latest: [LocalTag] = []
      latest.reserveCapacity(all.count)
      for tag in all.reversed() {
        let slot = Self.slot(of: tag.recordID, hash: tag.hash, slots: slots, latest: latest)
        guard slots[slot] == 0 else { continue }
        latest.append(tag)
        slots[slot] = UInt32(latest.count)
      }
      tags = latest.reversed()
      self.slots = slots
      savedBefore = all.reduce(0) { max($0, $1.savedBefore) }
    }

    /// The slot of a record, or the free one where it would be; `latest` is ordered backwards.
    private static func slot(
      of recordID: RecordID,
      hash: UInt64,
      slots: [UInt32],
      latest: [LocalTag]
    ) -> Int {
      var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
      while slots[slot] != 0 {
        let tag = latest[Int(slots[slot]) - 1]
        if tag.hash == hash, tag.recordID == recordID { break }
        slot = (slot + 1) & (slots.count - 1)
      }
      return slot
    }

    package func tag(of recordID: RecordID, hash: UInt64) -> LocalTag? {
      var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
      while slots[slot] != 0 {
        let tag = tags[tags.count - Int(slots[slot])]
        if tag.hash == hash, tag.recordID == recordID { return tag }
        slot = (slot + 1) & (slots.count - 1)
      }
      return nil
    }
  }

  /// The generations, the oldest first.
  private var generations: [Generation] = []
  /// The latest saves.
  private var newest: [LocalTag] = []
  private var count = 0

  /// How many saves make a generation, and how many generations of like size make a larger one.
  private static let width = 16
  private static let fanIn = 8
  /// Generations of this size are not merged any more: no single event may take long.
  private static let largest = 16_384

  package init() {}

  package var isEmpty: Bool { count == 0 }

  /// The latest save of a record.
  package subscript(recordID: RecordID) -> LocalTag? {
    let hash = recordID.stableHash
    if let tag = newest.last(where: { $0.hash == hash && $0.recordID == recordID }) { return tag }
    for generation in generations.reversed() {
      if let tag = generation.tag(of: recordID, hash: hash) { return tag }
    }
    return nil
  }

  /// Remembers a save.
  package mutating func append(_ tag: LocalTag) {
    newest.append(tag)
    count += 1
    if newest.count == Self.width {
      let generation = Generation(newest)
      count -= newest.count - generation.tags.count
      generations.append(generation)
      newest = []
      mergeLatest()
    }
  }

  /// Merges the latest generations while there are enough of one size.
  private mutating func mergeLatest() {
    var size = Self.width
    while size < Self.largest {
      let latest = generations.suffix(Self.fanIn)
      guard latest.count == Self.fanIn, latest.allSatisfy({ $0.tags.count <= size }) else { return }
      let merged = Generation(latest.flatMap(\.tags))
      count -= latest.reduce(0) { $0 + $1.tags.count } - merged.tags.count
      generations.removeLast(Self.fanIn)
      generations.append(merged)
      size *= Self.fanIn
    }
  }

  /// Whether there is anything to forget.
  package func canForget(before number: UInt64, keeping least: Int) -> Bool {
    guard let oldest = generations.first else { return false }
    return oldest.savedBefore <= number && count - oldest.tags.count >= least
  }

  /// Forgets old saves that no operation from a number on can lack, but keeps so many of all.
  package mutating func forget(before number: UInt64, keeping least: Int) {
    while canForget(before: number, keeping: least) {
      count -= generations.removeFirst().tags.count
    }
  }
}

extension LocalTagHistory: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.beginArray(count: generations.count + 1)
    for tags in generations.map(\.tags) + [newest] {
      writer.beginArray(count: tags.count)
      for tag in tags { tag.write(to: &writer) }
      writer.endArray()
    }
    writer.endArray()
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    var lists = try reader.array { (reader) throws(CodedError) in
      try reader.array { (reader) throws(CodedError) in try LocalTag.read(from: &reader) }
    }
    newest = lists.popLast() ?? []
    guard newest.count < Self.width else {
      throw reader.failure("\(newest.count) saves are not in a generation")
    }
    generations = lists.map(Generation.init)
    count = lists.reduce(newest.count) { $0 + $1.count }
  }
}
