import CloudSyncSQLite
import Testing

/// A counter that a migration renames on one device before the other.
@Suite("Counters that are renamed, while others count under the former name")
struct RenamedCounterTests {
  /// How the migration does it.
  enum Migration: CaseIterable, Sendable {
    case alter, rebuild

    var sql: String {
      switch self {
      case .alter: "ALTER TABLE notes RENAME COLUMN n TO m"
      case .rebuild:
        """
        CREATE TABLE other(id TEXT PRIMARY KEY NOT NULL, m INTEGER NOT NULL DEFAULT 0);
        INSERT INTO other SELECT id, n FROM notes;
        DROP TABLE notes;
        ALTER TABLE other RENAME TO notes
        """
      }
    }
  }

  /// What the device with the former name does before it has the new one.
  enum Meanwhile: CaseIterable, Sendable {
    case nothing, syncs, countsAndSyncs, counts

    var counts: Bool { self == .countsAndSyncs || self == .counts }
    var syncs: Bool { self == .syncs || self == .countsAndSyncs }
  }

  @Test(
    "Everything is counted once on all devices",
    arguments: Migration.allCases,
    Meanwhile.allCases
  )
  func countedOnce(_ migration: Migration, _ meanwhile: Meanwhile) throws {
    var options = SyncEngineOptions()
    options.defaultTable.merging.columns = ["n": .counter, "m": .counter]
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, n INTEGER NOT NULL DEFAULT 0)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"], options: options)
    try mac.execute("INSERT INTO notes VALUES('a', 1)")
    try bench.sync(mac, phone)
    try phone.execute("UPDATE notes SET n = n + 10")
    try bench.sync(phone, mac)
    try bench.restart(phone, ["notes"], options, after: migration.sql)
    try bench.sync(phone)
    try phone.execute("UPDATE notes SET m = m + 100")
    try bench.sync(phone)

    if meanwhile.syncs { try bench.sync(mac) }
    if meanwhile.counts { try mac.execute("UPDATE notes SET n = n + 1000") }
    if meanwhile == .countsAndSyncs { try bench.sync(mac, phone) }
    try bench.restart(mac, ["notes"], options, after: migration.sql)
    try bench.sync(mac, phone, mac)

    for device in [mac, phone] {
      let sum = meanwhile.counts ? "1111" : "111"
      #expect(try device.lines("SELECT m FROM notes") == [sum], "\(device.name)")
      #expect(try bench.unclean(device) == [])
    }
  }
}
