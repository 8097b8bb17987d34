import CloudSyncChangesets
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

@Suite struct RowDeltaTests {
  private static let key = RowKey([.text("c7")])

  private static func time(_ number: Int64) -> HybridTime { HybridTime(rawValue: number) }

  private static func cell(
    _ column: String,
    _ old: SQLiteValue,
    _ new: SQLiteValue,
    at number: Int64
  ) -> CellDelta {
    CellDelta(column, old: old, new: new, time: time(number))
  }

  @Test func twentyUpdatesAreOneWithTheFirstOldAndTheLastNewValue() throws {
    var sum: RowDelta?
    for step in 0..<20 {
      let next = try #require(
        RowDelta(
          updating: Self.key,
          cells: [
            Self.cell("score", .integer(Int64(step)), .integer(Int64(step + 1)), at: Int64(step))
          ]
        )
      )
      sum = try sum.map { try #require(try $0.followed(by: next)) } ?? next
    }
    let cell = Self.cell("score", .integer(0), .integer(20), at: 19)
    #expect(sum == RowDelta(.update, Self.key, cells: [cell], time: Self.time(19)))
  }

  @Test func anUpdateThatIsTakenBackIsNone() throws {
    let change = RowDelta(
      .update,
      Self.key,
      cells: [Self.cell("name", .text("a"), .null, at: 4)],
      time: Self.time(4)
    )
    #expect(try change.followed(by: change.inverted(at: Self.time(5))) == nil)
  }

  @Test func aRowThatIsDeletedAndInsertedAgainIsUpdatedWhereItDiffers() throws {
    let deletion = RowDelta(
      .delete,
      Self.key,
      cells: [
        Self.cell("a", .integer(1), .null, at: 2), Self.cell("b", .integer(2), .null, at: 2),
        Self.cell("c", .integer(3), .null, at: 2),
      ],
      time: Self.time(2)
    )
    let insertion = RowDelta(
      .insert,
      Self.key,
      cells: [
        Self.cell("a", .null, .integer(1), at: 3), Self.cell("b", .null, .integer(7), at: 3),
      ],
      time: Self.time(3)
    )
    let sum = try deletion.followed(by: insertion)
    let cells = [
      Self.cell("b", .integer(2), .integer(7), at: 3), Self.cell("c", .integer(3), .null, at: 3),
    ]
    #expect(sum == RowDelta(.update, Self.key, cells: cells, time: Self.time(3)))
    #expect(throws: ByteFault.self) { try insertion.followed(by: insertion) }
  }

  @Test func aDeletionAfterAnUpdateHasTheFirstOldValues() throws {
    let update = RowDelta(
      .update,
      Self.key,
      cells: [
        Self.cell("a", .integer(1), .null, at: 2), Self.cell("b", .null, .integer(2), at: 2),
      ],
      time: Self.time(2)
    )
    let deletion = RowDelta(
      .delete,
      Self.key,
      cells: [
        Self.cell("b", .integer(2), .null, at: 3), Self.cell("c", .integer(5), .null, at: 3),
      ],
      time: Self.time(3)
    )
    let cells = [
      Self.cell("a", .integer(1), .null, at: 3), Self.cell("c", .integer(5), .null, at: 3),
    ]
    #expect(
      try update.followed(by: deletion)
        == RowDelta(.delete, Self.key, cells: cells, time: Self.time(3))
    )
  }

  @Test func aKeyIsToldApartByKindAndBytes() {
    #expect(RowKey([.integer(1)]) != RowKey([.real(1)]))
    #expect(RowKey([.text("é")]) != RowKey([.text("e\u{301}")]))
    #expect(RowKey([.text("a"), .text("b")]) != RowKey([.text("ab"), .text("")]))
    let values: [SQLiteValue] = [.text("a\0b"), .malformedText([0xff]), .blob([]), .real(-0.0)]
    #expect(RowKey(values).values == values)
  }
}
