import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("A counter whose row is deleted and made again where edits win")
struct CounterMadeAnewTests {
  @Test(
    "It holds what it was given, on all devices, as far as its sum can",
    arguments: [
      ("1", "NULL", "NULL"), ("1", "'none'", "'none'"), ("NULL", "7", "7"),
      // What is counted of reals has a rounding of its own, and an end.
      ("0.2", "0.9", "0.8999999999999999"), ("-1e308", "1e308", "7.976931348623157e+307"),
    ]
  )
  func madeAnew(former: String, given: String, expected: String) throws {
    var options = SyncEngineOptions()
    options.defaultTable.merging.columns["n"] = .counter
    options.defaultTable.merging.deletes = .editWins
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, n)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"], options: options)
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
}
