import CloudSyncCore
import Testing

@testable import CloudSyncSQLite

@Suite("Equality of what is compared on every look at a row")
struct ClockEqualityTests {
  /// Letters that Swift takes for the same, and that are other bytes.
  private static let names = ["caf\u{E9}", "cafe\u{301}", "b"]
  private static let times = [HybridTime.zero, HybridTime(rawValue: 7)]

  private func expectBytes<Value: CodedValue>(_ values: [Value]) {
    for (index, value) in values.enumerated() {
      for (otherIndex, other) in values.enumerated() {
        #expect((value == other) == (value.codedBytes == other.codedBytes))
        #expect((value == other) == (index == otherIndex), "\(value) and \(other)")
        if value == other { #expect(value.hashValue == other.hashValue) }
      }
    }
    #expect(Set(values).count == values.count)
  }

  @Test("Parts of a clock are equal if their bytes are")
  func parts() {
    var columns: [ColumnTime] = []
    var seen: [SeenTime] = []
    var ancestors: [Ancestor] = []
    var shares: [CounterShare] = []
    for name in Self.names {
      for time in Self.times {
        columns.append(ColumnTime(name: name, time: time))
        columns.append(ColumnTime(name: name, time: time, life: RowLife(created: time)))
        let life = RowLife(created: time, row: RowOrigin(name: "1", created: .zero))
        columns.append(ColumnTime(name: name, time: time, life: life))
        for writer in [nil, 0, 1] as [Int64?] {
          seen.append(SeenTime(column: name, writer: writer, time: time))
          ancestors.append(Ancestor(column: name, writer: writer, time: time))
        }
        for sum in [.whole(0), .real(0), .real(-0.0)] as [CounterSum] {
          for writer in [0, 1] as [Int64] {
            shares.append(CounterShare(column: name, writer: writer, time: time, sum: sum))
          }
        }
      }
    }
    expectBytes(columns)
    expectBytes(seen)
    expectBytes(ancestors)
    expectBytes(shares)
    expectBytes([PurgeMark(writer: 0, since: 1), .init(writer: 1, since: 0)])
  }

  /// Moves that differ in one part each.
  private func moves(at time: HybridTime) -> [RowMove] {
    let changes: [(inout RowMove) -> Void] = [
      { _ in }, { $0.since = time }, { $0.first = time }, { $0.life = time }, { $0.time = time },
      { $0.arrival = time },
      { $0.ended = time }, { $0.row = RowOrigin(name: "2", created: .zero) },
      { $0.isOfInserted = false },
      { $0.name = "other" }, { $0.isUnion = true }, { $0.isFollowing = true },
    ]
    return changes.map { change in
      var move = RowMove(
        row: RowOrigin(name: "1", created: .zero),
        isOfInserted: true,
        since: .zero,
        first: .zero,
        life: .zero,
        time: .zero,
        arrival: .zero,
        name: ""
      )
      change(&move)
      return move
    }
  }

  @Test("Clocks and records that differ in one part are not equal")
  func wholes() {
    let time = HybridTime(rawValue: 7)
    let changes: [(inout RecordClock) -> Void] =
      [
        { _ in },
        { $0.created = time },
        { $0.first = time },
        { $0.deleted = time },
        { $0.ended = time },
        { $0.row = RowOrigin(name: "1", created: .zero) },
        {
          $0.endings = [
            RowEnding(row: RowOrigin(name: "1", created: .zero), life: time, time: time)
          ]
        },
        { $0.columns = [ColumnTime(name: "c", time: time)] },
        { $0.shares = [CounterShare(column: "c", writer: 1, time: time, sum: .whole(1))] },
        { $0.seen = [SeenTime(column: "c", writer: nil, time: time)] },
        { $0.purge = PurgeMark(writer: 1, since: 1) },
      ] + moves(at: time).map { move in { $0.moves = [move] } }
    let clocks = changes.map { change in
      var clock = RecordClock()
      change(&clock)
      return clock
    }
    expectBytes(clocks)
    var records = clocks.map { CloudRecord(tag: "1", clock: $0) }
    records += Self.names.map { CloudRecord(tag: $0, clock: RecordClock()) }
    for name in Self.names {
      var record = CloudRecord(tag: "1", clock: RecordClock())
      record.values = [VersionedColumn(name: name, value: .int64(1), time: time)]
      records.append(record)
      record.values = []
      record.differing = [name]
      records.append(record)
      record.differing = []
      record.aside = [name]
      records.append(record)
    }
    expectBytes(records)
  }
}
