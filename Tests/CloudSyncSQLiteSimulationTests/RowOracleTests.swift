import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncSQLiteSimulation

@Suite("What the simulation expects of rows in the end")
struct RowOracleTests {
  private static func time(_ number: Int64) -> HybridTime { HybridTime(rawValue: number << 16) }

  private static func row(_ table: String) -> RowID { RowID(table: table, key: [.text("k")]) }

  private static func values(born: Int64, a: SQLiteValue, b: String = "b") -> [RowEdit.Value] {
    [("id", .text("k")), ("born", .integer(born)), ("a", a), ("b", .text(b))]
  }

  private static func error(
    _ schema: SimulatedSchema,
    _ table: String,
    edits: [(device: Int, edit: RowEdit)],
    row values: [RowEdit.Value]?,
    removed: Set<String> = []
  ) throws -> String? {
    let tables = schema.tables(version: SimulatedSchema.Version())
    let found = try #require(tables.first { $0.name == table })
    var oracle = RowOracle(schema: schema, histories: RowHistories([]))
    oracle.removed = removed
    return oracle.error(
      of: RowHistory(id: row(table), edits: edits),
      row: values.map { EndRow(id: row(table), values: $0) },
      table: found
    )
  }

  @Test(
    "An edit of a column that is dropped before it is read makes nobody's row live",
    arguments: [true, false]
  )
  func droppedColumn(isDropped: Bool) throws {
    var schema = SimulatedSchema(action: .none)
    (schema.focus, schema.itemDeletes) = (.items, .editWins)
    let id = Self.row("items")
    let born = Self.values(born: 1, a: .null)
    var edit = RowEdit(
      row: id,
      time: Self.time(3),
      change: .set(column: "b", value: .text("new")),
      life: 1,
      former: born
    )
    if isDropped { edit.unsureColumn = "b" }
    let deletion = RowEdit(
      row: id,
      time: Self.time(2),
      change: .deleted,
      life: 1,
      former: born + [("c", .real(0.5))]
    )
    let edits = [
      (device: 0, edit: RowEdit(row: id, time: Self.time(1), change: .inserted(born))),
      (device: 0, edit: deletion), (device: 1, edit: edit),
    ]

    #expect(try (Self.error(schema, "items", edits: edits, row: nil) == nil) == isDropped)
    let kept = Self.values(born: 1, a: .null, b: "new")
    #expect(try Self.error(schema, "items", edits: edits, row: kept) == nil)
  }

  @Test(
    "A row that may have come back for another one's sake has what was edited after its return",
    arguments: [OrphanPolicy.restoreParent, .deleteChildren]
  )
  func returnedRow(orphans: OrphanPolicy) throws {
    var schema = SimulatedSchema(action: .noAction)
    schema.orphans = orphans
    let id = Self.row("notes")
    let former = Self.values(born: 1, a: .null)
    let edits = [
      (0, RowEdit(row: id, time: Self.time(1), change: .inserted(former))),
      (0, RowEdit(row: id, time: Self.time(2), change: .deleted, life: 1, former: former)),
      (0, RowEdit(row: id, time: Self.time(3), change: .inserted(Self.values(born: 2, a: .null)))),
      (
        1,
        RowEdit(
          row: id,
          time: Self.time(4),
          change: .set(column: "a", value: .integer(29)),
          life: 1,
          former: former
        )
      ),
    ]
    let end = Self.values(born: 2, a: .integer(29))

    let mayReturn = orphans == .restoreParent
    #expect(try (Self.error(schema, "notes", edits: edits, row: end) == nil) == mayReturn)
  }

  @Test(
    "A row that was made anew may stay where the record of one that was deleted later is gone, and no other row",
    arguments: [(["k:notes"], true, true), ([], true, false), (["k:notes"], false, false)]
  )
  func removedRecord(removed: [String], isMadeAnew: Bool, mayStay: Bool) throws {
    let schema = SimulatedSchema(action: .none)
    let id = Self.row("notes")
    let former = Self.values(born: 1, a: .null)
    let anew = Self.values(born: 2, a: .null)
    var edits = [(device: 0, edit: RowEdit(row: id, time: Self.time(1), change: .inserted(former)))]
    if isMadeAnew {
      edits.append((1, RowEdit(row: id, time: Self.time(2), change: .inserted(anew))))
    }
    edits.append(
      (0, RowEdit(row: id, time: Self.time(3), change: .deleted, life: 1, former: former))
    )

    let error = try Self.error(
      schema,
      "notes",
      edits: edits,
      row: isMadeAnew ? anew : former,
      removed: Set(removed)
    )
    #expect((error == nil) == mayStay)
  }
}
