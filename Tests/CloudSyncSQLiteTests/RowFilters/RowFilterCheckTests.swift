import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSchema
import Testing

@Suite("What a row filter may be")
struct RowFilterCheckTests {
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL);
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id), title TEXT COLLATE NOCASE,
      size INTEGER, made TEXT, seen INTEGER, short TEXT AS (substr(title, 1, 3)), "two words" TEXT
    )
    """

  private func violations(_ filter: String) throws -> [SchemaViolation] {
    let database = try DatabaseFile(path: ":memory:")
    try database.execute(Self.schema)
    var options = SyncEngineOptions()
    options.tables["notes"] = SyncEngineOptions.Table()
    options.tables["notes"]?.localColumns = ["seen"]
    options.tables["notes"]?.rowFilter = filter
    let violations = try SyncEngine.check(database, tables: ["lists", "notes"], options: options)
    let bench = SyncHarness()
    let isRefused = violations.contains { !$0.isWarning }
    do {
      _ = try bench.engine("mac", database, ["lists", "notes"], options)
      #expect(!isRefused)
    } catch { #expect(isRefused, "\(error)") }
    return violations.filter { $0.code == .rowFilter }
  }

  @Test(
    "Conditions over the row's own columns are",
    arguments: [
      "size > 3", "notes.title = 'x' OR list IS NULL", "short IN ('a', 'b')",
      "\"two words\" LIKE 'a%'",
      "json_valid(title) AND json_extract(title, '$.a') = 1", "made >= '2020-01-01'",
      "date(made) > '2020'", "1",
      "size -- the size", "[title] || `list` <> ''", "(size) = (3)", "length(title) > 2 /* long */",
    ]
  )
  func allowed(filter: String) throws { #expect(try violations(filter) == []) }

  @Test(
    "One that fails for some rows is told of",
    arguments: [
      ("json_extract(title, '$.a') = 1", "a row whose \"title\" is '': malformed JSON"),
      ("size IS NULL OR abs(size) < 5", "integer overflow"),
    ]
  )
  func hazard(filter: String, reason: String) throws {
    let warnings = try violations(filter)
    #expect(warnings.count { !$0.isWarning } == 0)
    #expect(warnings.contains { $0.reason.contains(reason) })
  }

  @Test(
    "Others are not, and the reason says why",
    arguments: [
      ("", "it is empty"), ("-- nothing", "it is empty"), ("size >", "syntax error"),
      ("none = 1", "no such column: none"), ("lists.id = 1", "no such column: lists.id"),
      ("size > (SELECT 1)", "subqueries"), ("EXISTS(SELECT 1 FROM lists)", "subqueries"),
      ("id IN lists", "subqueries"), ("size > ?1", "a parameter, ?1"),
      ("size > :n", "a parameter, :n"),
      ("count(*) > 1", "misuse of aggregate"),
      ("row_number() OVER () = 1", "misuse of window function"),
      ("random() > 0", "non-deterministic"), ("made > CURRENT_DATE", "non-deterministic"),
      ("made > date('now')", "depends on the time"),
      ("made > date ( 'NOW', '-1 day')", "depends on the time"),
      ("unixepoch() > size", "depends on the time"),
      ("time(made, 'localtime') > ''", "depends on the time"),
      ("title = \"open\"", "there is no column \"open\""),
      ("seen = 0", "column \"seen\" stays on this device"),
      ("1) OR (1", "not one expression"), ("size = 1; DROP TABLE notes", "not one expression"),
      ("(size", "not one expression"), ("rowid = 1", "no such column: rowid"),
      ("uuid() = id", "no such function: uuid"), ("title REGEXP 'a'", "no such function: REGEXP"),
      ("raise(ABORT, 'no')", "RAISE() may only be used"), ("title MATCH 'a'", ""),
      ("'open", "no SQL"),
    ]
  )
  func refused(filter: String, reason: String) throws {
    let found = try violations(filter)
    #expect(found.count == 1)
    #expect(found.first?.table == "notes")
    #expect(found.first?.isWarning == false)
    let text = found.first?.reason ?? ""
    #expect(text.contains(reason), "\(text)")
    #expect(text.hasPrefix("The row filter “\(filter)” of \"notes\" cannot be used: "), "\(text)")
    #expect(text.hasSuffix("."))
  }

  @Test("A table whose rows refer to filtered ones is named, as a warning")
  func children() throws {
    let database = try DatabaseFile(path: ":memory:")
    try database.execute(Self.schema)
    var options = SyncEngineOptions()
    options.tables["lists"] = SyncEngineOptions.Table()
    options.tables["lists"]?.rowFilter = "id <> ''"
    let found = try SyncEngine.check(database, tables: ["lists", "notes"], options: options)
      .filter { $0.code == .rowFilter }
    #expect(found.map(\.table) == ["notes"])
    #expect(found.allSatisfy { $0.isWarning })
  }
}
