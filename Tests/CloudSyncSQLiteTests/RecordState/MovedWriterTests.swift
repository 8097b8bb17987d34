import CloudSyncCore
import Testing

@testable import CloudSyncSQLite

@Suite("A database's number in the counters of rows that were given their keys")
struct MovedWriterTests {
  private let rules = RowRules(
    writer: 1,
    policy: TableMergePolicy(columns: ["n": .counter])
  )

  private func time(_ milliseconds: Int64) -> HybridTime { .next(after: .zero, now: milliseconds) }

  /// What the cloud has of a row that has got its key, with what this database has added.
  private func version(_ share: CounterShare?) -> RecordVersion {
    var clock = RecordClock()
    clock.created = time(20)
    clock.row = RowOrigin(name: "a:t", created: .zero)
    let key = VersionedColumn(name: "id", value: .string("b"), time: time(20))
    var version = RecordVersion(clock: clock, columns: [key])
    if let share { version.set(share) }
    return version
  }

  @Test(
    "What was added under a former key, and others have taken along, was added by no other file",
    arguments: [10, 30, 50]
  )
  func takenAlong(milliseconds: Int64) {
    var state = RecordState()
    _ = state.reduce(.has(tag: "1", version(nil)), rules: rules)
    let edit = ColumnEdit(name: "n", value: .int64(24), former: .int64(0))
    _ = state.reduce(.edited(.updated([edit], at: time(40))), rules: rules)
    let other = CounterShare(column: "n", writer: 1, time: time(milliseconds), sum: .whole(7))
    let actions = state.reduce(.has(tag: "2", version(other)), rules: rules)
    #expect(actions.contains(.renumber) == (milliseconds > 40))
  }
}
