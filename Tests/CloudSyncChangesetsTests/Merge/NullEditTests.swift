import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Testing

@testable import CloudSyncChangesets

/// An edit to NULL counts like every other edit, also in a row that both sides have inserted.
@Suite struct NullEditTests {
  private static let key = RowKey([.text("c7")])
  private static let columns = ["a", "b", "c"]

  /// What one replica has made of the row, with a commit for each edit.
  private struct Side {
    var commit: ChangesetID
    /// By column, with the time of the last edit; NULLs too.
    var cells: [String: (value: SQLiteValue, time: Int)]
  }

  private static func value(_ random: inout SplitMix64) -> SQLiteValue {
    random.below(3) == 0 ? .null : .integer(Int64(random.below(1_000_000)))
  }

  private static func side(
    _ memory: MemoryHistory,
    _ random: inout SplitMix64,
    isOdd: Bool
  ) throws -> Side {
    // No two edits are of one time.
    var time = 1 + 2 * Int(random.below(6)) + (isOdd ? 1 : 0)
    var cells = Dictionary(
      uniqueKeysWithValues: columns.map { ($0, (value: value(&random), time: time)) }
    )
    func hybrid() -> HybridTime { HybridTime(rawValue: Int64(time)) }
    let inserted = columns.compactMap { column -> CellDelta? in
      guard let value = cells[column]?.value, value != .null else { return nil }
      return CellDelta(column, old: .null, new: value, time: hybrid())
    }
    let row = RowDelta(.insert, key, cells: inserted, time: hybrid())
    var commit = try memory.edit(nil, time: time, [TableDelta("t", rows: [row])])
    for _ in 0..<random.below(4) {
      time += 2 * (1 + Int(random.below(4)))
      let column = columns[Int(random.below(3))]
      let (old, new) = (cells[column]?.value ?? .null, value(&random))
      if old == new { continue }
      cells[column] = (new, time)
      let cell = CellDelta(column, old: old, new: new, time: hybrid())
      guard let change = RowDelta(updating: key, cells: [cell]) else { continue }
      commit = try memory.edit(commit, time: time, [TableDelta("t", rows: [change])])
    }
    return Side(commit: commit, cells: cells)
  }

  private static func merge(
    _ one: ChangesetID,
    _ other: ChangesetID,
    in memory: MemoryHistory
  ) throws -> ChangesetID {
    let plan = try MergeWork(memory).plan(one, other)
    let id = try memory.merge(plan)
    // What it says can be sent and read.
    let commit = try #require(memory.commits[id])
    #expect(try CommitReader.commit(commit.canonicalBytes) == commit)
    return id
  }

  private static func row(
    at id: ChangesetID,
    in memory: MemoryHistory
  ) throws -> [String: SQLiteValue] {
    let cells = try #require(try memory.row(key, of: "t", at: id))
    return Dictionary(uniqueKeysWithValues: cells.map { ($0.column, $0.value) })
  }

  @Test(arguments: 0..<UInt64(SuiteSize.count(80, long: 20_000)))
  func theLatestEditOfEachColumnCounts(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let memory = MemoryHistory()
    let one = try Self.side(memory, &random, isOdd: false)
    let other = try Self.side(memory, &random, isOdd: true)
    let merged = try Self.row(
      at: try Self.merge(one.commit, other.commit, in: memory),
      in: memory
    )
    for column in Self.columns {
      let mine = try #require(one.cells[column])
      let theirs = try #require(other.cells[column])
      let wanted = mine.time > theirs.time ? mine.value : theirs.value
      #expect(merged[column] ?? .null == wanted, "seed \(seed), column \(column)")
    }
  }

  /// A merge that brings the row to a side which lacks it tells how old its NULLs are.
  @Test(arguments: 0..<UInt64(SuiteSize.count(80, long: 20_000)))
  func aMergeKeepsTheTimeOfAnEditToNull(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let memory = MemoryHistory()
    let one = try Self.side(memory, &random, isOdd: false)
    let others = (0..<20)
      .map { number in
        RowDelta(
          .insert,
          RowKey([.text("other \(10 + number)")]),
          cells: [CellDelta("a", old: .null, new: .integer(1), time: .zero)],
          time: .zero
        )
      }
    let rows = StateDelta(tables: [TableDelta("t", rows: others)])
      .written(at: HybridTime(rawValue: 1))
    let large = try memory.edit(nil, time: 1, rows.tables)
    let carrier = try Self.merge(one.commit, large, in: memory)
    #expect(try memory.header(of: carrier).parents.first == large)
    let other = try Self.side(memory, &random, isOdd: true)
    let merged = try Self.row(at: try Self.merge(carrier, other.commit, in: memory), in: memory)
    for column in Self.columns {
      let mine = try #require(one.cells[column])
      let theirs = try #require(other.cells[column])
      let wanted = mine.time > theirs.time ? mine.value : theirs.value
      #expect(merged[column] ?? .null == wanted, "seed \(seed), column \(column)")
    }
  }

  @Test func aNullThatIsAsOldAsItsRowIsNoCell() throws {
    let time = HybridTime(rawValue: 5)
    func bytes(_ kind: CommitHeader.Kind, nullAt other: Int64) -> [UInt8] {
      let cell = CellDelta("a", old: .null, new: .null, time: HybridTime(rawValue: other))
      let row = RowDelta(.insert, Self.key, cells: [cell], time: time)
      let parents = [1, 2].map { ChangesetID(Digest(of: [[$0]])) }
      let header = CommitHeader(
        kind: kind,
        schema: MemoryHistory.schema,
        parents: kind == .merge ? parents : [],
        generation: kind == .merge ? 2 : 1,
        time: time,
        replica: kind == .edit ? "desk" : "",
        branch: "main",
        stateHash: .zero
      )
      let changes = StateDelta(tables: [TableDelta("t", rows: [row])])
      return Commit(header: header, changes: changes).canonicalBytes
    }
    _ = try CommitReader.commit(bytes(.merge, nullAt: 4))
    #expect(throws: ByteFault.self) { try CommitReader.commit(bytes(.merge, nullAt: 5)) }
    #expect(throws: ByteFault.self) { try CommitReader.commit(bytes(.edit, nullAt: 5)) }
  }
}
