import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncChangesets

/// Rows of cells from both sides that break a rule of their table's.
@Suite
struct CheckScenarioTests {
  private static let spans = """
    CREATE TABLE spans(id TEXT PRIMARY KEY NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
      name TEXT, CHECK(first < last))
    """

  private func merge(
    _ bench: MergeBench,
    _ one: String,
    _ other: String
  ) throws -> ChangesetID {
    let base = try bench.commit("INSERT INTO spans VALUES('s', 10, 20, 'S')", at: 1)
    let a = try bench.commit("UPDATE spans SET \(one)", on: base, at: 10)
    let b = try bench.commit("UPDATE spans SET \(other)", on: base, at: 20)
    return try bench.merge(a, b)
  }

  // MARK: 43

  @Test
  func aRowThatBreaksACheckIsAsTheNewerSideHasIt() throws {
    let bench = try MergeBench(Self.spans)
    let m = try merge(bench, "first = 15, name = 'A'", "last = 12")
    #expect(try bench.rows("SELECT * FROM spans", at: m) == ["'s' 10 12 'S'"])
    #expect(bench.decisions == ["check spans 's': first=10 name='S' | first=15 name='A'"])
  }

  @Test
  func fromTheOtherSideItIsTheSame() throws {
    let bench = try MergeBench(Self.spans)
    let m = try merge(bench, "last = 12, name = 'A'", "first = 15")
    #expect(try bench.rows("SELECT * FROM spans", at: m) == ["'s' 15 20 'S'"])
  }

  @Test
  func aRowThatHoldsIsLeftAlone() throws {
    let bench = try MergeBench(Self.spans)
    let m = try merge(bench, "first = 11", "last = 12")
    #expect(try bench.rows("SELECT * FROM spans", at: m) == ["'s' 11 12 'S'"])
    #expect(bench.conflicts == [])
  }

  @Test
  func aValueOfTheAppsThatTheTableRefusesGivesWayToASides() throws {
    let bench = try MergeBench(
      "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, v INTEGER NOT NULL) STRICT"
    )
    bench.rules.tables["t"] = .init(
      merging: TableMergePolicy(
        columns: ["v": .custom { _ in .string("no number") }],
        deletes: .editWins
      )
    )
    let base = try bench.commit("INSERT INTO t VALUES('t', 1)", at: 1)
    let a = try bench.commit("UPDATE t SET v = 2", on: base, at: 10)
    let b = try bench.commit("UPDATE t SET v = 3", on: base, at: 20)
    let m = try bench.merge(a, b)
    #expect(try bench.rows("SELECT v FROM t", at: m) == ["3"])
  }

  @Test
  func aValueOfTheAppsIsAsItsColumnStoresIt() throws {
    let bench = try MergeBench("CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, v INTEGER)")
    bench.rules.tables["t"] = .init(
      merging: TableMergePolicy(columns: ["v": .custom { _ in .string("7") }], deletes: .editWins)
    )
    let base = try bench.commit("INSERT INTO t VALUES('t', 1)", at: 1)
    let a = try bench.commit("UPDATE t SET v = 2", on: base, at: 10)
    let b = try bench.commit("UPDATE t SET v = 3", on: base, at: 20)
    let m = try bench.merge(a, b)
    #expect(try bench.rows("SELECT v, typeof(v) FROM t", at: m) == ["7 'integer'"])
  }

  @Test
  func anAnswerThatMakesARowBreakACheckOnEverySideIsNotTaken() throws {
    let bench = try MergeBench(Self.spans)
    bench.handler = { _ throws(ChangesetError) in .values([CellValue("first", .integer(99))]) }
    let m = try merge(bench, "first = 11", "first = 12")
    #expect(try bench.rows("SELECT first FROM spans", at: m) == ["12"])
  }
}
