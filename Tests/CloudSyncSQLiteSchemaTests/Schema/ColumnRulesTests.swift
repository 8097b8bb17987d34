import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncSQLiteSchema

@Suite("SchemaRules.violations, columns")
struct ColumnRulesTests {
  @Test("Columns whose names differ in Unicode form alone are rejected, both named by their bytes")
  func unicodeForms() throws {
    let violations = try violations(
      """
      CREATE TABLE "na\u{ef}ve" (id TEXT PRIMARY KEY NOT NULL, "caf\u{e9}" TEXT, "cafe\u{301}" INT,
        "CAF\u{c9}" TEXT, "caf\u{e8}" AS (1))
      """
    )

    #expect(violations.map(\.code) == [.ambiguousColumnName])
    #expect(violations.map(\.isWarning) == [false])
    let violation = try #require(violations.first)
    #expect(violation.column.map { Array($0.utf8) } == Array("cafe\u{301}".utf8))
    for words in ["\"na\u{ef}ve\"", "636166c3a9", "63616665cc81", "rename one"] {
      #expect(violation.reason.contains(words), "\(words) in \(violation.reason)")
    }
  }

  @Test("Tables that are called as triggers call a new row, or alike but for Unicode, are rejected")
  func tableNames() throws {
    let columns = "(id TEXT PRIMARY KEY NOT NULL, v TEXT)"
    let found = try violations(
      """
      CREATE TABLE "New" \(columns); CREATE TABLE old \(columns); CREATE TABLE news \(columns);
      CREATE TABLE "caf\u{e9}" \(columns); CREATE TABLE "cafe\u{301}" \(columns)
      """
    )
    #expect(found.map(\.code) == Array(repeating: .ambiguousTableName, count: 3))
    #expect(found.filter(\.isWarning) == [])
    #expect(found.map(\.reason).filter { $0.contains("as triggers call a row") }.count == 1)
    #expect(found.map(\.reason).filter { $0.contains("63616665cc81") }.count == 2)
  }

  @Test("A key's column has a type; one of any other column may be missing")
  func keyTypes() throws {
    let violations = try violations(
      """
      CREATE TABLE a (id PRIMARY KEY NOT NULL, x);
      CREATE TABLE b (x TEXT NOT NULL, y NOT NULL, PRIMARY KEY (x, y)) WITHOUT ROWID;
      CREATE TABLE c (id ANY PRIMARY KEY NOT NULL) STRICT;
      CREATE TABLE d (id ANY PRIMARY KEY NOT NULL); CREATE TABLE e (id BLOB PRIMARY KEY NOT NULL)
      """
    )

    #expect(violations.map(\.code) == Array(repeating: .untypedPrimaryKey, count: 3))
    #expect(violations.map(\.table) == ["a", "b", "c"])
    #expect(violations.map(\.column) == ["id", "y", "id"])
    #expect(violations.filter(\.isWarning) == [])
    #expect(violations[1].reason.contains("\"b\".\"y\""))
    #expect(violations[1].reason.contains("has no type"))
    #expect(violations[2].reason.contains("is of type ANY"))
    #expect(violations[2].reason.contains("declare what it holds, such as TEXT"))
  }

  @Test("A column of the key has the key's collation, which is to stand at the column")
  func collations() throws {
    let violations = try violations(
      """
      CREATE TABLE a(id TEXT NOT NULL, PRIMARY KEY(id COLLATE NOCASE));
      CREATE TABLE b(x TEXT NOT NULL, y TEXT NOT NULL COLLATE NOCASE, PRIMARY KEY(x, y COLLATE BINARY)) WITHOUT ROWID;
      CREATE TABLE c(id TEXT PRIMARY KEY NOT NULL COLLATE RTRIM);
      CREATE TABLE d(id TEXT NOT NULL COLLATE nocase, n INT NOT NULL, PRIMARY KEY(n, id COLLATE NOCASE))
      """
    )

    #expect(violations.map(\.code) == [.keyCollation, .keyCollation])
    #expect(violations.map(\.table) == ["a", "b"])
    #expect(violations.map(\.column) == ["id", "y"])
    #expect(violations.filter(\.isWarning) == [])
  }

  @Test(
    "A table has no more columns than edits can be watched of; the key's cost some",
    arguments: [
      ("id TEXT PRIMARY KEY NOT NULL", 495), ("id TEXT PRIMARY KEY", 494),
      ("id TEXT NOT NULL, b TEXT NOT NULL, PRIMARY KEY (id, b)", 493),
      ("id TEXT, b TEXT, PRIMARY KEY (id, b)", 492),
    ]
  )
  func count(key: String, limit: Int) throws {
    let parts = key.split(separator: ", PRIMARY")
    let columns = parts[0].split(separator: ", ").map(String.init)
    func violations(count: Int) throws -> [SchemaViolation] {
      let others = (columns.count..<count).map { "c\($0) TEXT" } + ["g INT AS (1)"]
      let rules = parts.dropFirst().map { "PRIMARY\($0)" }
      let list = (columns + others + rules).joined(separator: ", ")
      return try self.violations("CREATE TABLE wide (\(list))").filter { !$0.isWarning }
    }

    #expect(try violations(count: limit) == [])
    let violation = try #require(try violations(count: limit + 1).first)
    #expect(violation.code == .tooManyColumns)
    #expect(violation.column == nil)
    #expect(
      violation.reason
        == "Table \"wide\" has \(limit + 1) columns, and the edits of at most \(limit) can be watched"
        + " with this key; move some of them, beginning with \"c\(limit)\", to another table."
    )
  }

  @Test("A key of very many columns is rejected like any table of so many")
  func wideKeys() throws {
    let names = (0..<700).map { "c\($0)" }
    let columns =
      names.map { "\($0) TEXT NOT NULL" } + ["PRIMARY KEY (\(names.joined(separator: ",")))"]
    let violations = try violations("CREATE TABLE t (\(columns.joined(separator: ", ")))")

    #expect(violations.filter { $0.code == .tooManyColumns }.count == 1)
  }

  @Test("Defaults that are computed are warned of, on all columns but the key's")
  func defaults() throws {
    let violations = try violations(
      """
      CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL DEFAULT (lower(hex(randomblob(16)))),
        a DEFAULT 1, b DEFAULT -1.5, c DEFAULT 'it''s', d DEFAULT x'00', e DEFAULT NULL, f DEFAULT TRUE,
        g DEFAULT ((+2)), h DEFAULT word, i DEFAULT "quoted", j AS (abs(k)), k,
        z1 DEFAULT (randomblob(16)), z2 DEFAULT CURRENT_TIMESTAMP, z3 DEFAULT (current_time),
        z4 TEXT NOT NULL DEFAULT (date('now')), z5 DEFAULT (1 + 1), z6 DEFAULT (-(1)))
      """
    )

    #expect(violations.map(\.code) == Array(repeating: .computedDefault, count: 6))
    #expect(violations.map(\.column) == ["z1", "z2", "z3", "z4", "z5", "z6"])
    #expect(violations.filter(\.isWarning) == violations)
    #expect(violations[0].reason.contains("\"t\".\"z1\""))
    let uuid = try self.violations(
      "CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid()), x DEFAULT (uuid()))"
    )
    #expect(uuid.map(\.code) == [.uuidFunctionMissing, .uuidFunctionMissing, .computedDefault])
  }

  private func violations(_ sql: String) throws -> [SchemaViolation] {
    let connection = try SQLiteConnection(path: ":memory:")
    try connection.execute(sql)
    let schema = try DatabaseSchema.read(connection)
    return SchemaRules.violations(in: schema, tables: schema.tables.map(\.name))
  }
}
