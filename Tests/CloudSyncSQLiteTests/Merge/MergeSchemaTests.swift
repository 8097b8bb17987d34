import CloudSyncCore
import CloudSyncSQLite
import Testing

@Suite("Merges over versions of a schema")
struct MergeSchemaTests {
  private let old = ["a", "id"]
  private let new = ["a", "b", "id"]

  @Test("A device that does not know a column never clears it", arguments: DeletePolicy.allCases)
  func unknownColumn(deletes: DeletePolicy) {
    for seed in 0..<150 {
      var random = SplitMix64(seed: UInt64(seed))
      var world = MergeWorld(
        columns: [old, new, old, new],
        policy: TableMergePolicy(deletes: deletes),
        removes: deletes == .deleteWins
      )
      world.make(.insert(["id": "k", "a": 0]), on: 0)
      world.expectToSettle()
      #expect(world.server.row["b"] == nil)
      var last: FieldValue?
      for number in 0..<Int64(random.below(30)) {
        let device = Int(random.below(4))
        let value: FieldValue = random.below(4) == 0 ? .null : .int64(number)
        let name = random.below(2) == 0 ? "a" : "b"
        world.make(.set(name, value), on: device)
        if name == "b", device % 2 == 1 { last = value }
        world.syncRandomly(&random, steps: Int(random.below(4)))
      }

      world.expectToSettle("seed \(seed)")
      #expect(world.server.row["b"]?.value == last, "seed \(seed)")
      #expect(world.devices[1].row["b"]?.value == last, "seed \(seed)")
      #expect(world.devices[0].row["b"] == nil)
    }
  }

  @Test("NULL travels, a default that nobody has set does not")
  func nullAndDefault() {
    var world = MergeWorld(columns: [old, new, new])
    world.make(.insert(["id": "k", "a": 0]), on: 0)
    world.expectToSettle()
    // Devices 1 and 2 show the default of b, which has no time and is in no version.
    #expect(world.devices[1].row["b"] == nil)

    world.make(.set("b", .null), on: 1)
    world.make(.set("a", 5), on: 0)
    world.expectToSettle()

    #expect(world.devices[2].row["b"]?.value == .null)
    #expect(world.devices[2].row["a"]?.value == 5)
    #expect(world.server.record?["b"] == nil)
    #expect(world.server.record?["cloudsync_time_b"] != nil)
  }
}
