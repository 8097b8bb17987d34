import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("Counters that begin anew, or with another key, and those at the ends of their range")
struct CounterMadeAnewTests {
  private func pair(
    deletes: DeletePolicy
  ) throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    var options = SyncEngineOptions()
    options.defaultTable.merging.columns["n"] = .counter
    options.defaultTable.merging.deletes = deletes
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, n)"
    return try SyncHarness.pair(schema, tables: ["notes"], options: options)
  }

  @Test(
    "It holds what it was given, on all devices, as far as its sum can",
    arguments: SuiteSize.some(
      2,
      of: [
        ("1", "NULL", "NULL"), ("1", "'none'", "'none'"), ("NULL", "7", "7"),
        // What is counted of reals has a rounding of its own, and an end.
        ("0.2", "0.9", "0.8999999999999999"), ("-1e308", "1e308", "7.976931348623157e+307"),
      ]
    )
  )
  func madeAnew(former: String, given: String, expected: String) throws {
    let (bench, mac, phone) = try pair(deletes: .editWins)
    try mac.execute("INSERT INTO notes VALUES('a', \(former))")
    try bench.sync(mac, phone)
    try mac.execute("DELETE FROM notes; INSERT INTO notes VALUES('a', \(given))")
    try bench.sync(mac, phone)

    #expect(try mac.lines("SELECT n FROM notes") == [expected])
    #expect(try phone.lines("SELECT n FROM notes") == [expected])
    // An update counts alike.
    try phone.execute("UPDATE notes SET n = \(former)")
    try bench.sync(phone, mac)
    #expect(try mac.lines("SELECT n FROM notes") == phone.lines("SELECT n FROM notes"))
    #expect(try bench.unclean(mac) == [])
  }

  /// How a row is given a number, and another key.
  enum Change: CaseIterable {
    case atOnce, before, synced

    func give(_ number: String, on mac: SyncHarness.Device, sync: () throws -> Void) throws {
      if self == .atOnce { return try mac.execute("UPDATE notes SET id = 'b', n = \(number)") }
      try mac.execute("UPDATE notes SET n = \(number)")
      if self == .synced { try sync() }
      try mac.execute("UPDATE notes SET id = 'b'")
    }
  }

  @Test(
    "A row that is given the key of a deleted one has what its counter was given",
    arguments: SuiteSize.pairs(2, ["7", "NULL", "9e999"], Change.allCases)
  )
  func movedOntoDeleted(given: String, change: Change) throws {
    let (bench, mac, phone) = try pair(deletes: .editWins)
    try mac.execute("INSERT INTO notes VALUES('a', 10), ('b', 1)")
    try bench.sync(mac, phone)
    try phone.execute("UPDATE notes SET n = n + 2; DELETE FROM notes WHERE id = 'b'")
    try bench.sync(phone, mac)
    try change.give(given, on: mac) { try bench.sync(mac, phone) }
    try bench.sync(mac, phone)

    #expect(try mac.lines("SELECT id, n FROM notes") == ["'b'|\(given)"])
    #expect(try phone.lines("SELECT id, n FROM notes") == ["'b'|\(given)"])
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
    try phone.execute("UPDATE notes SET n = 9")
    try bench.sync(phone, mac)
    #expect(try mac.lines("SELECT n FROM notes") == ["9"])
    #expect(try phone.lines("SELECT n FROM notes") == ["9"])
  }

  @Test(
    "What others have added under the former key meanwhile is added once",
    arguments: SuiteSize.pairs(
      2,
      [("7", false), ("7", true), ("NULL", false), ("NULL", true)],
      Change.allCases
    )
  )
  func addedMeanwhile(given: (value: String, isOntoDeleted: Bool), change: Change) throws {
    for policy in DeletePolicy.allCases {
      try addMeanwhile(
        given.value,
        isOntoDeleted: given.isOntoDeleted,
        change: change,
        deletes: policy
      )
    }
  }

  private func addMeanwhile(
    _ given: String,
    isOntoDeleted: Bool,
    change: Change,
    deletes: DeletePolicy
  ) throws {
    let (bench, mac, phone) = try pair(deletes: deletes)
    try mac.execute("INSERT INTO notes VALUES('a', 10)")
    if isOntoDeleted { try mac.execute("INSERT INTO notes VALUES('b', 1)") }
    try bench.sync(mac, phone)
    try phone.execute("UPDATE notes SET n = n + 2 WHERE id = 'a'")
    try mac.execute("DELETE FROM notes WHERE id = 'b'")
    try bench.sync(phone, mac)
    try change.give(given, on: mac) { try bench.sync(mac, phone) }
    try phone.execute("UPDATE notes SET n = coalesce(n, 0) + 100")
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    let expected = given == "7" ? "107" : "100"
    #expect(try mac.lines("SELECT id, n FROM notes") == ["'b'|\(expected)"], "\(deletes)")
    #expect(try phone.lines("SELECT id, n FROM notes") == ["'b'|\(expected)"], "\(deletes)")
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test(
    "At the ends of the range it can be set to what is no number, and to another number",
    arguments: DeletePolicy.allCases
  )
  func ends(deletes: DeletePolicy) throws {
    let (bench, mac, phone) = try pair(deletes: deletes)
    let least = "-9223372036854775808"
    try mac.execute(
      "INSERT INTO notes VALUES('a', \(least)), ('b', \(least)), ('c', \(least)), ('d', -1), ('e', \(least)), ('f', 1e308)"
    )
    try bench.sync(mac, phone)
    try mac.execute(
      """
      UPDATE notes SET n = 9e999 WHERE id = 'a'; UPDATE notes SET n = 9223372036854775807 WHERE id = 'd';
      UPDATE notes SET n = 5 WHERE id = 'e'; UPDATE notes SET n = -9e999 WHERE id = 'f'
      """
    )
    try phone.execute(
      "UPDATE notes SET n = -9e999 WHERE id = 'b'; UPDATE notes SET n = NULL WHERE id = 'c'"
    )
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    let expected = ["9e999", "-9e999", "NULL", "9223372036854775807", "5", "-9e999"]
    #expect(try mac.lines("SELECT n FROM notes ORDER BY id") == expected)
    #expect(try phone.lines("SELECT n FROM notes ORDER BY id") == expected)
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }
}
