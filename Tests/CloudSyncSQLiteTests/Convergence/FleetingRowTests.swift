import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("A row that is inserted and deleted before its engine looks")
struct FleetingRowTests {
  private static let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"

  /// Whether the engine looks in between is chance: what becomes of the other's row must not be.
  @Test(
    "Its deletion ends an older row of its key, whoever syncs first, and not a newer one",
    arguments: SuiteSize.pairs(2, [true, false], [true, false])
  )
  func ends(isOlder: Bool, isFleetingFirst: Bool) throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    let start: Int64 = 1_700_000_000_000
    try bench.sync(mac, phone)
    try mac.execute("INSERT INTO notes VALUES('a', 'A')", at: start)
    try mac.execute("DELETE FROM notes", at: start + 100_000)
    let time = isOlder ? start + 50_000 : start + 150_000
    try phone.execute("INSERT INTO notes VALUES('a', 'B')", at: time)
    if isFleetingFirst { try bench.sync(mac, phone) } else { try bench.sync(phone, mac) }

    let expected = isOlder ? [] : ["'a'|'B'"]
    #expect(try mac.lines("SELECT * FROM notes") == expected)
    #expect(try phone.lines("SELECT * FROM notes") == expected)
    #expect(try bench.unclean(mac) == [])
    #expect(try bench.unclean(phone) == [])
  }
}
