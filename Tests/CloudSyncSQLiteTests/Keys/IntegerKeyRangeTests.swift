import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@testable import CloudSyncSQLite

@Suite("Integer keys that each device counts in ranges of its own")
struct IntegerKeyRangeTests {
  private static let schema = """
    CREATE TABLE lists(id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT);
    CREATE TABLE notes(id INTEGER PRIMARY KEY AUTOINCREMENT, list INTEGER REFERENCES lists(id), title TEXT);
    """
  private static var options: SyncEngineOptions {
    var options = SyncEngineOptions()
    options.defaultTable.givesIntegerKeys = true
    return options
  }

  @Test("The next key is above all others, in a range of the device's, and stays there")
  func ranges() throws {
    let connection = try SQLiteConnection(path: ":memory:")
    for device in [0, 1, 77, IntegerKeyRanges.devices - 1] {
      let ranges = IntegerKeyRanges(connection: connection, writer: device)
      for last in [0, 1, 255, 256, 1 << 31, 1 << 32, (1 << 32) + 255, 1 << 40, (1 << 61) + 12_345]
        as [Int64]
      {
        let key = (ranges.next(after: last) ?? last) + 1
        #expect(key > last)
        #expect(key / IntegerKeyRanges.size % IntegerKeyRanges.devices == device)
        #expect(ranges.next(after: key) == nil || key % IntegerKeyRanges.size == 255)
      }
      // No range is left: then SQLite counts as it does.
      #expect(ranges.next(after: .max) == nil)
      #expect(ranges.next(after: .max - 1) == nil)
    }
  }

  @Test("Without AUTOINCREMENT there is nothing to count on")
  func refused() throws {
    let bench = SyncHarness()
    for schema in [
      "CREATE TABLE t(id INTEGER PRIMARY KEY)", "CREATE TABLE t(id INT PRIMARY KEY NOT NULL)",
    ] {
      #expect(throws: SyncEngineError.self) {
        try bench.device("mac", schema, tables: ["t"], options: Self.options)
      }
    }
  }

  @Test(
    "Rows that devices insert without each other never share a key",
    arguments: 1...UInt64(SuiteSize.count(3, long: 100))
  )
  func random(seed: UInt64) throws {
    let (bench, mac, phone) = try SyncHarness.pair(
      Self.schema,
      tables: ["lists", "notes"],
      options: Self.options
    )
    let tab = try bench.device(
      "tab",
      Self.schema,
      tables: ["lists", "notes"],
      options: Self.options
    )
    let devices = [mac, phone, tab]
    var random = SeededRandom(seed: seed)
    var inserted = 0
    for step in 1...60 {
      let device = devices[Int(random.below(3))]
      let time = Int64(step * 10)
      switch random.below(4) {
      case 0:
        try device.execute(
          """
          INSERT INTO lists(title) VALUES('l\(step)');
          INSERT INTO notes(list, title) VALUES(last_insert_rowid(), 'n\(step)')
          """,
          at: time
        )
        inserted += 1
        // What was inserted last has the greatest key.
        #expect(
          try device.lines("SELECT title FROM lists ORDER BY id DESC LIMIT 1") == ["'l\(step)'"]
        )
      case 1:
        try device.execute(
          "UPDATE notes SET title = 'u\(step)' WHERE id = (SELECT max(id) FROM notes)",
          at: time
        )
      default: try bench.sync(device)
      }
    }
    try bench.sync(mac, phone, tab, mac, phone)
    let joined =
      "SELECT l.id, l.title, n.title FROM lists l JOIN notes n ON n.list = l.id ORDER BY 1"
    let rows = try mac.lines(joined)
    #expect(rows.count == inserted)
    #expect(try phone.lines(joined) == rows)
    #expect(try tab.lines(joined) == rows)
  }
}
