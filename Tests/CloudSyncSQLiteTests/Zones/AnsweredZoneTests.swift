import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("A purged zone that several devices have asked about")
struct AnsweredZoneTests {
  private static let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"
  private static let notes = "SELECT id, title FROM notes ORDER BY id"
  private let owner = AccountIdentity("owner")

  /// Two devices that both ask what is to become of their rows; the phone has an edit and a row of its own.
  private func asked() throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('b', 'B')")
    try bench.sync(mac, phone)
    try bench.cloud.deleteZone(bench.zoneID, account: owner, reason: .purged)
    try bench.sync(mac, phone)
    try phone.execute(
      "UPDATE notes SET title = 'A2' WHERE id = 'a'; INSERT INTO notes VALUES('n', 'N')"
    )
    for device in [mac, phone] { #expect(device.engine.question == .zoneLost(.purged)) }
    return (bench, mac, phone)
  }

  @Test(
    "The rows go on all of them when one has decided so, launched again or not",
    arguments: [false, true]
  )
  func erased(isLaunchedAgain: Bool) throws {
    let (bench, mac, phone) = try asked()
    try mac.engine.decideZone(.deleteLocalData)
    try bench.sync(mac)
    if isLaunchedAgain { try bench.restart(phone, ["notes"]) }
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      #expect(device.engine.question == nil)
      #expect(try device.lines(Self.notes) == ["'n'|'N'"])
      #expect(try bench.unclean(device) == [])
    }
    #expect(try bench.cloudNames() == ["n:notes"])
  }

  @Test(
    "The rows stay on all of them when one has uploaded its own, and edits made meanwhile are sent"
  )
  func uploaded() throws {
    let (bench, mac, phone) = try asked()
    try mac.engine.decideZone(.uploadAgain)
    try bench.sync(mac)
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      #expect(device.engine.question == nil)
      #expect(try device.lines(Self.notes) == ["'a'|'A2'", "'b'|'B'", "'n'|'N'"])
      #expect(try bench.unclean(device) == [])
    }
    #expect(try bench.cloudNames() == ["a:notes", "b:notes", "n:notes"])
  }
}
