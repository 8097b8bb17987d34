import CloudSyncTestSupport
import Testing

@testable import CloudSyncSQLite

/// What `ON UPDATE CASCADE` writes into rows is nobody's edit.
@Suite("References that follow a key while somebody edits them")
struct CascadeEditTests {
  static let policies = SuiteSize.some(1, of: [DeletePolicy.deleteWins, .editWins])

  private func expect(_ steps: [[CascadeStep]], _ script: CascadeScript) throws {
    for made in SuiteSize.some(2, of: RenameScript.orders(of: steps.count)) {
      for synchronized in SuiteSize.some(2, of: RenameScript.orders(of: steps.count)) {
        var script = script
        (script.made, script.synchronized) = (made, synchronized)
        let error = try script.error()
        #expect(error == nil, "\(steps) made by \(made), synchronized by \(synchronized)")
      }
    }
  }

  private static let pairs: [[[CascadeStep]]] = [
    [[.rename], [.move]], [[.rename, .renameAgain], [.move]], [[.rename], [.editTitle]],
    [[.rename], [.renameOtherwise]], [[.move, .rename], [.moveElsewhere]],
    [[.rename, .moveElsewhere], [.move]], [[.moveElsewhere, .moveBack, .rename], [.move]],
    [[.rename, .moveElsewhere, .moveBack, .renameAgain], [.move]],
  ]

  @Test(
    "A key that two devices change, and a reference that one of them edits",
    arguments: SuiteSize.pairs(2, CascadeScript.schemas, policies)
  )
  func twoDevices(schema: String, deletes: DeletePolicy) throws {
    for steps in SuiteSize.some(1, of: Self.pairs) {
      let script = CascadeScript(
        schema: schema,
        steps: steps,
        made: [],
        synchronized: [],
        deletes: deletes
      )
      try expect(steps, script)
    }
  }

  @Test(
    "The same where the engine does the actions",
    arguments: policies
  )
  func unenforced(deletes: DeletePolicy) throws {
    for steps in SuiteSize.some(1, of: Self.pairs) {
      let script = CascadeScript(
        steps: steps,
        made: [],
        synchronized: [],
        deletes: deletes,
        isEnforced: false
      )
      try expect(steps, script)
    }
  }

  @Test("Three devices, in all orders", arguments: policies)
  func threeDevices(deletes: DeletePolicy) throws {
    let triples: [[[CascadeStep]]] = [
      [[.rename], [.move], [.moveElsewhere]], [[.rename], [.move], [.renameOtherwise]],
      [[.rename, .renameAgain], [.editTitle], [.renameOtherwise]],
    ]
    for steps in SuiteSize.some(1, of: triples) {
      let script = CascadeScript(steps: steps, made: [], synchronized: [], deletes: deletes)
      try expect(steps, script)
    }
  }

  #if DEBUG  // a release has no place where a mistake can be put
  @Test("Taken for an edit, what follows a key would undo what another device has edited")
  func mistake() throws {
    let script = CascadeScript(steps: [[.rename], [.move]], made: [1, 0], synchronized: [0, 1])
    let error = try RecordMutation.$takesCascadesAsEdits.withValue(true) { try script.error() }
    #expect(error != nil)
  }
  #endif

  // MARK: Other rows

  private static func tables(_ steps: String) -> String {
    """
    CREATE TABLE projects(name TEXT PRIMARY KEY NOT NULL);
    CREATE TABLE tasks(
      id TEXT PRIMARY KEY NOT NULL, project TEXT REFERENCES projects ON UPDATE CASCADE);
    \(steps)
    """
  }

  private static let first = """
    INSERT INTO projects VALUES('Home'), ('Work'); INSERT INTO tasks VALUES('a', 'Home');
    """

  @Test(
    "A row whose own key changes after that of the row that it refers to",
    arguments: [true, false]
  )
  func renamedChild(isFirst: Bool) throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.tables(""), tables: CascadeScript.tables)
    try mac.execute(Self.first, at: CascadeScript.start)
    try bench.sync(mac, phone)

    try phone.execute("UPDATE tasks SET project = 'Work'", at: CascadeScript.start + 60_000)
    let changes = [
      "UPDATE projects SET name = 'House' WHERE name = 'Home'", "UPDATE tasks SET id = 'b'",
    ]
    for (place, sql) in (isFirst ? changes : changes.reversed()).enumerated() {
      try mac.execute(sql, at: CascadeScript.start + 120_000 + Int64(place) * 60_000)
    }
    try bench.sync(mac, phone, mac)

    for device in [mac, phone] {
      let tasks = try device.lines("SELECT * FROM tasks")
      #expect(tasks == ["'b'|'Work'"], "\(device.name)")
    }
  }

  @Test("Rows that were there before any engine")
  func foundRows() throws {
    let schema = Self.tables(Self.first)
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: CascadeScript.tables)
    try phone.execute("UPDATE tasks SET project = 'Work'", at: CascadeScript.start)
    try mac.execute(
      "UPDATE projects SET name = 'House' WHERE name = 'Home'",
      at: CascadeScript.start + 60_000
    )
    try bench.sync(mac, phone, mac)

    for device in [mac, phone] {
      let tasks = try device.lines("SELECT * FROM tasks")
      #expect(tasks == ["'a'|'Work'"], "\(device.name)")
    }
  }

  @Test("A row that refers to another one of its table")
  func selfReference() throws {
    let schema = """
      CREATE TABLE nodes(
        name TEXT PRIMARY KEY NOT NULL, parent TEXT REFERENCES nodes ON UPDATE CASCADE);
      """
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["nodes"])
    try mac.execute(
      "INSERT INTO nodes VALUES('r', NULL), ('s', NULL), ('a', 'r'), ('b', 'r')",
      at: CascadeScript.start
    )
    try bench.sync(mac, phone)

    try phone.execute(
      "UPDATE nodes SET parent = 's' WHERE name = 'a'",
      at: CascadeScript.start + 60_000
    )
    try mac.execute(
      "UPDATE nodes SET name = 'q' WHERE name = 'r'",
      at: CascadeScript.start + 120_000
    )
    try bench.sync(mac, phone, mac)

    for device in [mac, phone] {
      let nodes = try device.lines("SELECT * FROM nodes ORDER BY 1")
      #expect(nodes == ["'a'|'s'", "'b'|'q'", "'q'|NULL", "'s'|NULL"], "\(device.name)")
    }
  }

  @Test("A key of two columns, of which one changes", arguments: [true, false])
  func compoundKey(isMoveLast: Bool) throws {
    let schema = """
      CREATE TABLE projects(team TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY(team, name));
      CREATE TABLE tasks(
        id TEXT PRIMARY KEY NOT NULL, team TEXT, project TEXT,
        FOREIGN KEY(team, project) REFERENCES projects(team, name) ON UPDATE CASCADE);
      """
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: CascadeScript.tables)
    try mac.execute(
      """
      INSERT INTO projects VALUES('x', 'Home'), ('y', 'Work'), ('y', 'Home');
      INSERT INTO tasks VALUES('a', 'x', 'Home'), ('b', 'x', 'Home'), ('c', 'x', 'Home')
      """,
      at: CascadeScript.start
    )
    try bench.sync(mac, phone)

    let (early, late) = (CascadeScript.start + 60_000, CascadeScript.start + 120_000)
    try phone.execute(
      """
      UPDATE tasks SET team = 'y', project = 'Work' WHERE id = 'a';
      UPDATE tasks SET team = 'y' WHERE id = 'b'
      """,
      at: isMoveLast ? late : early
    )
    try mac.execute(
      "UPDATE projects SET name = 'House' WHERE team = 'x'",
      at: isMoveLast ? early : late
    )
    try bench.sync(mac, phone, mac)

    for device in [mac, phone] {
      let tasks = try device.lines("SELECT * FROM tasks ORDER BY 1")
      #expect(
        tasks == ["'a'|'y'|'Work'", "'b'|'y'|'Home'", "'c'|'x'|'House'"],
        "\(device.name)"
      )
    }
  }

  @Test("A row that is deleted where its reference has followed, and edited elsewhere")
  func deletedChild() throws {
    var options = SyncEngineOptions()
    options.defaultTable.merging.deletes = .editWins
    let (bench, mac, phone) = try SyncHarness.pair(
      Self.tables(""),
      tables: CascadeScript.tables,
      options: options
    )
    try mac.execute(Self.first, at: CascadeScript.start)
    try bench.sync(mac, phone)

    try phone.execute("UPDATE tasks SET project = 'Work'", at: CascadeScript.start + 60_000)
    try mac.execute(
      "UPDATE projects SET name = 'House' WHERE name = 'Home'",
      at: CascadeScript.start + 120_000
    )
    try mac.execute("DELETE FROM tasks", at: CascadeScript.start + 180_000)
    try bench.sync(mac, phone, mac)

    for device in [mac, phone] {
      let tasks = try device.lines("SELECT * FROM tasks")
      #expect(tasks == ["'a'|'Work'"], "\(device.name)")
    }
  }
}
