/// What this session's own saves made of change tags, by record; the latest save of a record counts.
///
/// Saves come in at the end, are looked up when an edit is taken from the queue, and are forgotten
/// from the front. So they lie in generations: small ones are merged into larger ones as they grow
/// in number, which keeps an old version cheap to hold and a look-up short. A whole generation is
/// forgotten at once.
package struct OwnTags: Sendable {
  /// Saves that lie together, ordered by hash.
  package final class Generation: Sendable {
    package let tags: [OwnTag]
    /// The latest of their `savedBefore`.
    package let savedBefore: UInt64
    /// Eight bits a save or more: says of most records at once that they are not here.
    private let filter: [UInt64]

    /// - Parameter tags: Saves in the order in which they were made.
    package init(_ tags: [OwnTag]) {
      var latest: [OwnTag] = []
      latest.reserveCapacity(tags.count)
      let ordered = tags.enumerated()
        .sorted {
          ($0.element.hash, $0.offset) < ($1.element.hash, $1.offset)
        }
      // Of one record the latest save stands last.
      for (_, tag) in ordered {
        if let index = latest.lastIndex(of: tag) { latest[index] = tag } else { latest.append(tag) }
      }
      var filter = [UInt64](repeating: 0, count: Self.words(for: latest.count))
      for tag in latest { Self.mark(tag.hash, in: &filter) }
      self.tags = latest
      self.filter = filter
      savedBefore = tags.map(\.savedBefore).max() ?? 0
    }

    private static func words(for count: Int) -> Int {
      var words = 1
      while words * 8 < count { words *= 2 }
      return words
    }

    private static func mark(_ hash: UInt64, in filter: inout [UInt64]) {
      filter[Int(truncatingIfNeeded: hash >> 12) & (filter.count - 1)] |= bits(of: hash)
    }

    private static func bits(of hash: UInt64) -> UInt64 {
      1 << (hash & 63) | 1 << ((hash >> 6) & 63)
    }

    package func tag(of recordID: RecordID, hash: UInt64) -> OwnTag? {
      let word = filter[Int(truncatingIfNeeded: hash >> 12) & (filter.count - 1)]
      let bits = Self.bits(of: hash)
      guard word & bits == bits else { return nil }
      var low = 0
      var high = tags.count
      while low < high {
        let middle = (low + high) / 2
        if tags[middle].hash < hash { low = middle + 1 } else { high = middle }
      }
      while low < tags.count, tags[low].hash == hash {
        if tags[low].recordID == recordID { return tags[low] }
        low += 1
      }
      return nil
    }
  }

  /// The generations, the oldest first.
  private var generations: [Generation] = []
  /// The latest saves.
  private var newest: [OwnTag] = []
  private var count = 0

  /// How many saves make a generation, and how many generations of like size make a larger one.
  private static let width = 16
  private static let fanIn = 8
  /// Generations of this size are not merged any more: no single event may take long.
  private static let largest = 16_384

  package init() {}

  package var isEmpty: Bool { count == 0 }

  /// The latest save of a record.
  package subscript(recordID: RecordID) -> OwnTag? {
    let hash = recordID.stableHash
    if let tag = newest.last(where: { $0.hash == hash && $0.recordID == recordID }) { return tag }
    for generation in generations.reversed() {
      if let tag = generation.tag(of: recordID, hash: hash) { return tag }
    }
    return nil
  }

  /// Remembers a save.
  package mutating func append(_ tag: OwnTag) {
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

extension [OwnTag] {
  /// Where the end of a list ordered by hash has a save of the same record.
  fileprivate func lastIndex(of tag: OwnTag) -> Int? {
    var index = endIndex - 1
    while index >= 0, self[index].hash == tag.hash {
      if self[index].recordID == tag.recordID { return index }
      index -= 1
    }
    return nil
  }
}

extension OwnTags: CodedValue {
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
      try reader.array { (reader) throws(CodedError) in try OwnTag.read(from: &reader) }
    }
    newest = lists.popLast() ?? []
    guard newest.count < Self.width else {
      throw reader.failure("\(newest.count) saves are not in a generation")
    }
    generations = lists.map(Generation.init)
    count = lists.reduce(newest.count) { $0 + $1.count }
  }
}
