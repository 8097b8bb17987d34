extension PersistentMap {
  /// A key with its value: immutable, so that versions share it for one reference count.
  final class Entry: Sendable {
    let hash: UInt64
    let key: Key
    let value: Value

    init(key: Key, value: Value, hash: UInt64) {
      self.hash = hash
      self.key = key
      self.value = value
    }

    func has(_ key: Key, hash: UInt64) -> Bool { self.hash == hash && self.key == key }
  }

  /// One node of the trie: a leaf with an entry, or a branch of up to 8 slots.
  ///
  /// An array rather than a class holds the slots: it is checked `Sendable`, and copies itself
  /// exactly when it is shared.
  ///
  /// - Invariant: A branch below the root holds at least two entries in all; a leaf has no slots.
  ///   Below the last bits of the hash a branch is a plain list of leaves, with an empty bitmap.
  struct Node: Sendable {
    /// How many bits of the hash a level takes: measured, as the cheapest to change when shared.
    private static var bitsPerLevel: UInt64 { 3 }

    /// The entry of a leaf.
    private var entry: Entry?
    /// The used slots of a branch, in their order.
    private var slots: ContiguousArray<Node> = []
    /// Which slots are used.
    private var map: UInt8 = 0

    /// An empty branch.
    init() {}

    /// A leaf.
    private init(_ entry: Entry) { self.entry = entry }

    /// A branch of two leaves with different keys.
    private init(_ first: Entry, _ second: Entry, level: UInt64) {
      let firstBit = Self.bit(hash: first.hash, level: level)
      let secondBit = Self.bit(hash: second.hash, level: level)
      map = firstBit | secondBit
      if firstBit == secondBit, firstBit != 0 {
        slots = [Node(first, second, level: level &+ 1)]
      } else if secondBit < firstBit {
        slots = [Node(second), Node(first)]
      } else {
        slots = [Node(first), Node(second)]
      }
    }

    /// The bit of the slot that a hash has at a level, 0 where the hash has no bits left.
    private static func bit(hash: UInt64, level: UInt64) -> UInt8 {
      let shift = level &* bitsPerLevel
      let digit = (hash &>> shift) & ((1 &<< bitsPerLevel) &- 1)
      return shift < 64 ? 1 &<< UInt8(truncatingIfNeeded: digit) : 0
    }

    /// How many used slots come before a slot.
    private func rank(of bit: UInt8) -> Int { (map & (bit &- 1)).nonzeroBitCount }

    /// The position of a key in a list of leaves with one hash.
    private func position(of key: Key) -> Int? { slots.firstIndex { $0.entry?.key == key } }

    func visit(_ body: (Key, Value) -> Void) {
      if let entry { body(entry.key, entry.value) }
      for slot in slots { slot.visit(body) }
    }

    func entry(of key: Key, hash: UInt64, level: UInt64 = 0) -> Entry? {
      if let entry { return entry.has(key, hash: hash) ? entry : nil }
      let bit = Self.bit(hash: hash, level: level)
      if map & bit != 0 {
        return slots[rank(of: bit)].entry(of: key, hash: hash, level: level &+ 1)
      }
      guard bit == 0, let index = position(of: key) else { return nil }
      return slots[index].entry
    }

    /// Adds an entry or replaces the one with its key; returns whether the key is new.
    mutating func update(_ new: Entry, level: UInt64) -> Bool {
      if let entry {
        let isNew = !entry.has(new.key, hash: new.hash)
        self = isNew ? Node(entry, new, level: level) : Node(new)
        return isNew
      }
      let bit = Self.bit(hash: new.hash, level: level)
      if map & bit != 0 { return slots[rank(of: bit)].update(new, level: level &+ 1) }
      if bit == 0, let index = position(of: new.key) {
        slots[index] = Node(new)
        return false
      }
      slots.insert(Node(new), at: bit == 0 ? slots.count : rank(of: bit))
      map |= bit
      return true
    }

    /// Removes a key that is there, below a branch.
    mutating func removePresent(key: Key, hash: UInt64, level: UInt64) {
      let bit = Self.bit(hash: hash, level: level)
      guard let index = bit == 0 ? position(of: key) : rank(of: bit) else { return }
      if slots[index].entry != nil {
        slots.remove(at: index)
        map &= ~bit
        return
      }
      slots[index].removePresent(key: key, hash: hash, level: level &+ 1)
      // A branch of one leaf gives it to its parent.
      if slots[index].slots.count == 1, let lone = slots[index].slots[0].entry {
        slots[index] = Node(lone)
      }
    }
  }
}
