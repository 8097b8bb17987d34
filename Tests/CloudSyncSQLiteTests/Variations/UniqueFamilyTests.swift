import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Rows that refer to others by unique values, which move")
struct UniqueFamilyTests {
  private static let schema = """
    CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, mail TEXT COLLATE NOCASE UNIQUE, name TEXT);
    CREATE TABLE posts(
      id TEXT PRIMARY KEY NOT NULL, title TEXT,
      mail TEXT REFERENCES people(mail) ON DELETE CASCADE ON UPDATE CASCADE
    );
    """
  private static let tables = ["people", "posts"]
  private static let people = "SELECT id, mail FROM people ORDER BY id"
  private static let posts = "SELECT id, mail FROM posts ORDER BY id"

  private func pair(
    _ policy: UniqueKeyPolicy,
    isEnforced: Bool = true
  ) throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = policy
    let (bench, mac, phone) = try SyncHarness.pair(
      Self.schema,
      tables: Self.tables,
      options: options,
      enforcesForeignKeys: isEnforced
    )
    try mac.execute(
      """
      INSERT INTO people VALUES('a', 'x@', 'A'), ('b', 'y@', 'B'), ('c', 'z@', 'C');
      INSERT INTO posts VALUES('1', 'one', 'x@'), ('2', 'two', 'y@'), ('3', 'three', 'z@');
      """
    )
    try bench.sync(mac, phone)
    return (bench, mac, phone)
  }

  private static let renaming = UniqueKeyPolicy.rename { conflict in
    conflict.values.map { .string("\($0.stringValue ?? "") \(conflict.recordName)") }
  }

  @Test("Three values go round, and others add children meanwhile", arguments: [true, false])
  func round(isEnforced: Bool) throws {
    for policy in [UniqueKeyPolicy.merge, Self.renaming] {
      let (bench, mac, phone) = try pair(policy, isEnforced: isEnforced)
      // Every post stays with its person, whose value it follows.
      try mac.execute(
        """
        BEGIN;
        UPDATE people SET mail = 't@' WHERE id = 'a';
        UPDATE people SET mail = 'x@' WHERE id = 'b';
        UPDATE people SET mail = 'y@' WHERE id = 'c';
        UPDATE people SET mail = 'z@' WHERE id = 'a';
        COMMIT
        """
      )
      try phone.execute("UPDATE posts SET title = title || '2'")
      try bench.sync(mac, phone)
      try bench.sync(phone, mac)
      for device in [mac, phone] {
        #expect(try device.lines(Self.people) == ["'a'|'z@'", "'b'|'x@'", "'c'|'y@'"])
        #expect(try device.lines(Self.posts) == ["'1'|'z@'", "'2'|'x@'", "'3'|'y@'"])
        #expect(
          try device.lines("SELECT title FROM posts ORDER BY id") == [
            "'one2'", "'two2'", "'three2'",
          ]
        )
        #expect(try bench.unclean(device) == [])
      }
    }
  }

  @Test("A value is spelled anew, and its children follow the spelling", arguments: [true, false])
  func respelled(isEnforced: Bool) throws {
    let (bench, mac, phone) = try pair(.merge, isEnforced: isEnforced)
    try mac.execute("UPDATE people SET mail = 'X@' WHERE id = 'a'")
    try phone.execute("INSERT INTO posts VALUES('4', 'four', 'x@')")
    try bench.sync(mac, phone)
    try bench.sync(phone, mac)
    for device in [mac, phone] {
      #expect(try device.lines("SELECT mail FROM people WHERE id = 'a'") == ["'X@'"])
      #expect(
        try device.lines("SELECT count(*) FROM posts WHERE mail = 'x@' COLLATE NOCASE") == ["2"]
      )
      #expect(try bench.unclean(device) == [])
    }
    #expect(try mac.lines(Self.posts) == phone.lines(Self.posts))
  }

  @Test(
    "Somebody is deleted here and gets a value that another had there",
    arguments: [true, false]
  )
  func taken(isEnforced: Bool) throws {
    let (bench, mac, phone) = try pair(.merge, isEnforced: isEnforced)
    try mac.execute(
      "DELETE FROM people WHERE id = 'a'; UPDATE people SET mail = 'x@' WHERE id = 'b'"
    )
    try phone.execute(
      "UPDATE people SET name = 'A2' WHERE id = 'a'; UPDATE posts SET title = 'one2' WHERE id = '1'"
    )
    try bench.sync(phone, mac)
    try bench.sync(mac, phone)
    for device in [mac, phone] {
      #expect(try device.lines(Self.people) == ["'b'|'x@'", "'c'|'z@'"])
      #expect(try device.lines(Self.posts) == ["'2'|'x@'", "'3'|'z@'"])
      #expect(try bench.unclean(device) == [])
    }
  }
}
