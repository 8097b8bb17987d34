import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("A counter that one device sets to NULL while another adds to it")
struct CounterSetToNullTests {
  @Test("NULL counts as zero, whichever edit is the newer", arguments: [100, 300])
  func added(seconds: Int64) throws {
    var options = SyncEngineOptions()
    options.defaultTable.merging.columns["n"] = .counter
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, n INTEGER)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"], options: options)
    let start: Int64 = 1_700_000_000_000
    try mac.execute("INSERT INTO notes VALUES('a', 10)", at: start)
    try bench.sync(mac, phone)
    try mac.execute("UPDATE notes SET n = NULL", at: start + seconds * 1_000)
    try phone.execute("UPDATE notes SET n = n + 5", at: start + 200_000)
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    #expect(try mac.lines("SELECT n FROM notes") == ["5"])
    #expect(try phone.lines("SELECT n FROM notes") == ["5"])
  }
}
