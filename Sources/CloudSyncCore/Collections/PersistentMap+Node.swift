extension PersistentMap {
  /// One node of the trie: up to 32 slots, each free, an entry, or a child.
  ///
  /// Arrays rather than a class hold the slots: they are checked `Sendable`, and copy themselves
  /// exactly when they are shared.
  ///
  /// - Invariant: A child holds at least two entries in all; a lone entry lies in its parent.
  ///   Below the last bits of the hash a node is a plain list of entries, with empty bitmaps.
  struct Node: Sendable {
    struct Entry: Sendable {
      var key: Key
      var value: Value
    }

    /// The slots that hold entries.
    private var entryMap: UInt32 = 0
    /// The slots that hold children.
    private var childMap: UInt32 = 0
    /// The entries, in the order of their slots.
    private var entries: ContiguousArray<Entry> = []
    /// The children, in the order of their slots.
    private var children: ContiguousArray<Node> = []

    init() {}

    /// A node of two entries with different keys.
    private init(_ first: Entry, _ second: Entry, hash: UInt64, level: Int) {
      let firstBit = Self.bit(first.key.stableHash, level)
      let secondBit = Self.bit(hash, level)
      if firstBit == secondBit, firstBit != 0 {
        childMap = firstBit
        children = [Node(first, second, hash: hash, level: level + 1)]
      } else {
        entryMap = firstBit | secondBit
        entries = secondBit < firstBit ? [second, first] : [first, second]
      }
    }

    /// The bit of the slot that a hash has at a level, 0 where the hash has no bits left.
    private static func bit(_ hash: UInt64, _ level: Int) -> UInt32 {
      let shift = UInt64(level) &* 5
      return shift < 64 ? 1 &<< UInt32(truncatingIfNeeded: (hash &>> shift) & 31) : 0
    }

    /// How many slots of a bitmap come before a slot.
    private static func rank(_ bit: UInt32, in map: UInt32) -> Int {
      (map & (bit &- 1)).nonzeroBitCount
    }

    /// The only entry of the whole node, if it has just one.
    private var loneEntry: Entry? {
      children.isEmpty && entries.count == 1 ? entries.first : nil
    }

    func visit(_ body: (Key, Value) -> Void) {
      for entry in entries { body(entry.key, entry.value) }
      for child in children { child.visit(body) }
    }
  }
}

extension PersistentMap.Node {
  func value(of key: Key, hash: UInt64, level: Int) -> Value? {
    let bit = Self.bit(hash, level)
    if entryMap & bit != 0 {
      let index = Self.rank(bit, in: entryMap)
      return entries[index].key == key ? entries[index].value : nil
    }
    if childMap & bit != 0 {
      return children[Self.rank(bit, in: childMap)].value(of: key, hash: hash, level: level + 1)
    }
    guard bit == 0, let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
    return entries[index].value
  }

  /// Adds an entry or replaces its value; returns whether the key is new.
  mutating func update(_ entry: Entry, hash: UInt64, level: Int) -> Bool {
    let bit = Self.bit(hash, level)
    if bit == 0 { return updateList(entry) }
    if childMap & bit != 0 {
      return children[Self.rank(bit, in: childMap)].update(entry, hash: hash, level: level + 1)
    }
    let index = Self.rank(bit, in: entryMap)
    if entryMap & bit == 0 {
      entryMap |= bit
      entries.insert(entry, at: index)
      return true
    }
    if entries[index].key == entry.key {
      entries[index].value = entry.value
      return false
    }
    let other = entries.remove(at: index)
    entryMap ^= bit
    childMap |= bit
    let child = Self(other, entry, hash: hash, level: level + 1)
    children.insert(child, at: Self.rank(bit, in: childMap))
    return true
  }

  private mutating func updateList(_ entry: Entry) -> Bool {
    if let index = entries.firstIndex(where: { $0.key == entry.key }) {
      entries[index].value = entry.value
      return false
    }
    entries.append(entry)
    return true
  }

  /// Removes a key; returns whether it was there.
  ///
  /// An absent key copies nothing.
  mutating func remove(_ key: Key, hash: UInt64, level: Int) -> Bool {
    guard value(of: key, hash: hash, level: level) != nil else { return false }
    removePresent(key, hash: hash, level: level)
    return true
  }

  private mutating func removePresent(_ key: Key, hash: UInt64, level: Int) {
    let bit = Self.bit(hash, level)
    if childMap & bit != 0 {
      let index = Self.rank(bit, in: childMap)
      children[index].removePresent(key, hash: hash, level: level + 1)
      guard let lone = children[index].loneEntry else { return }
      children.remove(at: index)
      childMap ^= bit
      entryMap |= bit
      entries.insert(lone, at: Self.rank(bit, in: entryMap))
    } else if bit != 0 {
      entries.remove(at: Self.rank(bit, in: entryMap))
      entryMap ^= bit
    } else {
      entries.removeAll { $0.key == key }
    }
  }
}
