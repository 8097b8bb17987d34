import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

/// What `SET NULL` and `SET DEFAULT` write into rows is nobody's edit.
@Suite("References that SQLite clears while somebody edits them")
struct ReleasedReferenceTests {
  private static let start: Int64 = 1_700_000_000_000
  private static let tables = ["projects", "tasks"]

  private enum Action: String, CaseIterable {
    case setNull = "SET NULL", setDefault = "SET DEFAULT"
  }

  private static func schema(_ action: Action, key: String) -> String {
    """
    CREATE TABLE projects(id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE);
    CREATE TABLE tasks(
      id TEXT PRIMARY KEY NOT NULL,
      project TEXT DEFAULT 'none' REFERENCES projects(\(key))
        ON UPDATE \(action.rawValue) ON DELETE \(action.rawValue));
    """
  }

  private static var options: SyncEngineOptions {
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = .newest
    return options
  }

  private static let first = """
    INSERT INTO projects VALUES('Home', 'Home'), ('Work', 'Work'), ('none', 'none');
    INSERT INTO tasks VALUES('a', 'Home'), ('b', 'Home')
    """

  @Test(
    "An edit of another device stays, whichever came first",
    arguments: SuiteSize.pairs(2, [true, false], ["id", "name"])
  )
  func edited(isDeletion: Bool, key: String) throws {
    for action in Action.allCases {
      for isEnforced in [true, false] {
        for (isEditLast, isPhoneFirst) in SuiteSize.some(
          1,
          of: [(false, true), (true, true), (true, false), (false, false)]
        ) {
          let (bench, mac, phone) = try SyncHarness.pair(
            Self.schema(action, key: key),
            tables: Self.tables,
            options: Self.options,
            enforcesForeignKeys: isEnforced
          )
          try mac.execute(Self.first, at: Self.start)
          try bench.sync(mac, phone)
          let (early, late) = (Self.start + 60_000, Self.start + 120_000)
          try phone.execute(
            "UPDATE tasks SET project = 'Work' WHERE id = 'a'",
            at: isEditLast ? late : early
          )
          try mac.execute(
            isDeletion
              ? "DELETE FROM projects WHERE id = 'Home'"
              : "UPDATE projects SET \(key) = 'House' WHERE id = 'Home'",
            at: isEditLast ? early : late
          )
          if isPhoneFirst {
            try bench.sync(phone, mac, phone)
          } else {
            try bench.sync(mac, phone, mac)
          }

          let other = action == .setNull ? "NULL" : "'none'"
          let note = "\(action), \(isEnforced), \(isEditLast), \(isPhoneFirst)"
          for device in [mac, phone] {
            let tasks = try device.lines("SELECT * FROM tasks ORDER BY 1")
            #expect(tasks == ["'a'|'Work'", "'b'|\(other)"], "\(device.name), \(note)")
            #expect(try bench.unclean(device) == [], "\(device.name), \(note)")
          }
        }
      }
    }
  }

  @Test("What somebody clears before the row goes is an edit", arguments: [true, false])
  func clearedByHand(isDeletion: Bool) throws {
    let (bench, mac, phone) = try SyncHarness.pair(
      Self.schema(.setNull, key: "id"),
      tables: Self.tables,
      options: Self.options
    )
    try mac.execute(Self.first, at: Self.start)
    try bench.sync(mac, phone)
    try phone.execute("UPDATE tasks SET project = 'Work'", at: Self.start + 60_000)
    try mac.execute("UPDATE tasks SET project = NULL WHERE id = 'a'", at: Self.start + 120_000)
    try mac.execute(
      isDeletion
        ? "DELETE FROM projects WHERE id = 'Home'"
        : "UPDATE projects SET id = 'House' WHERE id = 'Home'",
      at: Self.start + 120_000
    )
    try bench.sync(mac, phone, mac)

    for device in [mac, phone] {
      let tasks = try device.lines("SELECT * FROM tasks ORDER BY 1")
      #expect(tasks == ["'a'|NULL", "'b'|'Work'"], "\(device.name)")
    }
  }
}
