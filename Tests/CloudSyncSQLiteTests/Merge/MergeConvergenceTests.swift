import CloudSyncCore
import CloudSyncSQLite
import Testing

@Suite("Convergence of merges")
struct MergeConvergenceTests {
  private static let names = ["id", "a", "b"]

  private static func policies(_ random: inout SplitMix64) -> TableMergePolicy {
    let all: [MergePolicy] = [
      .newest, .client, .server, .maximum, .counter, .setUnion, .custom { $0.newest },
    ]
    return TableMergePolicy(
      columns: [
        "a": all[Int(random.below(UInt64(all.count)))],
        "b": all[Int(random.below(UInt64(all.count)))],
      ],
      deletes: random.below(2) == 0 ? .deleteWins : .editWins
    )
  }

  private static func value(_ random: inout SplitMix64) -> FieldValue {
    let all: [FieldValue] = [
      .null, 1, 2, -5, .int64(.max), 1.5, "x", "é", "[]", "[1,\"a\"]", "[2]", .double(1),
    ]
    return all[Int(random.below(UInt64(all.count)))]
  }

  private static func edit(_ random: inout SplitMix64, deletes: Bool) -> MergeEdit {
    switch random.below(deletes ? 10 : 8) {
    case 0..<6: .set(random.below(2) == 0 ? "a" : "b", value(&random))
    case 6, 7: .insert(["id": "k", "a": value(&random), "b": value(&random)])
    default: .delete
    }
  }

  @Test("All devices end as the cloud, whatever the policies", arguments: 0..<20)
  func converge(block: Int) {
    for seed in (block * 50)..<(block * 50 + 50) {
      var random = SplitMix64(seed: UInt64(seed))
      let count = 2 + Int(random.below(3))
      let policy = Self.policies(&random)
      var world = MergeWorld(
        columns: Array(repeating: Self.names, count: count),
        policy: policy,
        removes: policy.deletes == .deleteWins && random.below(2) == 0
      )
      world.skew(&random)
      for _ in 0..<Int(random.below(40)) {
        let device = Int(random.below(UInt64(count)))
        world.make(Self.edit(&random, deletes: true), on: device)
        world.syncRandomly(&random, steps: Int(random.below(4)))
      }

      world.expectToSettle("seed \(seed)")
      let record = world.server.record
      world.expectToSettle("seed \(seed)")
      #expect(world.server.record == record, "seed \(seed): the exchange does not end")
    }
  }

  @Test("Every column ends with its newest edit", arguments: 0..<10)
  func newest(block: Int) {
    for seed in (block * 50)..<(block * 50 + 50) {
      var random = SplitMix64(seed: UInt64(seed))
      let count = 2 + Int(random.below(3))
      var world = MergeWorld(columns: Array(repeating: Self.names, count: count))
      world.skew(&random)
      var edits: [VersionedColumn] = []
      for _ in 0..<(1 + Int(random.below(40))) {
        let device = Int(random.below(UInt64(count)))
        let before = world.devices[device].row
        world.make(Self.edit(&random, deletes: false), on: device)
        let after = world.devices[device].row
        edits += after.columns.filter { before[$0.name] != $0 }
        world.syncRandomly(&random, steps: Int(random.below(4)))
      }

      world.expectToSettle("seed \(seed)")
      for column in world.server.row.columns {
        let all = edits.filter { $0.name == column.name }
        #expect(all.contains(column), "seed \(seed)")
        #expect(all.allSatisfy { $0.time <= column.time }, "seed \(seed)")
      }
      #expect(world.server.row.columns.isEmpty == edits.isEmpty)
    }
  }

  /// Lets devices edit apart, and meet in one of several orders.
  private static func outcome(
    seed: Int,
    order: Int,
    policy: TableMergePolicy,
    removes: Bool,
    edits: (inout SplitMix64) -> MergeEdit
  ) -> [VersionedColumn]? {
    var random = SplitMix64(seed: UInt64(seed))
    var meeting = SplitMix64(seed: UInt64(seed * 1000 + order))
    let count = 2 + Int(random.below(3))
    var world = MergeWorld(
      columns: Array(repeating: names, count: count),
      policy: policy,
      removes: removes
    )
    if removes || random.below(4) != 0 { world.make(.insert(["id": "k", "a": 1]), on: 0) }
    for _ in 0..<3 {
      guard world.settle() else { return nil }
      for _ in 0..<Int(random.below(12)) {
        world.make(edits(&random), on: Int(random.below(UInt64(count))))
      }
      world.syncRandomly(&meeting, steps: Int(meeting.below(20)))
    }
    guard world.settle() else { return nil }
    // What a deleted row was does not matter, nor when the row before this one was deleted.
    return world.server.row.isDeleted ? [] : world.server.row.columns
  }

  private static func check(
    seeds: Range<Int>,
    policy: TableMergePolicy,
    removes: Bool,
    edits: (inout SplitMix64) -> MergeEdit
  ) {
    for seed in seeds {
      let first = outcome(seed: seed, order: 0, policy: policy, removes: removes, edits: edits)
      #expect(first != nil, "seed \(seed)")
      for order in 1..<6 {
        let other =
          outcome(seed: seed, order: order, policy: policy, removes: removes, edits: edits)
        #expect(first == other, "seed \(seed), order \(order)")
      }
    }
  }

  @Test(
    "Edits, deletions and creations have one outcome in every order, if deletions leave a mark",
    arguments: 0..<10,
    DeletePolicy.allCases
  )
  func marks(block: Int, deletes: DeletePolicy) {
    Self.check(
      seeds: (block * 20)..<(block * 20 + 20),
      policy: TableMergePolicy(deletes: deletes),
      removes: false
    ) { Self.edit(&$0, deletes: true) }
  }

  @Test("Edits and deletions have one outcome in every order, if deletions remove the record")
  func removals() {
    Self.check(seeds: 0..<100, policy: TableMergePolicy(), removes: true) { random in
      switch random.below(10) {
      case 0: .delete
      case let number: .set(number < 5 ? "a" : "b", Self.value(&random))
      }
    }
  }

  @Test("The largest value wins in every order")
  func maximum() {
    let policy = TableMergePolicy(defaultPolicy: .maximum)
    for seed in 0..<200 {
      var largest: Set<FieldValue?> = []
      for order in 0..<5 {
        var random = SplitMix64(seed: UInt64(seed))
        var meeting = SplitMix64(seed: UInt64(seed * 1000 + order))
        var world = MergeWorld(columns: Array(repeating: Self.names, count: 4), policy: policy)
        world.make(.insert(["id": "k"]), on: 0)
        world.expectToSettle()
        for device in 0..<4 { world.make(.set("a", Self.value(&random)), on: device) }
        world.syncRandomly(&meeting, steps: 12)
        world.expectToSettle()
        largest.insert(world.server.row["a"]?.value)
      }
      #expect(largest.count == 1, "seed \(seed)")
    }
  }
}
