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
    arguments: 1...UInt64(SuiteSize.count(2, long: 100))
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

  /// A database in a file, which can be copied and put back.
  private static func file(_ folder: TestFolder, _ name: String) throws -> DatabaseFile {
    try DatabaseFile(path: folder.file(name), enforcesForeignKeys: true, createsFile: true)
  }

  private static func copy(_ source: DatabaseFile, to target: DatabaseFile) throws {
    try source.write { handle in
      let copy = try SQLiteConnection(path: target.path, access: .create)
      try SQLiteConnection(borrowing: handle).copy(to: copy)
    }
  }

  private static func insert(_ title: String) -> String {
    """
    INSERT INTO lists(title) VALUES('\(title)');
    INSERT INTO notes(list, title) VALUES(last_insert_rowid(), 'in \(title)')
    """
  }

  private static let joined =
    "SELECT l.title, n.title FROM lists l LEFT JOIN notes n ON n.list = l.id ORDER BY 1, 2"

  @Test(
    "Rows that a file and its copy were given under one key become two, each with what refers to it",
    arguments: SuiteSize.pairs(
      2,
      [true, false],
      ["", " ON DELETE CASCADE ON UPDATE CASCADE", " ON DELETE RESTRICT ON UPDATE RESTRICT"]
    )
  )
  func copiedFile(originalIsFirst: Bool, actions: String) throws {
    let folder = try TestFolder("copied-keys")
    let bench = SyncHarness()
    let reference = "REFERENCES lists(id)"
    let schema = Self.schema.replacing(reference, with: reference + actions)
    let (one, other) = (try Self.file(folder, "one"), try Self.file(folder, "other"))
    try one.execute(schema)
    let tables = ["lists", "notes"]
    let mac = SyncHarness.Device("mac", one, try bench.engine("mac", one, tables, Self.options))
    try mac.execute(Self.insert("a"), at: 10)
    try bench.sync(mac)
    mac.engine.stop()
    try Self.copy(one, to: other)
    try mac.execute(Self.insert("mac"), at: 20)
    try other.execute("UPDATE cloudsync_clock SET fixed = 30; " + Self.insert("copy"))
    #expect(try one.lines("SELECT max(id) FROM lists") == other.lines("SELECT max(id) FROM lists"))
    let engine = try bench.engine("copy", other, tables, Self.options)
    let copy = SyncHarness.Device("copy", other, engine)
    if originalIsFirst { try bench.sync(mac, copy, mac) } else { try bench.sync(copy, mac, copy) }

    let all = ["'a'|'in a'", "'copy'|'in copy'", "'mac'|'in mac'"]
    for device in [mac, copy] {
      #expect(try device.lines(Self.joined) == all, "\(device.name)")
      #expect(try bench.unclean(device) == [])
    }
    let notes = "SELECT * FROM notes ORDER BY id"
    #expect(try mac.lines(notes) == copy.lines(notes))
    // Each counts on in a range of its own.
    try mac.execute(Self.insert("mac 2"), at: 40)
    try copy.execute(Self.insert("copy 2"), at: 50)
    try bench.sync(mac, copy, mac)
    #expect(try mac.lines(Self.joined).count == 5)
    #expect(try copy.lines(Self.joined) == mac.lines(Self.joined))
  }

  @Test("A database that was put back from a backup gives no key to another row than before")
  func restoredBackup() throws {
    let folder = try TestFolder("restored-keys")
    let bench = SyncHarness()
    let (file, backup) = (try Self.file(folder, "one"), try Self.file(folder, "backup"))
    try file.execute(Self.schema)
    let tables = ["lists", "notes"]
    let mac = SyncHarness.Device("mac", file, try bench.engine("mac", file, tables, Self.options))
    let phone = try bench.device("phone", Self.schema, tables: tables, options: Self.options)
    try mac.execute(Self.insert("a"), at: 10)
    try bench.sync(mac, phone)
    mac.engine.stop()
    try Self.copy(file, to: backup)
    try mac.execute(Self.insert("lost"), at: 20)
    try bench.sync(mac, phone)
    mac.engine.stop()
    try Self.copy(backup, to: file)
    try mac.execute(Self.insert("new"), at: 30)
    mac.engine = try bench.engine("mac", file, tables, Self.options)
    mac.listen()
    try bench.sync(mac, phone, mac)

    let all = ["'a'|'in a'", "'lost'|'in lost'", "'new'|'in new'"]
    for device in [mac, phone] {
      #expect(try device.lines(Self.joined) == all, "\(device.name)")
      #expect(try bench.unclean(device) == [])
    }
  }
}
