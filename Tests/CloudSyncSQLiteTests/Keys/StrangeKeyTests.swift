import CloudSyncSQLite
import Testing

@Suite("Keys of every kind")
struct StrangeKeyTests {
  private static let schema = """
    CREATE TABLE reals(id REAL PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE blobs(id BLOB PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE texts(id TEXT PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE mixed(id BLOB PRIMARY KEY NOT NULL, title TEXT) WITHOUT ROWID;
    """
  private static let tables = ["reals", "blobs", "texts", "mixed"]

  /// Sends rows there, an edit of all of them back, and a deletion of all but one of each table.
  private func roundTrip(_ inserts: String) throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: Self.tables)
    let phone = try bench.device("phone", Self.schema, tables: Self.tables)
    func compare(_ moment: Comment) throws {
      for table in Self.tables {
        let sql = "SELECT id, typeof(id), title FROM \(table) ORDER BY id"
        #expect(try phone.lines(sql) == mac.lines(sql), moment)
      }
      #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [], moment)
    }
    try mac.execute(inserts)
    let counts = Self.tables.map { "SELECT count(*) FROM \($0)" }
    let before = try counts.map { try mac.lines($0) }
    try bench.sync(mac, phone)
    #expect(try counts.map { try phone.lines($0) } == before)
    try compare("sent")

    for table in Self.tables { try phone.execute("UPDATE \(table) SET title = title || '!'") }
    try bench.sync(phone, mac)
    try compare("edited")

    for table in Self.tables {
      try mac.execute("DELETE FROM \(table) WHERE id <> (SELECT min(id) FROM \(table))")
    }
    try bench.sync(mac, phone)
    try compare("deleted")
  }

  @Test("REAL and BLOB keys, whole numbers among them, and one key of every type")
  func types() throws {
    try roundTrip(
      """
      INSERT INTO reals VALUES(1, 'one'), (1.5, 'more'), (-0.0, 'zero'), (9e999, 'infinite'),
        (1e300, 'large'), (0.1, 'tenth');
      INSERT INTO blobs VALUES(x'', 'empty'), (x'00ff', 'bytes'), ('text', 'text'), (7, 'seven');
      INSERT INTO mixed VALUES(1, 'a'), (1.5, 'b'), ('1', 'c'), (x'31', 'd'), (9223372036854775807, 'e')
      """
    )
  }

  @Test("Text that is empty, looks like something else, or differs in form or case alone")
  func texts() throws {
    try roundTrip(
      """
      INSERT INTO texts VALUES('', 'empty'), (' ', 'space'), ('a', 'small'), ('A', 'large'),
        ('\u{e9}', 'composed'), ('e\u{301}', 'decomposed'), ('~n', 'tilde'), ('_x', 'underscore'),
        ('a:b', 'colon'), ('a,b', 'comma'), ('1', 'digit'), ('line
      feed', 'lines'), (CAST(x'6100' AS TEXT), 'zero'), (CAST(x'ff' AS TEXT), 'no UTF-8')
      """
    )
  }

  @Test("Keys longer than any name the cloud takes")
  func long() throws {
    let text = String(repeating: "long ", count: 2_000)
    try roundTrip(
      """
      INSERT INTO texts VALUES('\(text)', 'a'), ('\(text)b', 'b'), ('é\(text)', 'c'), ('short', 'd');
      INSERT INTO blobs VALUES(zeroblob(300), 'a'), (zeroblob(301), 'b');
      """
    )
  }

  @Test("A key over the size of a record parks its row, says so, and holds up nothing")
  func tooLong() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: Self.tables)
    let phone = try bench.device("phone", Self.schema, tables: Self.tables)
    try mac.execute(
      "INSERT INTO blobs VALUES(zeroblob(1100000), 'large'), (x'01', 'small')"
    )
    try bench.sync(mac, phone)

    #expect(try phone.lines("SELECT title FROM blobs") == ["'small'"])
    #expect(
      try mac.lines("SELECT title, length(id) FROM blobs ORDER BY title") == [
        "'large'|1100000", "'small'|1",
      ]
    )
    let status = try bench.unclean(mac)
    #expect(status.count == 1)
    #expect(status.first?.contains("1000000") == true, "\(status)")
    #expect(status.first?.contains("blobs") == true, "\(status)")
  }
}
