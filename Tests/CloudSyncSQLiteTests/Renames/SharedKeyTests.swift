import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

/// Devices that insert rows with one key, and give them keys of their own before anybody has heard of that.
@Suite("New rows have one key on all devices for a while")
struct SharedKeyTests {
  private static let schema = "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, v TEXT)"
  private static let both = ["'mac 1'|'of the mac'", "'phone 1'|'of the phone'"]

  private static func devices() throws -> (SyncHarness, SyncHarness.Device, SyncHarness.Device) {
    let bench = SyncHarness()
    let mac = try bench.device("mac", schema, tables: ["t"])
    let phone = try bench.device("phone", schema, tables: ["t"])
    try bench.sync(mac, phone)
    return (bench, mac, phone)
  }

  private static func expectBoth(_ bench: SyncHarness, _ devices: SyncHarness.Device...) throws {
    for device in devices + devices { try bench.sync(device) }
    for device in devices {
      #expect(try device.lines("SELECT * FROM t ORDER BY id") == both)
      #expect(try bench.unclean(device) == [])
    }
  }

  /// When the phone inserts its row and gives it another key, while the mac does so at 2,000 and 3,000.
  private static let times: [(inserted: Int64, renamed: Int64)] = [
    (1_000, 1_500), (1_000, 2_500), (1_000, 4_000), (2_500, 2_700), (2_500, 4_000), (5_000, 6_000),
  ]

  @Test(
    "Rows that both devices gave other keys before they synchronized stay two",
    arguments: times
  )
  func renamedUnsent(inserted: Int64, renamed: Int64) throws {
    for isFirst in [true, false] {
      let (bench, mac, phone) = try Self.devices()
      try mac.execute("INSERT INTO t VALUES('new', 'of the mac')", at: 2_000)
      try mac.execute("UPDATE t SET id = 'mac 1' WHERE id = 'new'", at: 3_000)
      try phone.execute("INSERT INTO t VALUES('new', 'of the phone')", at: inserted)
      try phone.execute("UPDATE t SET id = 'phone 1' WHERE id = 'new'", at: renamed)
      for device in isFirst ? [mac, phone] : [phone, mac] { try bench.sync(device) }
      try Self.expectBoth(bench, mac, phone)
    }
  }

  /// Which of them synchronize before the phone's row gets its own key.
  enum Before: CaseIterable, Sendable {
    case neither, mac, phone, both, bothPhoneFirst
  }

  @Test(
    "A row that was inserted with the key when another one had left it is another row, wherever it goes",
    arguments: Before.allCases
  )
  func insertedLater(before: Before) throws {
    let (bench, mac, phone) = try Self.devices()
    try mac.execute("INSERT INTO t VALUES('new', 'of the mac')", at: 2_000)
    try mac.execute("UPDATE t SET id = 'mac 1' WHERE id = 'new'", at: 3_000)
    try phone.execute("INSERT INTO t VALUES('new', 'of the phone')", at: 4_000)
    let first: [SyncHarness.Device] =
      switch before {
      case .neither: []
      case .mac: [mac]
      case .phone: [phone]
      case .both: [mac, phone]
      case .bothPhoneFirst: [phone, mac]
      }
    for device in first { try bench.sync(device) }
    try phone.execute("UPDATE t SET id = 'phone 1' WHERE id = 'new'", at: 5_000)
    try Self.expectBoth(bench, phone, mac)
  }

  @Test("Each has the edits that others have made of it under its own key")
  func edits() throws {
    let (bench, mac, phone) = try Self.devices()
    let tablet = try bench.device("tablet", Self.schema, tables: ["t"])
    try bench.sync(tablet)
    try mac.execute("INSERT INTO t VALUES('new', 'of the mac')", at: 2_000)
    try bench.sync(mac, tablet)
    try mac.execute("UPDATE t SET id = 'mac 1' WHERE id = 'new'", at: 3_000)
    try phone.execute("INSERT INTO t VALUES('new', 'of the phone')", at: 4_000)
    try phone.execute("UPDATE t SET id = 'phone 1' WHERE id = 'new'", at: 5_000)
    // The tablet has the mac's row under the first key still.
    try tablet.execute("UPDATE t SET v = 'of the tablet' WHERE id = 'new'", at: 6_000)
    for device in [phone, tablet, mac, phone, tablet, mac] { try bench.sync(device) }
    for device in [mac, phone, tablet] {
      let lines = try device.lines("SELECT * FROM t ORDER BY id")
      #expect(lines == ["'mac 1'|'of the tablet'", "'phone 1'|'of the phone'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("What refers to one of them stays with it")
  func references() throws {
    let schema = """
      \(Self.schema); CREATE TABLE c(id TEXT PRIMARY KEY NOT NULL, t TEXT REFERENCES t ON UPDATE CASCADE)
      """
    let bench = SyncHarness()
    let mac = try bench.device("mac", schema, tables: ["t", "c"])
    let phone = try bench.device("phone", schema, tables: ["t", "c"])
    let tablet = try bench.device("tablet", schema, tables: ["t", "c"])
    try mac.execute("INSERT INTO t VALUES('new', 'of the mac')", at: 2_000)
    try bench.sync(mac, tablet, phone)
    try mac.execute("UPDATE t SET id = 'mac 1' WHERE id = 'new'", at: 3_000)
    try bench.sync(mac, phone)
    try phone.execute("INSERT INTO t VALUES('new', 'of the phone')", at: 4_000)
    try phone.execute("INSERT INTO c VALUES('phone', 'new')", at: 4_500)
    try phone.execute("UPDATE t SET id = 'phone 1' WHERE id = 'new'", at: 5_000)
    // The tablet has the mac's row under the first key still.
    try tablet.execute("INSERT INTO c VALUES('tablet', 'new')", at: 6_000)
    for device in [phone, tablet, mac, phone, tablet, mac] { try bench.sync(device) }
    for device in [mac, phone, tablet] {
      let lines = try device.lines("SELECT * FROM c ORDER BY id")
      #expect(lines == ["'phone'|'phone 1'", "'tablet'|'mac 1'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test(
    "A key that a device uses for new rows again and again ends no row of others",
    arguments: 0..<5
  )
  func usedAgain(turn: Int) throws {
    let (bench, mac, phone) = try Self.devices()
    var turns = 0
    func insertOther() throws {
      if turns == turn {
        try phone.execute("INSERT INTO t VALUES('new', 'of the phone')", at: 2_500)
      }
      if turns == turn, turn > 2 { try bench.sync(phone) }
      turns += 1
    }
    for number in 1...2 {
      try insertOther()
      let time = Int64(number) * 2_000
      try mac.execute("INSERT INTO t VALUES('new', 'mac \(number)')", at: time)
      try insertOther()
      try mac.execute("UPDATE t SET id = 'mac \(number)' WHERE id = 'new'", at: time + 1_000)
      try bench.sync(mac)
    }
    try insertOther()
    for device in [mac, phone, mac, phone] { try bench.sync(device) }
    for device in [mac, phone] {
      let rows = ["'mac 1'|'mac 1'", "'mac 2'|'mac 2'", "'new'|'of the phone'"]
      #expect(try device.lines("SELECT * FROM t ORDER BY id") == rows)
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test(
    "A new row that only passes through the key that another one has left ends no row of others"
  )
  func passingThrough() throws {
    let (bench, mac, phone) = try Self.devices()
    try mac.execute("INSERT INTO t VALUES('2', 'first')", at: 1_000)
    try mac.execute("UPDATE t SET id = '1' WHERE id = '2'", at: 2_000)
    try bench.sync(mac)
    try phone.execute("INSERT INTO t VALUES('1', 'of the phone')", at: 3_000)
    try mac.execute("UPDATE t SET id = '3' WHERE id = '1'", at: 4_000)
    try mac.execute("INSERT INTO t VALUES('1', 'second')", at: 5_000)
    try mac.execute("UPDATE t SET id = '7' WHERE id = '1'", at: 6_000)
    for device in [phone, mac, phone, mac] { try bench.sync(device) }
    for device in [mac, phone] {
      let rows = ["'1'|'of the phone'", "'3'|'first'", "'7'|'second'"]
      #expect(try device.lines("SELECT * FROM t ORDER BY id") == rows)
      #expect(try bench.unclean(device) == [])
    }
  }
}
