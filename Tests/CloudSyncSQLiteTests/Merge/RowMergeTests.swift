import CloudSyncCore
import CloudSyncSQLite
import Testing

@Suite("RowMerge")
struct RowMergeTests {
  private func column(_ name: String, _ value: FieldValue, _ time: Int64) -> VersionedColumn {
    VersionedColumn(name: name, value: value, time: HybridTime(rawValue: time))
  }

  private func time(_ number: Int64) -> HybridTime { HybridTime(rawValue: number) }

  @Test("A row that was deleted before its creation was acknowledged is deleted, and no other one")
  func deletedBeforeAcknowledged() {
    let local = RowVersion(columns: [], createdAt: time(5), deletedAt: time(9))
    let server = RowVersion(columns: [column("a", .int64(1), 7)], createdAt: time(5))
    // That is all that is known of what this device has sent.
    let sent = RowVersion(columns: [], createdAt: time(5))
    let own = RowMerge.merge(ancestor: sent, local: local, server: server)
    #expect(own.cloud == .delete && own.local == .none)

    // Somebody else's, who has not seen this one.
    let other = RowMerge.merge(ancestor: nil, local: local, server: server)
    #expect(other.cloud != .delete && other.local == .insert)
  }

  @Test("A row made anew takes away what the record says of the row before it")
  func madeAnew() {
    let ancestor = RowVersion(columns: [column("a", 1, 1), column("b", 1, 1)], createdAt: time(1))
    let local = RowVersion(columns: [column("a", 1, 6)], createdAt: time(6), deletedAt: time(5))
    var server = ancestor
    server["b"] = column("b", 2, 9)
    let result = RowMerge.merge(ancestor: ancestor, local: local, server: server)

    #expect(result.merged.columns == [column("a", 1, 6)])
    #expect(result.endedColumns == ["b"])
    #expect(result.changesForCloud == [column("a", 1, 6)])
    #expect(result.local == .update && result.cloud == .edit)
  }

  @Test("Edits of different columns are both kept, and only this device's are sent")
  func columns() {
    let ancestor = RowVersion(columns: [column("a", 1, 1), column("b", 1, 1)])
    let local = RowVersion(columns: [column("a", 2, 3), column("b", 1, 1)])
    let server = RowVersion(columns: [column("a", 1, 1), column("b", 3, 2)])
    let result = RowMerge.merge(ancestor: ancestor, local: local, server: server)

    #expect(result.merged.columns == [column("a", 2, 3), column("b", 3, 2)])
    #expect(result.changesForRow == [column("b", 3, 2)])
    #expect(result.changesForCloud == [column("a", 2, 3)])
    #expect(result.local == .update && result.cloud == .edit)
  }

  @Test("Equal values take the later time, which is sent only if the cloud's is earlier")
  func equalValues() {
    let earlier = RowVersion(columns: [column("a", 2, 3)])
    let later = RowVersion(columns: [column("a", 2, 5)])
    let ancestor = RowVersion(columns: [column("a", 1, 1)])
    let sent = RowMerge.merge(ancestor: ancestor, local: later, server: earlier)
    let silent = RowMerge.merge(ancestor: ancestor, local: earlier, server: later)

    #expect(sent.merged == later && sent.changesForCloud == later.columns)
    #expect(silent.merged == later && silent.isClean)
    #expect(sent.changesForRow.isEmpty && silent.changesForRow.isEmpty)
  }

  @Test("An edit of a later version wins by its own time, also if it was made before the fetch")
  func newestByTime() {
    let ancestor = RowVersion(columns: [column("a", "old", 1)])
    let local = RowVersion(columns: [column("a", "Get milk", 30)])
    let server = RowVersion(columns: [column("a", "Buy milk", 60)])
    let result = RowMerge.merge(ancestor: ancestor, local: local, server: server)

    #expect(result.merged == server)
    #expect(result.isClean && result.changesForRow == server.columns)
  }

  @Test("An edit is later than what it was made from, whatever the clock says")
  func clockBehind() {
    let ancestor = RowVersion(columns: [column("a", 1, 50)])
    let local = RowVersion(columns: [column("a", 2, 20)])
    let result = RowMerge.merge(ancestor: ancestor, local: local, server: ancestor)

    #expect(result.merged.columns == [column("a", 2, 51)])
    #expect(result.changesForCloud == result.merged.columns)
  }

  @Test("NULL is a value, an unknown column is none")
  func unknown() {
    let server = RowVersion(columns: [column("a", .null, 4), column("new", 7, 2)])
    let local = RowVersion(columns: [column("a", 1, 1), column("mine", .null, 3)])
    let result = RowMerge.merge(ancestor: nil, local: local, server: server)

    #expect(
      result.merged.columns == [
        column("a", .null, 4), column("mine", .null, 3), column("new", 7, 2),
      ]
    )
    #expect(result.changesForRow == [column("a", .null, 4), column("new", 7, 2)])
    #expect(result.changesForCloud == [column("mine", .null, 3)])
  }

  @Test("A row that is new here or there is created on the other side")
  func creation() {
    let row = RowVersion(columns: [column("a", 1, 1)], createdAt: time(1))
    let there = RowMerge.merge(ancestor: nil, local: row, server: .missing)
    let here = RowMerge.merge(ancestor: nil, local: .missing, server: row)
    let nowhere = RowMerge.merge(ancestor: nil, local: .missing, server: .missing)

    #expect(there.cloud == .create && there.local == .update)
    #expect(there.changesForCloud == row.columns && there.merged == row)
    #expect(here.local == .insert && here.isClean && here.merged == row)
    #expect(nowhere.local == .none && nowhere.isClean)
  }

  @Test(
    "A deletion against nothing new is taken by the other side",
    arguments: DeletePolicy.allCases
  )
  func deletion(policy: DeletePolicy) {
    let row = RowVersion(columns: [column("a", 1, 1)], createdAt: time(1))
    let deleted = RowVersion(columns: [], deletedAt: time(2))
    let table = TableMergePolicy(deletes: policy)
    let there = RowMerge.merge(ancestor: row, local: deleted, server: row, policy: table)
    let here = RowMerge.merge(ancestor: row, local: row, server: .missing, policy: table)
    let both = RowMerge.merge(ancestor: row, local: deleted, server: .missing, policy: table)

    #expect(there.cloud == .delete && there.local == .none && there.merged.isDeleted)
    #expect(here.local == .delete && here.isClean)
    #expect(both.local == .none && both.isClean)
  }

  @Test("A deletion against an edit goes by the policy, on whichever side it was made")
  func deletionAgainstEdit() {
    let row = RowVersion(columns: [column("a", 1, 1)], createdAt: time(1))
    let edited = RowVersion(columns: [column("a", 2, 9)], createdAt: time(1))
    let deleted = RowVersion(columns: [], deletedAt: time(5))
    let edits = TableMergePolicy(deletes: .editWins)

    let there = RowMerge.merge(ancestor: row, local: deleted, server: edited)
    let here = RowMerge.merge(ancestor: row, local: edited, server: .missing)
    #expect(there.cloud == .delete && here.local == .delete && here.isClean)

    let back = RowMerge.merge(ancestor: row, local: deleted, server: edited, policy: edits)
    let again = RowMerge.merge(ancestor: row, local: edited, server: .missing, policy: edits)
    #expect(back.local == .insert && back.isClean && back.merged == edited)
    #expect(again.cloud == .create && again.merged == edited)
  }

  @Test("A row that was deleted and made again replaces the old one, with no edit of that")
  func recreation() {
    let row = RowVersion(columns: [column("a", 1, 1)], createdAt: time(1))
    let edited = RowVersion(columns: [column("a", 2, 9)], createdAt: time(1))
    let remade = RowVersion(columns: [column("a", 3, 6)], createdAt: time(6), deletedAt: time(5))

    let here = RowMerge.merge(ancestor: row, local: edited, server: remade)
    let there = RowMerge.merge(ancestor: row, local: remade, server: edited)
    let gone = RowMerge.merge(ancestor: row, local: remade, server: .missing)
    #expect(here.local == .replace && here.isClean && here.merged == remade)
    #expect(there.cloud == .edit && there.changesForCloud == remade.columns)
    #expect(there.merged == remade)
    #expect(gone.cloud == .create && gone.merged == remade)
  }

  @Test("A row that this device never had is never deleted in the cloud")
  func neverHad() {
    let row = RowVersion(columns: [column("a", 1, 1)], createdAt: time(1))
    for policy in DeletePolicy.allCases {
      for ancestor in [nil, row] {
        let result = RowMerge.merge(
          ancestor: ancestor,
          local: .missing,
          server: RowVersion(columns: [column("a", 2, 2)], createdAt: time(1)),
          policy: TableMergePolicy(deletes: policy)
        )
        #expect(result.local == .insert && result.isClean)
      }
    }
  }

  @Test("Merging what was merged changes nothing", arguments: 0..<20)
  func fixedPoint(block: Int) {
    for seed in (block * 100)..<(block * 100 + 100) {
      var random = SplitMix64(seed: UInt64(seed))
      let (one, two, three) = (version(&random), version(&random), version(&random))
      let ancestor = random.below(3) == 0 ? nil : one
      let policy = TableMergePolicy(
        columns: ["a": .counter, "b": .maximum],
        deletes: random.below(2) == 0 ? .deleteWins : .editWins
      )
      let first = RowMerge.merge(ancestor: ancestor, local: two, server: three, policy: policy)
      if first.merged.isDeleted { continue }
      let waiting = RowMerge.merge(
        ancestor: three,
        local: first.merged,
        server: three,
        policy: policy
      )
      let done = RowMerge.merge(
        ancestor: first.merged,
        local: first.merged,
        server: first.merged,
        policy: policy
      )

      #expect(waiting.merged.columns == first.merged.columns, "seed \(seed)")
      #expect(waiting.changesForRow.isEmpty, "seed \(seed)")
      #expect(done.isClean && done.merged == first.merged, "seed \(seed)")
      #expect(done.changesForRow.isEmpty, "seed \(seed)")
    }
  }

  private func version(_ random: inout SplitMix64) -> RowVersion {
    let values: [FieldValue] = [.null, 1, 2, "x"]
    var columns: [VersionedColumn] = []
    for name in ["a", "b", "c"] where random.below(4) != 0 {
      let value = values[Int(random.below(4))]
      columns.append(column(name, value, Int64(5 + random.below(5))))
    }
    return RowVersion(
      columns: columns,
      createdAt: random.below(4) == 0 ? nil : time(Int64(1 + random.below(4))),
      deletedAt: random.below(2) == 0 ? nil : time(Int64(1 + random.below(5)))
    )
  }
}
