import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

@Suite("RecordName")
struct RecordNameTests {
  static let keys: [[SQLiteValue]] = [
    [.text("9b2f4c1e-0000-4000-8000-000000000001")], [.text("")], [.text("a:b")], [.text("a,b")],
    [.text("~a")], [.text("_a")], [.text("é")], [.text("e\u{301}")], [.text("a\nb")],
    [.text("%41")],
    [.text("i1")], [.text("~i1")], [.text("1")], [.integer(1)], [.integer(.min)], [.real(0.5)],
    [.real(.infinity)], [.real(-1e300)], [.blob([])], [.blob([1, 0xff])], [.malformedText([0xff])],
    [.null], [], [.text("a"), .text("b")], [.text("a,tb")], [.text("a"), .integer(1)],
    [.null, .null],
    [.integer(1), .integer(11)], [.integer(11), .integer(1)], [.text("a\u{0}")], [.text("a b")],
    [.text("")] + [.text("")], [.text("~h")], [.text("n"), .null],
  ]

  @Test("A key comes back out of its record's name", arguments: keys)
  func roundTrip(key: [SQLiteValue]) throws {
    for table in ["notes", "Order Details", "日本", "a_b", "a:b"] {
      let name = try #require(RecordName.make(table: table, key: key))
      let parsed = try #require(RecordName.parse(name))

      #expect(parsed.table == table)
      #expect(parsed.key == .values(key))
      #expect(RecordRules.isName(name))
    }
  }

  @Test("Different keys have different names")
  func injective() {
    let names = Self.keys.map { RecordName.make(table: "t", key: $0) }

    #expect(Set(names).count == Self.keys.count)
  }

  @Test("The name of a plain text key is the key and the table")
  func plain() {
    #expect(RecordName.make(table: "notes", key: [.text("n-1")]) == "n-1:notes")
    #expect(RecordName.make(table: "notes", key: [.integer(-7)]) == "~i-7:notes")
    let both: [SQLiteValue] = [.text("a,é"), .integer(2)]
    #expect(RecordName.make(table: "t", key: both) == "~ta%2c%c3%a9,i2:t")
  }

  @Test("Numbers that SQLite holds to be one key have one name")
  func numbers() {
    let one = RecordName.make(table: "t", key: [.integer(1)])

    #expect(RecordName.make(table: "t", key: [.real(1)]) == one)
    #expect(
      RecordName.make(table: "t", key: [.real(-0.0)])
        == RecordName.make(table: "t", key: [.integer(0)])
    )
  }

  @Test("A key that is too long has a digest in its name", arguments: [253, 254, 300, 5000])
  func long(count: Int) throws {
    let key: [SQLiteValue] = [.text(String(repeating: "k", count: count))]
    let name = try #require(RecordName.make(table: "t", key: key))

    #expect(RecordRules.isName(name))
    #expect(RecordName.parse(name)?.key == (count <= 253 ? .values(key) : .digest))
    let other = [SQLiteValue.text(String(repeating: "k", count: count) + "l")]
    #expect(RecordName.make(table: "t", key: other) != name)
  }

  @Test("A table's name of any length up to the limit leaves room for a digest")
  func longTable() throws {
    let key: [SQLiteValue] = [.text(String(repeating: "é", count: 300))]
    let table = String(repeating: "t", count: 180)
    let name = try #require(RecordName.make(table: table, key: key))

    #expect(RecordRules.isName(name))
    #expect(RecordName.make(table: table + "t", key: key) == nil)
  }

  @Test(
    "Names that no row has are not read",
    arguments: [
      "", "a", "_a:t", "é:t", "a:1t", "~:cloudsync_x", "~i01:t", "~i:t", "~x:t", "~ta:t",
      "~tA%C3:t",
      "~r3ff0000000000000:t", "~b0:t", "~bAA:t", "~h12:t", "~n1:t", "~m41:t",
      "a:cloudsync_table_t", "a:cloudsync_table_ä", "a:cloudsync_table__4",
    ]
  )
  func foreign(name: String) {
    #expect(RecordName.parse(name) == nil)
  }

  @Test("Names of tables and columns come back out of the cloud's names")
  func names() throws {
    let names = [
      "title", "Title", "a_b", "a b", "a__b", "_a", "1a", "é", "e\u{301}", "", "cloudsync_time",
      "CloudSync_x", "cloudsync_column_a", "cloudsync_table_a", "parent", "recordName", "Users",
      "a-b",
      "a_2d_b", "sharè",
    ]
    for name in names {
      let field = try #require(CloudName.field(ofColumn: name))
      let type = try #require(CloudName.recordType(ofTable: name))
      #expect(RecordRules.isIdentifier(field) && RecordRules.isIdentifier(type))
      #expect(CloudName.column(ofField: field).map { Array($0.utf8) } == Array(name.utf8))
      #expect(CloudName.table(ofRecordType: type).map { Array($0.utf8) } == Array(name.utf8))
    }
    #expect(Set(names.map { CloudName.field(ofColumn: $0) }).count == names.count)
    #expect(CloudName.field(ofColumn: "a b") == "cloudsync_column_a_20b")
    #expect(CloudName.field(ofColumn: String(repeating: "a", count: 238)) == nil)
    #expect(CloudName.column(ofField: "cloudsync_time_a") == nil)
  }

  @Test("The schema's check rejects names that no spelling makes short enough")
  func tooLongNames() throws {
    let long = String(repeating: "é", count: 50)
    let database = try DatabaseFile(path: ":memory:")
    try database.execute(
      "CREATE TABLE '\(long)' (id TEXT PRIMARY KEY NOT NULL, '\(long)x', 'a b')"
    )

    let violations = try SyncEngine.check(database)

    #expect(violations.map(\.code) == [.invalidTableName, .invalidColumnName])
  }
}
