import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Testing

@testable import CloudSyncChangesets

/// The canonical bytes of commits, and the hash of states.
@Suite struct CommitCodingTests {
  private static func conflict(
    _ kept: SQLiteValue,
    _ lost: SQLiteValue,
    at time: HybridTime
  ) -> MergeConflict {
    MergeConflict(
      .cell,
      table: "s",
      key: RowKey([.integer(1)]),
      kept: [.init("a", kept, time: time)],
      lost: [.init("a", lost, time: time)]
    )
  }

  private static func identifiers(from start: Int, count: Int) -> [ChangesetID] {
    (start..<start + count)
      .compactMap { ChangesetID(bytes: [UInt8](repeating: UInt8($0), count: 32)) }
  }

  /// A commit of any kind, with everything that one can have.
  private static func commit(seed: UInt64, isSmall: Bool = false) -> Commit {
    var random = SplitMix64(seed: seed)
    func number(below limit: UInt64) -> Int64 { Int64(random.next() % limit) }
    func value() -> SQLiteValue {
      switch number(below: 6) {
      case 0: .integer(Int64(bitPattern: random.next()))
      case 1: .real(Double(number(below: 1_000)) / 7)
      case 2: .text("text \(number(below: 1_000))")
      case 3: .malformedText([0xff, UInt8(number(below: 200))])
      case 4: .blob([])
      default: .integer(number(below: 3))
      }
    }
    let kind: CommitHeader.Kind = seed % 2 == 0 ? .edit : .merge
    let time = HybridTime(rawValue: number(below: 1 << 50))
    // Some edits stand for others, whose times they keep.
    let originals = identifiers(from: 7, count: seed % 4 == 2 ? Int(seed % 3) + 1 : 0)
    func written() -> HybridTime {
      kind == .edit && originals.isEmpty ? time : HybridTime(rawValue: number(below: 1 << 50))
    }
    func cells(_ kind: RowDelta.Kind) -> [CellDelta] {
      ["a", "b", "c"].prefix(Int(number(below: 3)) + 1)
        .map { column in
          CellDelta(
            column,
            old: kind == .insert ? .null : .text("old"),
            new: kind == .delete ? .null : kind == .insert ? .text("new") : value(),
            time: written()
          )
        }
    }
    let tables = ["s", "t"].suffix(isSmall ? 1 : 2)
      .map { name in
        let keys = Set(
          (0..<(isSmall ? 1 : 4)).map { _ in RowKey([.integer(number(below: 100)), .text("k")]) }
        )
        let rows = keys.sorted()
          .map { key -> RowDelta in
            switch number(below: 3) {
            case 0: RowDelta(.insert, key, cells: cells(.insert), time: written())
            case 1: RowDelta(.delete, key, cells: cells(.delete), time: written())
            default:
              RowDelta(updating: key, cells: cells(.update))
                ?? RowDelta(.insert, key, cells: [], time: time)
            }
          }
        return TableDelta(name, rows: rows)
      }
    let parents = identifiers(from: 1, count: kind == .merge ? 2 : 1)
    return Commit(
      header: CommitHeader(
        kind: kind,
        schema: SchemaDescription(tables: []).id,
        parents: parents,
        generation: number(below: 1_000) + 2,
        time: time,
        replica: kind == .edit ? "desk" : "",
        branch: "main",
        reverts: seed % 4 == 0 ? parents.first : nil,
        originals: originals,
        meta: "{}",
        stateHash: StateHash(high: random.next(), low: random.next())
      ),
      changes: StateDelta(tables: tables),
      conflicts: kind == .merge ? [Self.conflict(value(), value(), at: time)] : []
    )
  }

  @Test func whatIsWrittenIsReadBack() throws {
    for seed in 0..<200 {
      let commit = Self.commit(seed: UInt64(seed))
      #expect(try CommitReader.commit(commit.canonicalBytes) == commit)
    }
  }

  @Test func everyFlippedBitOfACommitIsRefused() throws {
    for seed in 0..<SuiteSize.count(2, long: 200) {
      let commit = Self.commit(seed: UInt64(seed), isSmall: true)
      let (bytes, id) = (commit.canonicalBytes, commit.id)
      for bit in 0..<bytes.count * 8 {
        var damaged = bytes
        damaged[bit / 8] ^= 1 << UInt8(bit % 8)
        // Either it is no commit any more, or it is another one.
        guard let other = try? CommitReader.commit(damaged) else { continue }
        #expect(other.id != id)
        #expect(other != commit)
      }
    }
  }

  @Test func everyCommitThatIsCutShortIsRefused() throws {
    let bytes = Self.commit(seed: 3).canonicalBytes
    for count in 0..<bytes.count {
      #expect(throws: ByteFault.self) { try CommitReader.commit(bytes[..<count]) }
    }
    #expect(throws: ByteFault.self) { try CommitReader.commit(bytes + [0]) }
  }

  @Test func aCommitOfTheYear2300IsRefused() throws {
    var commit = Self.commit(seed: 2)
    commit.header.time = HybridTime.next(after: .zero, now: 10_413_792_000_000)
    #expect(throws: ByteFault.self) { try CommitReader.commit(commit.canonicalBytes) }
  }

  @Test func changesAndTheirInverseLeaveTheHashOfTheState() {
    for seed in 0..<50 {
      let commit = Self.commit(seed: UInt64(seed))
      let start = StateHash(high: 7, low: 8)
      let end = start.adding(commit.changes)
      #expect(end != start)
      #expect(end.adding(commit.changes.inverted(at: .zero)) == start)
    }
  }

  /// The hash is a part of the format: these vectors never change.
  @Test(arguments: [
    (SQLiteValue.null, "4d1aba35f8dcee40a1d1e489d2daed9c"),
    (.integer(0), "4e6539467fd769cd9cc0d578e1965945"),
    (.integer(-1), "53f7db31c90f8331b7d73c09823d13c0"),
    (.real(0), "790550e9b4d9681e2d77ca6d74206181"),
    (.real(-0.0), "7dd3eef220bf88f4ea8e31632114df36"),
    (.text(""), "73c7a8eabc3ad1bd062b80fd1b29b4c3"),
    (.text("Ada Lovelace"), "ccd7916665e6b7344444171a5034c024"),
    (.blob([]), "a75e3eaf5eca115f4b2763b24564eef6"),
    (.blob([1, 2, 3, 4, 5, 6, 7, 8, 9]), "c7ecbdd65ee21b16cc7ee02f14771eb7"),
    (.malformedText([0xff]), "cd56f0c95f946e59e37b89c1e144360a"),
  ])
  func theHashOfACellIsAsItWas(value: SQLiteValue, vector: String) {
    let hash = TableHash("people")
    let row = hash.row(RowKey([.text("a")])).state
    #expect(hash.cell(TableHash.column("name"), value, row: row).text == vector)
  }
}
