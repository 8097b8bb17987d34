import CloudSyncSQLite
import Testing

@Suite("Tables with many columns")
struct ColumnLimitTests {
  private static let compound = "PRIMARY KEY(id, c1, c2, c3, c4, c5, c6, c7)"

  private func schema(_ count: Int, id: String, rules: String) -> String {
    let columns = (1..<count).map { "c\($0) TEXT" }.joined(separator: ", ")
    return "CREATE TABLE t(id TEXT \(id), \(columns)\(rules))"
  }

  private static var options: SyncEngineOptions {
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = .newest
    return options
  }

  @Test(
    "As many columns as the check allows are synchronized; one more is rejected by table and number",
    arguments: [
      ("PRIMARY KEY NOT NULL", "", 495, true), ("PRIMARY KEY", "", 494, true),
      ("PRIMARY KEY NOT NULL", ", UNIQUE(c1, c2)", 495, true),
      ("PRIMARY KEY NOT NULL REFERENCES t", "", 495, false), ("", ", \(compound)", 483, true),
      ("", ", \(compound)) WITHOUT ROWID --", 487, true),
    ]
  )
  func limit(id: String, rules: String, count: Int, enforcesForeignKeys: Bool) throws {
    let (bench, mac, phone) = try SyncHarness.pair(
      schema(count, id: id, rules: rules) + "\n",
      tables: ["t"],
      options: Self.options,
      enforcesForeignKeys: enforcesForeignKeys
    )
    let values = ["'a'"] + (1..<count).map { "'\($0)'" }
    try mac.execute("INSERT INTO t VALUES(\(values.joined(separator: ", ")))")
    try bench.sync(mac, phone)
    try phone.execute("UPDATE t SET c9 = 'x', c\(count - 1) = 'y'")
    try bench.sync(phone, mac)

    #expect(try mac.lines("SELECT c8, c9, c\(count - 1) FROM t") == ["'8'|'x'|'y'"])
    #expect(try mac.lines("SELECT * FROM t") == phone.lines("SELECT * FROM t"))
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])

    let error = #expect(throws: SyncEngineError.self) {
      try bench.device("tablet", schema(count + 1, id: id, rules: rules) + "\n", tables: ["t"])
        .engine.start()
    }
    #expect(error?.code == .schema)
    #expect(
      error?.reason.contains("Table \"t\" has \(count + 1) columns") == true,
      "\(error as Any)"
    )
  }
}
