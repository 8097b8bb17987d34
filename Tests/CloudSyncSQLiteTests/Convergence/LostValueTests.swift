import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Edits that were not sent of a row that goes with its table, unseen")
struct LostValueTests {
  private static let schema =
    "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, body TEXT)"
  private static let start: Int64 = 1_700_000_000_000

  /// A phone whose table is made again without the row, whose title it has edited; the mac edits the row meanwhile.
  private func lost(
    _ edit: String
  ) throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    var options = SyncEngineOptions()
    options.defaultTable.merging.deletes = .editWins
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"], options: options)
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 'B')", at: Self.start)
    try bench.sync(mac, phone)
    phone.engine.stop()
    try phone.execute(edit, at: Self.start + 100_000)
    try bench.restart(
      phone,
      ["notes"],
      options,
      after: "SELECT 1"
    )
    // It reads the edit, and sends nothing.
    _ = try phone.engine.status(of: .string("a"), in: "notes")
    try bench.restart(phone, ["notes"], options, after: "DROP TABLE notes; \(Self.schema)")
    return (bench, mac, phone)
  }

  @Test("They are lost with it, and empty no column of others")
  func revived() throws {
    let (bench, mac, phone) = try lost("UPDATE notes SET title = 'A2'")
    try mac.execute("UPDATE notes SET body = 'B2'", at: Self.start + 200_000)
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)
    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM notes") == ["'a'|'A'|'B2'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("Its deletion is sent if nobody has edited it")
  func deleted() throws {
    let (bench, mac, phone) = try lost("UPDATE notes SET title = 'A2'")
    try bench.sync(phone, mac)
    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM notes") == [])
      #expect(try bench.unclean(device) == [])
    }
  }
}
