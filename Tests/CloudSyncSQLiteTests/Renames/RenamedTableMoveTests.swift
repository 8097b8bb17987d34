import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

/// A migration gives a table another name, so that its rows are other records; who they are does not change with that.
@Suite("Keys that are changed before and after their table is renamed")
struct RenamedTableMoveTests {
  private enum Step {
    case edit(String, String)
    case sync([String])
    case rename(String)
  }

  private static func mac(_ sql: String) -> Step { .edit("mac", sql) }
  private static func phone(_ sql: String) -> Step { .edit("phone", sql) }
  private static let rename: [Step] = [.rename("mac"), .rename("phone")]

  /// What devices do, by what becomes of a row; $T is the table as it is called then.
  private static let scripts: [String: [Step]] = [
    "two keys": [
      mac("UPDATE $T SET id = 'b' WHERE id = 'a'"), .sync(["mac"]),
      phone("UPDATE $T SET id = 'c' WHERE id = 'a'"),
    ] + rename + [mac("UPDATE $T SET title = 'A2' WHERE id = 'b'")],
    "two keys, one afterwards": [
      mac("UPDATE $T SET id = 'b' WHERE id = 'a'"), .sync(["mac"]),
    ] + rename + [
      phone("UPDATE $T SET id = 'c' WHERE id = 'a'"),
      mac("UPDATE $T SET title = 'A2' WHERE id = 'b'"),
    ],
    "two keys, the last one first": [
      phone("UPDATE $T SET id = 'c' WHERE id = 'a'"), .sync(["phone"]), .rename("mac"),
      mac("UPDATE $T SET id = 'b' WHERE id = 'a'"),
      mac("UPDATE $T SET title = 'A2' WHERE id = 'b'"),
      .rename("phone"),
    ],
    "one key": [
      mac("UPDATE $T SET id = 'x' WHERE id = 'a'"), .sync(["mac"]),
      phone("UPDATE $T SET id = 'x' WHERE id = 'k'"),
    ] + rename,
    "one key, one afterwards": [
      mac("UPDATE $T SET id = 'x' WHERE id = 'a'"), .sync(["mac"]),
    ] + rename + [phone("UPDATE $T SET id = 'x' WHERE id = 'k'")],
    "one key, the other one afterwards": [
      phone("UPDATE $T SET id = 'x' WHERE id = 'k'"), .sync(["phone"]),
    ] + rename + [mac("UPDATE $T SET id = 'x' WHERE id = 'a'")],
    "one key, and on": [
      mac("UPDATE $T SET id = 'x' WHERE id = 'a'"), .sync(["mac"]),
      phone("UPDATE $T SET id = 'x' WHERE id = 'k'"), .sync(["phone", "mac", "phone"]),
    ] + rename + [
      mac("UPDATE $T SET id = 'y' WHERE id = 'x'"), phone("UPDATE $T SET title = 'T'"),
    ],
    "followed": [
      mac("UPDATE $T SET id = 'b' WHERE id = 'a'"), .sync(["mac", "phone"]),
    ] + rename + [
      mac("UPDATE $T SET id = 'c' WHERE id = 'b'"),
      phone("UPDATE $T SET title = 'A2' WHERE id = 'b'"),
      phone("INSERT INTO parts VALUES('q', 'b')"),
    ],
    "given to another": [
      mac("UPDATE $T SET id = 'b' WHERE id = 'a'"), .sync(["mac", "phone"]),
      phone("INSERT INTO parts VALUES('q', 'b')"),
    ] + rename + [
      mac("UPDATE $T SET id = 'c' WHERE id = 'b'"), mac("UPDATE $T SET id = 'b' WHERE id = 'k'"),
      mac("INSERT INTO parts VALUES('r', 'b')"),
    ],
    "deleted": [
      mac("UPDATE $T SET id = 'b' WHERE id = 'a'"), .sync(["mac", "phone"]),
    ] + rename + [
      mac("DELETE FROM $T WHERE id = 'b'"), phone("UPDATE $T SET title = 'A2' WHERE id = 'b'"),
    ],
    "deleted, and given again": [
      mac("UPDATE $T SET id = 'b' WHERE id = 'a'"), .sync(["mac", "phone"]),
      mac("DELETE FROM $T WHERE id = 'b'"), .sync(["mac", "phone"]),
    ] + rename + [
      mac("UPDATE $T SET id = 'b' WHERE id = 'k'"), phone("INSERT INTO $T VALUES('a', 'new')"),
    ],
    "back": [
      mac("UPDATE $T SET id = 'b' WHERE id = 'a'"), .sync(["mac", "phone"]),
    ] + rename + [
      mac("UPDATE $T SET id = 'a' WHERE id = 'b'"),
      phone("UPDATE $T SET title = 'A2' WHERE id = 'b'"),
      .sync(["phone"]), phone("UPDATE $T SET id = 'c' WHERE id = 'b'"),
    ],
  ]

  /// Does a script, with the renaming or without it; returns what the devices have.
  private func outcome(of script: [Step], isRenamed: Bool) throws -> [String] {
    let schema = """
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT);
      CREATE TABLE parts(id TEXT PRIMARY KEY NOT NULL,
        note TEXT REFERENCES notes(id) ON UPDATE CASCADE ON DELETE SET NULL)
      """
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes", "parts"])
    let devices = ["mac": mac, "phone": phone]
    var names = ["mac": "notes", "phone": "notes"]
    var time: Int64 = 1_700_000_000_000
    try mac.execute(
      "INSERT INTO notes VALUES('a', 'A'), ('k', 'K'); INSERT INTO parts VALUES('p', 'a')",
      at: time
    )
    try bench.sync(mac, phone)
    mac.engine.stop()
    phone.engine.stop()
    for step in script {
      time += 1_000
      switch step {
      case .edit(let name, let sql):
        try devices[name]?.execute(sql.replacing("$T", with: names[name] ?? ""), at: time)
      case .sync(let order):
        for name in order {
          guard let device = devices[name] else { continue }
          try bench.sync(device)
          device.engine.stop()
        }
      case .rename(let name):
        guard isRenamed, let device = devices[name] else { continue }
        names[name] = "pages"
        try bench.restart(device, ["pages", "parts"], after: "ALTER TABLE notes RENAME TO pages")
        device.engine.stop()
      }
    }
    for device in [mac, phone, mac, phone, mac] {
      try bench.sync(device)
      device.engine.stop()
    }
    var lines: [String] = []
    for (device, name) in [(mac, "mac"), (phone, "phone")] {
      lines += try device.lines("SELECT * FROM \(names[name] ?? "") ORDER BY id")
      lines += try device.lines("SELECT * FROM parts ORDER BY id")
      lines += try bench.unclean(device) + bench.displaced(device)
    }
    return lines
  }

  @Test(
    "They lead where they do without that",
    arguments: SuiteSize.some(2, of: scripts.keys.sorted())
  )
  func renamed(name: String) throws {
    let script = try #require(Self.scripts[name])
    let expected = try outcome(of: script, isRenamed: false)
    let outcome = try outcome(of: script, isRenamed: true)

    #expect(outcome == expected)
  }
}
