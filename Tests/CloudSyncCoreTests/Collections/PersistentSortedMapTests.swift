import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("PersistentSortedMap")
struct PersistentSortedMapTests {
  @Test("It holds what a dictionary holds, in order, and old versions do not change")
  func againstDictionary() {
    for seed in 1...10 as ClosedRange<UInt64> {
      var random = SplitMix64(seed: seed)
      var map = PersistentSortedMap<Int, Int>()
      var wanted: [Int: Int] = [:]
      var kept: [(map: PersistentSortedMap<Int, Int>, wanted: [Int: Int])] = []
      for step in 0..<1_500 {
        let key = random.below(300)
        if random.chance(step < 700 ? 1 : 3, in: 5) {
          map[key] = nil
          wanted[key] = nil
        } else {
          map[key] = step
          wanted[key] = step
        }
        #expect(map[key] == wanted[key])
        if step % 100 == 0 { kept.append((map, wanted)) }
      }
      for (map, wanted) in kept + [(map, wanted)] {
        let sorted = wanted.sorted { $0.key < $1.key }
        #expect(map.count == wanted.count && map.isEmpty == wanted.isEmpty)
        #expect(map.values == sorted.map(\.value))
        #expect(map.entries.map(\.key) == sorted.map(\.key))
        #expect(map.first?.key == sorted.first?.key && map.last?.key == sorted.last?.key)
        for key in -1...300 {
          #expect(map.first(after: key)?.key == sorted.first { $0.key > key }?.key)
        }
      }
    }
  }
}
