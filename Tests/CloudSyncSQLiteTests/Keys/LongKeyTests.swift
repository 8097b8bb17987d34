import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("Keys that are longer than values in records are else")
struct LongKeyTests {
  private let folder: TestFolder
  private let bench: SyncHarness

  init() throws {
    folder = try TestFolder("long-keys")
    bench = SyncHarness(assetFolder: folder.path + "/cloud")
  }

  /// A device on which BLOBs and texts of over a thousand bytes are assets.
  private func device(
    _ name: String,
    _ schema: String,
    deletes: DeletePolicy
  ) throws -> SyncHarness.Device {
    var options = SyncEngineOptions()
    options.defaultTable.merging.deletes = deletes
    var assets = AssetOptions(folder: "\(folder.path)/\(name)", threshold: 1_000)
    assets.textThreshold = 1_000
    options.assets = assets
    return try bench.device(name, schema, tables: ["notes", "marks"], options: options)
  }

  private static func schema(_ type: String, isCompound: Bool = false) -> String {
    let actions = "ON UPDATE CASCADE ON DELETE CASCADE"
    if isCompound {
      return """
        CREATE TABLE notes(a INT NOT NULL DEFAULT 1, k \(type) NOT NULL, v TEXT, PRIMARY KEY(a, k));
        CREATE TABLE marks(
          id TEXT PRIMARY KEY NOT NULL, a INT DEFAULT 1, k \(type),
          FOREIGN KEY(a, k) REFERENCES notes(a, k) \(actions))
        """
    }
    return """
      CREATE TABLE notes(k \(type) PRIMARY KEY NOT NULL, v TEXT);
      CREATE TABLE marks(id TEXT PRIMARY KEY NOT NULL, k \(type) REFERENCES notes(k) \(actions))
      """
  }

  /// The devices have the same rows, which are these.
  private func check(
    _ devices: [SyncHarness.Device],
    notes: [String],
    marks: [String],
    _ step: String
  ) async throws {
    let short = "typeof(k), length(k), lower(substr(CAST(k AS TEXT), 1, 1))"
    for device in devices {
      #expect(
        try device.lines("SELECT \(short), v FROM notes ORDER BY k") == notes,
        "\(step): \(device.name)"
      )
      #expect(
        try device.lines("SELECT \(short), id FROM marks ORDER BY k") == marks,
        "\(step): \(device.name)"
      )
      #expect(try bench.unclean(device) == [], "\(step): \(device.name)")
      let differences = try await device.engine.verify().differences
      #expect(differences.map(\.reason) == [], "\(step): \(device.name)")
    }
    let all = "SELECT * FROM notes ORDER BY k"
    #expect(try devices[0].lines(all) == devices[1].lines(all), "\(step)")
  }

  @Test(
    "A row with a long key comes over, is edited, gets a short key and a long one again, and is deleted",
    arguments: SuiteSize.pairs(2, ["TEXT", "BLOB"], [false, true])
  )
  func life(of type: String, isCompound: Bool) async throws {
    // Each policy with each kind of key, if not all with all.
    let first: DeletePolicy = (type == "TEXT") == isCompound ? .editWins : .deleteWins
    for deletes in SuiteSize.some(1, of: [first] + DeletePolicy.allCases.filter { $0 != first }) {
      let schema = Self.schema(type, isCompound: isCompound)
      let bench = self.bench
      let mac = try device("mac\(deletes)", schema, deletes: deletes)
      let phone = try device("phone\(deletes)", schema, deletes: deletes)
      let devices = [mac, phone]
      let kind = type.lowercased()
      func key(_ letter: String, _ count: Int) -> String {
        "CAST(printf('%.*c', \(count), '\(letter)') AS \(type))"
      }
      func line(_ letter: String, _ count: Int, _ rest: String) -> String {
        "'\(kind)'|\(count)|'\(letter)'|'\(rest)'"
      }
      try mac.execute(
        """
        INSERT INTO notes(k, v) VALUES(\(key("x", 3_000)), 'one'), (\(key("z", 4_000)), 'stays');
        INSERT INTO marks(id, k) VALUES('m', \(key("x", 3_000)))
        """
      )
      try bench.sync(mac, phone)
      let stays = line("z", 4_000, "stays")
      let (first, mark) = (line("x", 3_000, "one"), line("x", 3_000, "m"))
      try await check(devices, notes: [first, stays], marks: [mark], "inserted")

      try phone.execute("UPDATE notes SET v = 'two' WHERE v = 'one'")
      try bench.sync(phone, mac)
      try await check(devices, notes: [line("x", 3_000, "two"), stays], marks: [mark], "edited")

      try mac.execute("UPDATE notes SET k = \(key("s", 3)) WHERE v = 'two'")
      try phone.execute("UPDATE notes SET v = 'three' WHERE v = 'two'")
      try bench.sync(mac, phone, mac)
      try await check(
        devices,
        notes: [line("s", 3, "three"), stays],
        marks: [line("s", 3, "m")],
        "short"
      )

      try phone.execute("UPDATE notes SET k = \(key("y", 5_000)) WHERE v = 'three'")
      try bench.sync(phone, mac)
      try await check(
        devices,
        notes: [line("y", 5_000, "three"), stays],
        marks: [line("y", 5_000, "m")],
        "long"
      )

      try mac.execute("DELETE FROM notes WHERE v = 'three'")
      try bench.sync(mac, phone)
      try await check(devices, notes: [stays], marks: [], "deleted")
      try phone.execute("DELETE FROM notes")
      try bench.sync(phone, mac)
      try await check(devices, notes: [], marks: [], "all deleted")
    }
  }

  @Test("A child that comes before its parent waits for it, however long the reference is")
  func childFirst() async throws {
    let mac = try device("mac", Self.schema("BLOB"), deletes: .deleteWins)
    let phone = try device("phone", Self.schema("BLOB"), deletes: .deleteWins)
    try mac.execute("INSERT INTO notes VALUES(zeroblob(3000), 'one')")
    try bench.sync(mac, phone)
    try phone.execute("INSERT INTO marks VALUES('m', zeroblob(3000))")
    try mac.execute("DELETE FROM notes")
    try bench.sync(mac, phone, mac)
    try await check([mac, phone], notes: [], marks: [], "an orphan goes with its parent")
  }

  // In the suite there is a like key among the strange ones, and one that a row has left below.
  @Test(
    "A key that no record has room for is refused with its name and size, and nobody loses the row",
    .enabled(if: SuiteSize.isLong)
  )
  func tooLong() async throws {
    let mac = try device("mac", Self.schema("TEXT"), deletes: .deleteWins)
    let phone = try device("phone", Self.schema("TEXT"), deletes: .deleteWins)
    let devices = [mac, phone]
    try mac.execute("INSERT INTO notes VALUES('a', 'one'); INSERT INTO marks VALUES('m', 'a')")
    try bench.sync(mac, phone)

    let long = "printf('%.*c', 1100000, 'x')"
    try mac.execute("UPDATE notes SET k = \(long)")
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT k, v FROM notes") == ["'a'|'one'"])
    #expect(try phone.lines("SELECT k FROM marks") == ["'a'"])
    #expect(try bench.unclean(phone) == [])
    let reasons = try mac.lines("SELECT error FROM cloudsync_status WHERE status = 'parked'")
    for words in ["\"notes\".\"k\" has 1100001", "1000000 are allowed", "shorten it"] {
      #expect(reasons.contains { $0.contains(words) }, "\(words) in \(reasons)")
    }

    try phone.execute("UPDATE notes SET v = 'two'")
    try bench.sync(phone, mac)
    try mac.execute("UPDATE notes SET k = 'b'")
    try bench.sync(mac, phone, mac)
    try await check(devices, notes: ["'text'|1|'b'|'two'"], marks: ["'text'|1|'b'|'m'"], "short")

    // Nobody has heard of a row that was never sent.
    try phone.execute("INSERT INTO notes VALUES(\(long), 'never')")
    try bench.sync(phone)
    try phone.execute("DELETE FROM notes WHERE v = 'never'")
    try bench.sync(phone, mac)
    try await check(devices, notes: ["'text'|1|'b'|'two'"], marks: ["'text'|1|'b'|'m'"], "gone")
  }

  @Test("Edits of a row reach it that had a key which no record has room for, and has left it")
  func passedKey() async throws {
    let devices = try ["mac", "phone", "pad"]
      .map { try device($0, Self.schema("TEXT"), deletes: .deleteWins) }
    let (mac, phone, pad) = (devices[0], devices[1], devices[2])
    try mac.execute("INSERT INTO notes VALUES('a', 'one')", at: 1_000)
    try bench.sync(mac, phone, pad)
    pad.engine.stop()
    try pad.execute(
      "UPDATE notes SET v = 'two'; INSERT INTO marks VALUES('m', 'a')",
      at: 2_000
    )
    try mac.execute("UPDATE notes SET k = printf('%.*c', 1100000, 'x')", at: 60_000)
    try bench.sync(mac)
    try mac.execute("UPDATE notes SET k = 'b'", at: 120_000)
    try bench.sync(mac, phone)
    try bench.sync(pad, mac, phone)
    try bench.sync(pad, mac, phone)
    try await check(devices, notes: ["'text'|1|'b'|'two'"], marks: ["'text'|1|'b'|'m'"], "passed")
  }

  @Test("A row is found by the digest of its key, however many others there are")
  func proportional() throws {
    func steps(_ count: Int) throws -> Int {
      let bench = SyncHarness()
      let schema = "CREATE TABLE notes(k TEXT PRIMARY KEY NOT NULL, v TEXT)"
      let mac = try bench.device("mac", schema, tables: ["notes"])
      let phone = try bench.device("phone", schema, tables: ["notes"])
      let rows = (0..<count).map { "(printf('%.*c', 300, 'x') || \($0), 'v')" }
      try mac.execute("INSERT INTO notes VALUES\(rows.joined(separator: ", "))", at: 1_000)
      try bench.sync(mac, phone)
      let names = try bench.cloudNames().sorted()
      // The first time all are looked at.
      try bench.remove(names[0])
      try bench.sync(phone)
      try bench.remove(names[1])
      let steps = try StatementSteps.count(of: { try phone.database.write($0) }) {
        try bench.sync(phone)
      }
      #expect(try phone.lines("SELECT count(*) FROM notes") == ["\(count - 2)"])
      return steps
    }
    let count = SuiteSize.count(150, long: 400)
    let (few, many) = (try steps(20), try steps(count))
    #expect(many < few * 2, "\(few) tens of steps with 20 rows, \(many) with \(count)")
  }

  /// What two devices have in the end whose edits of a parent and its children did not know of each other.
  private func outcome(
    _ count: Int,
    _ orphans: OrphanPolicy,
    _ actions: String,
    name: String,
    isUnique: Bool
  ) throws -> [String] {
    let bench = SyncHarness(assetFolder: "\(folder.path)/\(name)/cloud")
    let schema = """
      CREATE TABLE notes(\(isUnique ? "id TEXT PRIMARY KEY NOT NULL, k BLOB UNIQUE" : "k BLOB PRIMARY KEY NOT NULL"), v TEXT);
      CREATE TABLE marks(id TEXT PRIMARY KEY NOT NULL, k BLOB REFERENCES notes(k) \(actions))
      """
    let devices = try ["mac", "phone", "pad"]
      .map { device in
        var options = SyncEngineOptions()
        options.defaultTable.orphans = orphans
        options.defaultTable.uniqueKeys = .newest
        options.assets = AssetOptions(folder: "\(folder.path)/\(name)/\(device)", threshold: 1_000)
        return try bench.device(device, schema, tables: ["notes", "marks"], options: options)
      }
    let (mac, phone, pad) = (devices[0], devices[1], devices[2])
    let keys = (1...4).map { "CAST(printf('%.*c', \(count), '\($0)') AS BLOB)" }
    for (number, key) in keys.enumerated() {
      let id = isUnique ? "'\(number)', " : ""
      try mac.execute("INSERT INTO notes VALUES(\(id)\(key), 'v')")
    }
    try bench.sync(mac, phone, pad)
    for (number, key) in keys.enumerated() {
      try phone.execute("INSERT INTO marks VALUES('m\(number)', \(key))")
    }
    try mac.execute("DELETE FROM notes WHERE k = \(keys[0])")
    try mac.execute("UPDATE notes SET k = CAST(k || '+' AS BLOB) WHERE k = \(keys[1])")
    try pad.execute("INSERT INTO marks VALUES('p', \(keys[0]))")
    try bench.sync(mac, phone, pad, mac)
    try pad.execute("UPDATE marks SET k = \(keys[3]) WHERE id = 'm2'")
    try mac.execute("DELETE FROM marks WHERE id = 'm3'")
    try mac.execute("DELETE FROM notes WHERE k = \(keys[3])")
    try bench.sync(pad, mac, phone)
    let query = """
      SELECT id, substr(k, 1, 1), length(k) - \(count) FROM marks UNION ALL
      SELECT v, substr(k, 1, 1), length(k) - \(count) FROM notes ORDER BY 1, 2
      """
    let rows = try mac.lines(query)
    for device in devices {
      #expect(try device.lines(query) == rows, "\(name) \(device.name)")
      #expect(try bench.unclean(device) == [], "\(name) \(device.name)")
    }
    return rows
  }

  @Test(
    "What refers to a long key fares as what refers to a short one, whatever becomes of the row",
    arguments: [false, true]
  )
  func references(isUnique: Bool) throws {
    let all = ["", "ON UPDATE CASCADE ON DELETE CASCADE"]
    let policies = [OrphanPolicy.restoreParent, .deleteChildren, .detachChildren]
    for (number, orphans) in SuiteSize.some(2, of: policies).enumerated() {
      for place in SuiteSize.some(1, of: [number % 2, 1 - number % 2]) {
        let actions = all[place]
        let short = try outcome(
          3,
          orphans,
          actions,
          name: "s\(number)\(place)\(isUnique)",
          isUnique: isUnique
        )
        for count in isUnique ? [3_000] : SuiteSize.some(1, of: [300, 3_000]) {
          let long = try outcome(
            count,
            orphans,
            actions,
            name: "l\(count)\(number)\(place)",
            isUnique: isUnique
          )
          #expect(short == long, "\(count) \(orphans) \(actions)")
        }
      }
    }
  }
}
