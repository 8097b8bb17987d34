import CloudSyncCore
import CloudSyncSQLite
import Testing

@Suite("Merges that add up")
struct MergeSumTests {
  @Test("A counter ends as the sum of all that was added, however the devices meet")
  func counters() {
    for seed in 0..<150 {
      var random = SplitMix64(seed: UInt64(seed))
      let count = 2 + Int(random.below(3))
      var world = MergeWorld(
        columns: Array(repeating: ["n"], count: count),
        policy: TableMergePolicy(defaultPolicy: .counter)
      )
      world.make(.insert(["n": 0]), on: 0)
      world.expectToSettle()
      var sum: Int64 = 0
      for _ in 0..<Int(random.below(40)) {
        let amount = Int64(random.below(5)) - 2
        sum += amount
        world.make(.add("n", amount), on: Int(random.below(UInt64(count))))
        world.syncRandomly(&random, steps: Int(random.below(4)))
      }

      world.expectToSettle("seed \(seed)")
      #expect(world.server.row["n"]?.value == .int64(sum), "seed \(seed)")
    }
  }

  @Test("A set ends with all that was added and never removed, however the devices meet")
  func sets() {
    for seed in 0..<100 {
      var random = SplitMix64(seed: UInt64(seed))
      let count = 2 + Int(random.below(3))
      var world = MergeWorld(
        columns: Array(repeating: ["s"], count: count),
        policy: TableMergePolicy(defaultPolicy: .setUnion)
      )
      world.make(.insert(["s": "[]"]), on: 0)
      world.expectToSettle()
      var expected: Set<Int> = []
      for number in 0..<Int(random.below(30)) {
        let device = Int(random.below(UInt64(count)))
        var mine = Self.elements(of: world.devices[device].row)
        if random.below(3) == 0, let gone = mine.first {
          mine.removeFirst()
          expected.remove(gone)
        } else {
          mine.append(number)
          expected.insert(number)
        }
        world.make(.set("s", .string("\(mine)")), on: device)
        world.syncRandomly(&random, steps: Int(random.below(4)))
      }

      world.expectToSettle("seed \(seed)")
      let found = Self.elements(of: world.server.row)
      #expect(found.sorted() == expected.sorted(), "seed \(seed)")
    }
  }

  private static func elements(of row: RowVersion) -> [Int] {
    let text = row["s"]?.value.stringValue ?? "[]"
    return text.dropFirst().dropLast().split(separator: ",")
      .compactMap { Int($0.filter { $0 != " " }) }
  }
}
