/// A dictionary of which old versions can be kept: a change copies one path, not the whole.
///
/// A hash array mapped trie of 8-way branches. What no other version shares is changed in place.
/// The shape follows from the keys alone, whatever was inserted and removed before; only the order
/// of keys whose whole hashes collide follows from history. The map is no sequence on purpose:
/// sort it wherever its order could be seen.
///
/// Nodes are small, and entries are boxed, so that a change beside a kept version retains little:
/// the siblings along one path, once each. A release of the whole frees one box more an entry.
///
/// - Complexity: Lookup and change are O(1) for good hashes: at most 22 branches of 8 slots.
package struct PersistentMap<Key: StableHashable, Value: Sendable>: Sendable {
  /// The number of keys.
  package private(set) var count = 0
  private var root = Node()

  package init() {}

  package var isEmpty: Bool { count == 0 }

  /// The value of a key; setting nil removes the key.
  package subscript(key: Key) -> Value? {
    get { root.entry(of: key, hash: key.stableHash)?.value }
    set {
      let hash = key.stableHash
      if let newValue {
        if root.update(Entry(key: key, value: newValue, hash: hash), level: 0) { count += 1 }
      } else {
        _ = remove(key, hash: hash)
      }
    }
  }

  /// Removes a key, and returns its value if it was there.
  package mutating func removeValue(for key: Key) -> Value? {
    remove(key, hash: key.stableHash)?.value
  }

  private mutating func remove(_ key: Key, hash: UInt64) -> Entry? {
    // Looked up first, so that removing an absent key copies nothing.
    guard let entry = root.entry(of: key, hash: hash) else { return nil }
    root.removePresent(key: key, hash: hash, level: 0)
    count -= 1
    return entry
  }

  /// The keys with their values, in the order that the caller gives.
  package func sorted(by precedes: (Key, Key) -> Bool) -> [(key: Key, value: Value)] {
    var pairs: [(key: Key, value: Value)] = []
    pairs.reserveCapacity(count)
    root.visit { pairs.append(($0, $1)) }
    pairs.sort { precedes($0.key, $1.key) }
    return pairs
  }

  /// Visits all keys and values in no particular order: never into state or output.
  ///
  /// For sums, counts and checks whose result does not depend on the order.
  package func visitUnordered(_ visit: (Key, Value) -> Void) { root.visit(visit) }
}
