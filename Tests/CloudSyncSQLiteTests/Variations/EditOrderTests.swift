import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("Edits, deletions and new rows of three devices, synchronized in every order")
struct EditOrderTests {
  private static let schema =
    "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, body TEXT)"
  private static let start: Int64 = 1_700_000_000_000
  private static let orders = [
    [0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0],
  ]

  /// What three devices do with a row that all have, a minute after each other in the order of an array, synchronized
  /// in the order of another.
  private func end(
    _ edits: [String],
    made: [Int],
    synchronized: [Int],
    deletes: DeletePolicy
  ) throws -> [String] {
    var options = SyncEngineOptions()
    options.defaultTable.merging.deletes = deletes
    let bench = SyncHarness()
    let devices = try ["mac", "phone", "pad"]
      .map { try bench.device($0, Self.schema, tables: ["notes"], options: options) }
    try devices[0].execute("INSERT INTO notes VALUES('a', 'A', 'B')", at: Self.start)
    for device in devices { try bench.sync(device) }
    for (place, number) in made.enumerated() {
      try devices[number].execute(edits[number], at: Self.start + Int64(place + 1) * 60_000)
    }
    for number in synchronized { try bench.sync(devices[number]) }
    for number in synchronized { try bench.sync(devices[number]) }
    let rows = try devices.map { try $0.lines("SELECT * FROM notes") }
    for device in devices { #expect(try bench.unclean(device) == []) }
    #expect(rows[1] == rows[0])
    #expect(rows[2] == rows[0])
    return rows[0]
  }

  @Test("An update, a deletion, and another update", arguments: SuiteSize.some(2, of: orders))
  func deletedBetween(made: [Int]) throws {
    let edits = [
      "UPDATE notes SET title = 'A2'", "DELETE FROM notes", "UPDATE notes SET body = 'B2'",
    ]
    for order in SuiteSize.some(1, of: Self.orders) {
      let kept = try end(edits, made: made, synchronized: order, deletes: .editWins)
      #expect(kept == ["'a'|'A2'|'B2'"])
      let gone = try end(edits, made: made, synchronized: order, deletes: .deleteWins)
      #expect(gone == [])
    }
  }

  @Test(
    "A deletion, a row made again by REPLACE, and an update",
    arguments: SuiteSize.some(2, of: orders)
  )
  func madeAgain(made: [Int]) throws {
    let edits = [
      "DELETE FROM notes",
      "DELETE FROM notes; INSERT OR REPLACE INTO notes VALUES('a', 'N', NULL)",
      "UPDATE notes SET body = 'B2'",
    ]
    let isNewer = (made.firstIndex(of: 1) ?? 0) > (made.firstIndex(of: 0) ?? 0)
    for order in SuiteSize.some(1, of: Self.orders) {
      let rows = try end(edits, made: made, synchronized: order, deletes: .deleteWins)
      #expect(rows == (isNewer ? ["'a'|'N'|NULL"] : []))
    }
  }
}
