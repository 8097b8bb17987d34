import CloudSyncTestSupport
import Testing

@testable import CloudSyncCore

/// A key of which many have the same hash.
private struct Colliding: StableHashable {
  var number: Int
  /// How many different hashes there are.
  var spread: UInt64

  var stableHash: UInt64 { (UInt64(number) % spread) &* 0x9e37_79b9_7f4a_7c15 }
}

@Suite("PersistentMap")
struct PersistentMapTests {
  /// Performs random operations on the map and a dictionary, keeping some old versions.
  private func check<Key: StableHashable>(seed: UInt64, steps: Int, key: (UInt64) -> Key) {
    var random = SplitMix64(seed: seed)
    var map = PersistentMap<Key, Int>()
    var model: [Key: Int] = [:]
    var kept: [(PersistentMap<Key, Int>, [Key: Int])] = []
    for step in 0..<steps {
      // Periods of growth and of decline, so that nodes are also emptied.
      let removes = random.below(10) < (step / 500 % 2 == 0 ? 3 : 7)
      let key = key(random.next())
      let value = removes ? nil : step
      map[key] = value
      model[key] = value
      if step % 37 == 0 { kept.append((map, model)) }
      #expect(map.count == model.count && map[key] == value)
    }
    for (map, model) in kept + [(map, model)] { expectEqual(map, model) }
  }

  private func expectEqual<Key: StableHashable>(
    _ map: PersistentMap<Key, Int>,
    _ model: [Key: Int]
  ) {
    var visited: [Key: Int] = [:]
    map.visitUnordered { visited[$0] = $1 }
    #expect(visited == model)
    #expect(map.count == model.count)
    #expect(map.isEmpty == model.isEmpty)
    #expect(model.allSatisfy { map[$0.key] == $0.value })
  }

  /// The keys in the order in which the trie holds them.
  private func shape(_ map: PersistentMap<UInt64, Int>) -> [UInt64] {
    var keys: [UInt64] = []
    map.visitUnordered { key, _ in keys.append(key) }
    return keys
  }

  @Test("Behaves as a dictionary, and kept versions do not change", arguments: UInt64(0)..<8)
  func modelBased(seed: UInt64) {
    check(seed: seed, steps: 2000) { Int($0 % 700) }
  }

  @Test("Keys that share the low bits of their hash reach down to the last level")
  func highBitsOnly() {
    check(seed: 1, steps: 2000) { ($0 % 16) << 60 | ($0 >> 8 % 8) }
  }

  @Test("Keys that share the whole hash are told apart", arguments: [UInt64(1), 2, 7])
  func collisions(spread: UInt64) {
    check(seed: spread, steps: 2000) { Colliding(number: Int($0 % 60), spread: spread) }
  }

  @Test("Removing an absent key changes nothing")
  func removeAbsent() {
    var map = PersistentMap<Int, Int>()
    map[1] = 1

    map[33] = nil

    #expect(map.count == 1)
    #expect(map[1] == 1)
  }

  @Test("The shape follows from the keys alone", arguments: UInt64(0)..<8)
  func canonicalShape(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    // Few low bits, so that the trie is deep and branches often have two leaves.
    let keys = (0..<300).map { _ in random.next() & 0xf000_000f_0000_0fff }
    let stays = Set(keys.prefix(100))
    var history = PersistentMap<UInt64, Int>()
    for key in keys { history[key] = 0 }
    for key in keys.shuffled(using: &random) where !stays.contains(key) { history[key] = nil }

    var direct = PersistentMap<UInt64, Int>()
    for key in keys.prefix(100).reversed() { direct[key] = 0 }

    #expect(shape(history) == shape(direct))
    for key in stays { history[key] = nil }
    #expect(history.isEmpty && shape(history).isEmpty)
  }

  @Test("Sorted gives every pair in the caller's order")
  func sorted() {
    var map = PersistentMap<Int, String>()
    for number in [5, -3, 99, 0] { map[number] = "\(number)" }

    let pairs = map.sorted(by: >)

    #expect(pairs.map(\.key) == [99, 5, 0, -3])
    #expect(pairs.map(\.value) == ["99", "5", "0", "-3"])
  }

  @Test("Holds a hundred thousand dense integers")
  func dense() {
    var map = PersistentMap<Int, Int>()
    for number in 0..<100_000 { map[number] = -number }
    let full = map
    for number in 0..<100_000 where number % 3 != 0 { map[number] = nil }

    #expect(map.count == 33_334)
    #expect((0..<100_000).allSatisfy { map[$0] == ($0 % 3 == 0 ? -$0 : nil) })
    #expect((0..<100_000).allSatisfy { full[$0] == -$0 })
  }

  @Test("Hashes of integers are the integers")
  func identityHashes() {
    #expect(7.stableHash == 7)
    #expect((-1).stableHash == UInt64.max)
    #expect(UInt64.max.stableHash == UInt64.max)
  }
}
