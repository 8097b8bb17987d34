/// What this session's own saves made of change tags, by record; the latest save of a record counts.
///
/// Saves come in at the end, are looked up when an edit is taken from the queue, and are forgotten
/// from the front. So they lie in generations: small ones are merged into larger ones as they grow
/// in number, which keeps an old version cheap to hold and a look-up short. A whole generation is
/// forgotten at once.
package struct LocalTagHistory: Sendable {
  /// Saves that lie together, each record once, and a table that finds them.
  ///
  /// It is `@unchecked Sendable` because nothing changes the table once it is made.
  package final class Generation: @unchecked Sendable {
    /// In the order in which they were made.
    package let tags: [LocalTag]
    /// The latest of their `savedBefore`.
    package let savedBefore: UInt64
    /// The index of a save plus one, at the place that its hash names or the next free one.
    ///
    /// Four times as many as saves, so that most look-ups in vain end with the first.
    private let slots: UnsafeMutablePointer<UInt32>
    private let mask: Int

    /// - Parameter all: Saves in the order in which they were made; of a record the latest counts.
    package init(_ all: [LocalTag]) {
      var size = 32
      while size < all.count * 4 { size *= 2 }
      mask = size - 1
      slots = .allocate(capacity: size)
      let outdated = Self.fill(slots, mask: mask, with: all)
      savedBefore = all.reduce(0) { max($0, $1.savedBefore) }
      guard !outdated.isEmpty else {
        tags = all
        return
      }
      var next = 0
      var latest: [LocalTag] = []
      for (index, tag) in all.enumerated() {
        if next < outdated.count, outdated[next] == index {
          next += 1
        } else {
          latest.append(tag)
        }
      }
      tags = latest
      _ = Self.fill(slots, mask: mask, with: latest)
    }

    deinit { slots.deallocate() }

    /// Notes where the latest save of each record is, and returns the indexes of all others, ascending.
    private static func fill(
      _ slots: UnsafeMutablePointer<UInt32>,
      mask: Int,
      with tags: [LocalTag]
    ) -> [Int] {
      slots.initialize(repeating: 0, count: mask + 1)
      var outdated: [Int] = []
      for index in tags.indices {
        let hash = tags[index].hash
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] != 0 {
          let other = Int(slots[slot]) - 1
          // Identifiers are read only where their hashes agree.
          if tags[other].hash == hash, tags[other].recordID == tags[index].recordID { break }
          slot = (slot + 1) & mask
        }
        if slots[slot] != 0 { outdated.append(Int(slots[slot]) - 1) }
        slots[slot] = UInt32(index + 1)
      }
      if outdated.count > 1 { outdated.sort() }
      return outdated
    }

    @inline(__always)
    package func tag(of recordID: RecordID, hash: UInt64) -> LocalTag? {
      let slot = Int(truncatingIfNeeded: hash) & mask
      return slots[slot] == 0 ? nil : tag(of: recordID, hash: hash, from: slot)
    }

    private func tag(of recordID: RecordID, hash: UInt64, from first: Int) -> LocalTag? {
      var slot = first
      while slots[slot] != 0 {
        let tag = tags[Int(slots[slot]) - 1]
        if tag.hash == hash, tag.recordID == recordID { return tag }
        slot = (slot + 1) & mask
      }
      return nil
    }
  }

  /// A save that lies in no generation yet, with those before it: a list that grows without a copy.
  private final class Latest: Sendable {
    let tag: LocalTag
    let previous: Latest?
    let count: Int

    init(_ tag: LocalTag, after previous: Latest?) {
      self.tag = tag
      self.previous = previous
      count = (previous?.count ?? 0) + 1
    }

    /// All saves of the list, the oldest first.
    var tags: [LocalTag] {
      var tags: [LocalTag] = []
      tags.reserveCapacity(count)
      add(to: &tags)
      return tags
    }

    private func add(to tags: inout [LocalTag]) {
      previous?.add(to: &tags)
      tags.append(tag)
    }

    func tag(of recordID: RecordID, hash: UInt64) -> LocalTag? {
      if tag.hash == hash, tag.recordID == recordID { return tag }
      return previous?.tag(of: recordID, hash: hash)
    }
  }

  /// The generations, the oldest first.
  private var generations: [Generation] = []
  /// The latest saves, fewer than make a generation.
  private var newest: Latest?
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
    if let tag = newest?.tag(of: recordID, hash: hash) { return tag }
    var place = generations.count
    while place > 0 {
      place -= 1
      if let tag = generations[place].tag(of: recordID, hash: hash) { return tag }
    }
    return nil
  }

  /// Remembers a save.
  package mutating func append(_ tag: LocalTag) {
    let latest = Latest(tag, after: newest)
    count += 1
    guard latest.count == Self.width else {
      newest = latest
      return
    }
    let generation = Generation(latest.tags)
    newest = nil
    count -= Self.width - generation.tags.count
    generations.append(generation)
    mergeLatest()
  }

  /// Merges the latest generations while there are enough of one size.
  private mutating func mergeLatest() {
    var size = Self.width
    while size < Self.largest {
      let latest = generations.suffix(Self.fanIn)
      guard latest.count == Self.fanIn, latest.allSatisfy({ $0.tags.count <= size }) else { return }
      var all: [LocalTag] = []
      all.reserveCapacity(latest.reduce(0) { $0 + $1.tags.count })
      for generation in latest { all += generation.tags }
      let merged = Generation(all)
      count -= all.count - merged.tags.count
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
    for tags in generations.map(\.tags) + [(newest?.tags ?? [])] {
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
    let latest = lists.popLast() ?? []
    guard latest.count < Self.width else {
      throw reader.failure("\(latest.count) saves are not in a generation")
    }
    for tag in latest { newest = Latest(tag, after: newest) }
    generations = lists.map(Generation.init)
    count = lists.reduce(latest.count) { $0 + $1.count }
  }
}
