/// A map in the order of its keys, of which old versions can be kept: a change copies one path.
///
/// A B+ tree. Nodes are values with arrays, so what no other version shares is changed in place. A
/// node that becomes empty goes; others are not merged, which keeps every path as short as the map
/// has ever needed. How it lies in memory follows from its history, so it is never coded or compared
/// as it is.
///
/// - Complexity: Look-up, change, ``first`` and ``first(after:)`` are O(log *n*).
package struct PersistentSortedMap<Key: Comparable & Sendable, Value: Sendable>: Sendable {
  package typealias Element = (key: Key, value: Value)

  /// The number of keys.
  package private(set) var count = 0
  private var root = Node()

  package init() {}

  package var isEmpty: Bool { count == 0 }

  /// The entry with the smallest key.
  package var first: Element? { root.first }

  /// The entry with the largest key.
  package var last: Element? { root.last }

  /// The value of a key; setting nil removes the key.
  package subscript(key: Key) -> Value? {
    get { root.value(of: key) }
    set {
      if let newValue {
        let (isNew, split) = root.update(key, newValue)
        if isNew { count += 1 }
        if let split { root = Node(root, split) }
      } else if root.remove(key) {
        count -= 1
        root.dropLoneBranches()
      }
    }
  }

  /// The entry with the smallest key that is larger than a key.
  package func first(after key: Key) -> Element? { root.first(after: key) }

  /// The keys, ascending.
  package var keys: [Key] {
    var all: [Key] = []
    all.reserveCapacity(count)
    root.visit { key, _ in all.append(key) }
    return all
  }

  /// The values in the order of their keys.
  package var values: [Value] {
    var all: [Value] = []
    all.reserveCapacity(count)
    root.visit { all.append($1) }
    return all
  }

  /// The entries in the order of their keys.
  package var entries: [Element] {
    var all: [Element] = []
    all.reserveCapacity(count)
    root.visit { all.append(($0, $1)) }
    return all
  }
}

extension PersistentSortedMap {
  /// A leaf with entries, or a branch of further nodes with the smallest key of each.
  ///
  /// - Invariant: Below the root no node is empty, and all leaves are at the same depth.
  private struct Node: Sendable {
    /// How many entries or nodes a full node has.
    private static var width: Int { 16 }

    private var keys: ContiguousArray<Key> = []
    private var values: ContiguousArray<Value> = []
    private var nodes: ContiguousArray<Node> = []

    init() {}

    /// A branch of two nodes.
    init(_ first: Node, _ second: Node) {
      keys = [first.keys[0], second.keys[0]]
      nodes = [first, second]
    }

    var first: Element? {
      if let node = nodes.first { return node.first }
      return keys.isEmpty ? nil : (keys[0], values[0])
    }

    var last: Element? {
      if let node = nodes.last { return node.last }
      return keys.isEmpty ? nil : (keys[keys.count - 1], values[keys.count - 1])
    }

    /// The first place whose key is not before a key.
    private func place(of key: Key) -> Int {
      keys.indices.firstPlace { !(keys[$0] < key) }
    }

    /// The place of the node below a branch that a key belongs to.
    private func branch(for key: Key) -> Int {
      let place = place(of: key)
      return place < keys.count && keys[place] == key ? place : max(0, place - 1)
    }

    func value(of key: Key) -> Value? {
      guard nodes.isEmpty else { return nodes[branch(for: key)].value(of: key) }
      let place = place(of: key)
      return place < keys.count && keys[place] == key ? values[place] : nil
    }

    func first(after key: Key) -> Element? {
      guard nodes.isEmpty else {
        let place = branch(for: key)
        if let found = nodes[place].first(after: key) { return found }
        return place + 1 < nodes.count ? nodes[place + 1].first : nil
      }
      let place = place(of: key)
      let next = place < keys.count && keys[place] == key ? place + 1 : place
      return next < keys.count ? (keys[next], values[next]) : nil
    }

    /// Adds or replaces; returns whether the key is new, and the second half of a node that was full.
    mutating func update(_ key: Key, _ value: Value) -> (isNew: Bool, split: Node?) {
      if nodes.isEmpty {
        let place = place(of: key)
        if place < keys.count, keys[place] == key {
          values[place] = value
          return (false, nil)
        }
        keys.insert(key, at: place)
        values.insert(value, at: place)
        return (true, split())
      }
      let place = branch(for: key)
      let (isNew, added) = nodes[place].update(key, value)
      if key < keys[place] { keys[place] = key }
      if let added {
        keys.insert(added.keys[0], at: place + 1)
        nodes.insert(added, at: place + 1)
      }
      return (isNew, split())
    }

    private mutating func split() -> Node? {
      guard keys.count > Self.width else { return nil }
      // Keys mostly ascend: a node that is left behind at the end stays nearly full.
      let kept = Self.width * 3 / 4
      var second = Node()
      second.keys = ContiguousArray(keys[kept...])
      keys.removeSubrange(kept...)
      if nodes.isEmpty {
        second.values = ContiguousArray(values[kept...])
        values.removeSubrange(kept...)
      } else {
        second.nodes = ContiguousArray(nodes[kept...])
        nodes.removeSubrange(kept...)
      }
      return second
    }

    /// Removes a key; returns whether it was there.
    mutating func remove(_ key: Key) -> Bool {
      if nodes.isEmpty {
        let place = place(of: key)
        guard place < keys.count, keys[place] == key else { return false }
        keys.remove(at: place)
        values.remove(at: place)
        return true
      }
      let place = branch(for: key)
      // Looked up first, so that removing an absent key copies nothing.
      guard nodes[place].value(of: key) != nil else { return false }
      _ = nodes[place].remove(key)
      if let smallest = nodes[place].keys.first {
        keys[place] = smallest
      } else {
        nodes.remove(at: place)
        keys.remove(at: place)
      }
      return true
    }

    /// Replaces a root that has one node below it by that node.
    mutating func dropLoneBranches() {
      while nodes.count == 1 {
        let only = nodes[0]
        self = only
      }
    }

    func visit(_ body: (Key, Value) -> Void) {
      if nodes.isEmpty {
        for place in keys.indices { body(keys[place], values[place]) }
      } else {
        for node in nodes { node.visit(body) }
      }
    }
  }
}
