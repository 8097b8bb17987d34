import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("Rows that the engine has changed")
struct RowChangesTests {
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id) ON DELETE CASCADE, title TEXT
    );
    CREATE TABLE marks(a INTEGER NOT NULL, b TEXT NOT NULL, c, PRIMARY KEY(a, b)) WITHOUT ROWID;
    """
  private static let tables = ["lists", "notes", "marks"]

  /// What is told, a text for each transaction, with what the database has by then.
  private final class Told: Sendable {
    private let all = Locked<[String]>([])

    init(_ device: SyncHarness.Device) {
      device.engine.changes.sink { [all] changes in
        let rows = changes.rows.map { row in
          "\(row.kind) \(row.table) \(row.key.map { $0.text }.joined(separator: ","))"
        }
        all.withLock { $0.append(contentsOf: rows) }
      }
    }

    func take() -> [String] {
      all.withLock { all in
        defer { all = [] }
        return all
      }
    }
  }

  private func pair(
    enforcing: Bool = true
  ) throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device, Told) {
    let (bench, mac, phone) = try SyncHarness.pair(
      Self.schema,
      tables: Self.tables,
      enforcesForeignKeys: enforcing
    )
    return (bench, mac, phone, Told(phone))
  }

  @Test("Rows are told by table and key as they come, change and go; own edits are not")
  func kinds() throws {
    let (bench, mac, phone, told) = try pair()
    try mac.execute(
      "INSERT INTO lists VALUES('l', 'L'); INSERT INTO notes VALUES('a', 'l', 'A');"
        + "INSERT INTO marks VALUES(1, 'x', NULL)"
    )
    try phone.execute("INSERT INTO notes VALUES('own', NULL, 'mine')")
    try bench.sync(mac, phone)
    #expect(told.take().sorted() == ["inserted lists l", "inserted marks 1,x", "inserted notes a"])

    try mac.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'; UPDATE marks SET c = 1")
    try phone.execute("UPDATE notes SET title = 'mine too' WHERE id = 'own'")
    try bench.sync(mac, phone)
    #expect(told.take().sorted() == ["updated marks 1,x", "updated notes a"])

    try mac.execute("DELETE FROM marks; DELETE FROM notes WHERE id = 'a'")
    try bench.sync(mac, phone)
    #expect(told.take().sorted() == ["deleted marks 1,x", "deleted notes a"])
    try bench.sync(mac, phone)
    #expect(told.take() == [])
  }

  @Test(
    "Children that go with their parent are told, whoever deletes them",
    arguments: [true, false]
  )
  func cascades(enforcing: Bool) throws {
    let (bench, mac, phone, told) = try pair(enforcing: enforcing)
    try mac.execute("INSERT INTO lists VALUES('l', 'L')")
    try bench.sync(mac, phone)
    // The other device does not have it yet.
    mac.engine.stop()
    try phone.execute("INSERT INTO notes VALUES('a', 'l', 'A')")
    try mac.execute("DELETE FROM lists")
    _ = told.take()
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT id FROM notes UNION ALL SELECT id FROM lists") == [])
    #expect(told.take().sorted() == ["deleted lists l", "deleted notes a"])
  }

  @Test("Rows that a trigger of the app's changes are told")
  func triggers() throws {
    let (bench, mac, phone, told) = try pair()
    try phone.execute(
      """
      CREATE TRIGGER counting AFTER INSERT ON notes BEGIN
        INSERT INTO marks VALUES(7, new.id, 1); UPDATE lists SET title = 'has notes';
      END
      """
    )
    try mac.execute("INSERT INTO lists VALUES('l', 'L')")
    try bench.sync(mac, phone)
    _ = told.take()
    try mac.execute("INSERT INTO notes VALUES('a', 'l', 'A')")
    try bench.sync(mac, phone)
    let rows = Set(told.take())
    #expect(rows.isSuperset(of: ["inserted notes a", "inserted marks 7,a", "updated lists l"]))
  }

  @Test("They are told after the transaction is committed, with the database readable")
  func committed() throws {
    let (bench, mac, phone, _) = try pair()
    let found = Locked<[String]>([])
    let database = phone.database
    phone.engine.changes.sink { changes in
      do {
        for row in changes.rows where row.table == "notes" {
          let rows = try database.query("SELECT title FROM notes WHERE id = ?", row.key)
          found.withLock { $0 += rows.map { $0.string("title") ?? "" } }
        }
      } catch { Issue.record(error) }
    }
    try mac.execute("INSERT INTO notes VALUES('a', NULL, 'A'), ('b', NULL, 'B')")
    try bench.sync(mac, phone)
    #expect(found.withLock { $0 } == ["A", "B"])
  }

  @Test("Rows that are deleted with the local data are told, and come back")
  func deletedLocally() throws {
    let (bench, mac, phone, told) = try pair()
    try mac.execute("INSERT INTO marks VALUES(1, 'x', 1), (2, 'y', 2)")
    try bench.sync(mac, phone)
    _ = told.take()
    try phone.engine.deleteLocalData()
    #expect(told.take() == ["deleted marks 1,x", "deleted marks 2,y"])
    bench.world.advance(by: .seconds(30))
    #expect(told.take().sorted() == ["inserted marks 1,x", "inserted marks 2,y"])
  }

  /// Follows a database by what is told and what the app does itself.
  @Test(
    "Whoever applies what is told to a copy of the keys has those of the tables",
    arguments: 0..<UInt64(SuiteSize.count(2, long: 12))
  )
  func mirrors(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let (bench, mac, phone, told) = try pair(enforcing: random.chance(1, in: 2))
    try bench.sync(mac, phone)
    _ = told.take()
    var mirror: Set<String> = []
    for _ in 0..<25 {
      let key = random.pick(["k1", "k2", "k3"])
      let sql: String =
        switch random.below(6) {
        case 0: "INSERT OR IGNORE INTO lists VALUES('\(key)', 'x')"
        case 1: "DELETE FROM lists WHERE id = '\(key)'"
        case 2:
          "INSERT OR IGNORE INTO notes VALUES('\(key)', (SELECT id FROM lists ORDER BY id LIMIT 1), 'x')"
        case 3: "UPDATE notes SET title = title || 'y' WHERE id = '\(key)'"
        case 4: "DELETE FROM notes WHERE id = '\(key)'"
        default: "INSERT OR REPLACE INTO marks VALUES(1, '\(key)', \(random.below(9)))"
        }
      try mac.execute(sql)
      // Only one of them edits, so the other one's rows are the engine's alone.
      if random.chance(1, in: 3) { try bench.sync(mac, phone) }
      for line in told.take() {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        let isThere = mirror.contains(words[1])
        #expect(isThere == (words[0] != "inserted"), "\(line)")
        if words[0] == "deleted" { mirror.remove(words[1]) } else { mirror.insert(words[1]) }
      }
      let rows = try phone.lines(
        "SELECT 'lists ' || id FROM lists UNION ALL SELECT 'notes ' || id FROM notes"
          + " UNION ALL SELECT 'marks ' || a || ',' || b FROM marks"
      )
      #expect(Set(rows) == Set(mirror.map { "'\($0)'" }))
    }
  }
}

extension FieldValue {
  fileprivate var text: String { stringValue ?? int64Value.map { "\($0)" } ?? "?" }
}
