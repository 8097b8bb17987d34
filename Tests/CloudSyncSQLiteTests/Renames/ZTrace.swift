import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("ztrace")
struct ZTrace {
  @Test func two() throws {
    let start: Int64 = 1_700_000_000_000
    let bench = SyncHarness()
    let schema = "CREATE TABLE p(id TEXT PRIMARY KEY NOT NULL, t TEXT)"
    let mac = try bench.device("mac", schema, tables: ["p"])
    let phone = try bench.device("phone", schema, tables: ["p"])
    try mac.execute("INSERT INTO p VALUES('1', 'x'), ('2', 'y')", at: start)
    try bench.sync(mac, phone)
    try mac.execute(
      "UPDATE p SET id = 't' WHERE id = '2'; UPDATE p SET id = '2' WHERE id = '1'; UPDATE p SET id = '1' WHERE id = 't'",
      at: start + 60_000
    )
    try mac.execute(
      "UPDATE p SET id = 't' WHERE id = '2'; UPDATE p SET id = '2' WHERE id = '1'",
      at: start + 120_000
    )
    try phone.execute("UPDATE p SET id = 'b1' WHERE id = '2'", at: start + 180_000)
    print("ZZ phone"); try bench.sync(phone)
    print("ZZ mac"); try bench.sync(mac)
    print("ZZ", try mac.lines("SELECT * FROM p"))
  }
}
