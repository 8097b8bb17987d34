import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

/// A reference is to the row that it was made of, whoever has its key later.
@Suite("References to rows whose keys are given to other rows elsewhere")
struct SwappedParentTests {
  private static let start: Int64 = 1_700_000_000_000
  private static let tables = ["projects", "tasks"]

  private static func schema(_ action: String) -> String {
    """
    CREATE TABLE projects(id TEXT PRIMARY KEY NOT NULL, t TEXT);
    CREATE TABLE tasks(
      id TEXT PRIMARY KEY NOT NULL, project TEXT REFERENCES projects ON UPDATE \(action), t TEXT);
    """
  }

  /// What a device does with keys; where it ends is what the project of the title "one" is called then.
  private enum Change: CaseIterable {
    case rename, swap, newRow, rotate, leave

    var sql: String {
      let swap = """
        UPDATE projects SET id = '-' WHERE id = '1'; UPDATE projects SET id = '1' WHERE id = '2';
        UPDATE projects SET id = '2' WHERE id = '-'
        """
      return switch self {
      case .rename: "UPDATE projects SET id = '9' WHERE id = '1'"
      case .swap: swap
      case .newRow:
        "UPDATE projects SET id = '9' WHERE id = '1'; INSERT INTO projects VALUES('1', 'new')"
      case .rotate:
        "UPDATE projects SET id = '9' WHERE id = '1'; UPDATE projects SET id = '1' WHERE id = '2'"
      // Nobody has the key any more, and who had it last goes on under another one.
      case .leave: "\(swap); UPDATE projects SET id = '7' WHERE id = '1'"
      }
    }
  }

  /// A task of each project.
  private static let rows = """
    INSERT INTO projects VALUES('1', 'one'), ('2', 'two');
    INSERT INTO tasks VALUES('a', '1', 'one'), ('b', '2', 'two')
    """

  private func expectOwners(
    _ bench: SyncHarness,
    _ devices: [SyncHarness.Device],
    _ note: String
  ) throws {
    for device in devices {
      let strangers = try device.lines(
        """
        SELECT tasks.id, tasks.t, projects.t FROM tasks LEFT JOIN projects ON projects.id = project
        WHERE tasks.t IS NOT projects.t
        """
      )
      #expect(strangers == [], "\(device.name), \(note)")
      #expect(try device.lines("SELECT count(*) FROM tasks") == ["3"], "\(device.name), \(note)")
      #expect(try bench.unclean(device) == [], "\(device.name), \(note)")
    }
  }

  private func check(
    _ change: Change,
    _ edit: String,
    isEditLast: Bool,
    order: [Int],
    action: String = "CASCADE"
  ) throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema(action), tables: Self.tables)
    let watch = try bench.device("watch", Self.schema(action), tables: Self.tables)
    try mac.execute(Self.rows, at: Self.start)
    try bench.sync(mac, phone, watch)
    let (early, late) = (Self.start + 60_000, Self.start + 120_000)
    try mac.execute(change.sql, at: isEditLast ? early : late)
    try phone.execute(edit, at: isEditLast ? late : early)
    for number in order + order { try bench.sync([mac, phone, watch][number]) }
    // Who comes later has it from the cloud alone.
    let new = try bench.device("new", Self.schema(action), tables: Self.tables)
    try bench.sync(new)

    let note = "\(change), \(edit), \(isEditLast), \(order)"
    try expectOwners(bench, [mac, phone, watch, new], note)
    let owners = try [phone, watch, new].map { try $0.lines("SELECT * FROM tasks ORDER BY id") }
    let own = try mac.lines("SELECT * FROM tasks ORDER BY id")
    #expect(owners == [own, own, own], "\(note)")
  }

  private static let orders = [
    [0, 1, 2], [1, 0, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1], [2, 0, 1],
  ]

  @Test("A row that is added to the one that had the key", arguments: [true, false])
  func addedChild(isEditLast: Bool) throws {
    for change in SuiteSize.some(2, of: Change.allCases) {
      for order in SuiteSize.some(1, of: Self.orders) {
        let edit = "INSERT INTO tasks VALUES('c', '1', 'one')"
        try check(change, edit, isEditLast: isEditLast, order: order)
      }
    }
  }

  @Test("A row that is moved there", arguments: [true, false])
  func movedChild(isEditLast: Bool) throws {
    for change in SuiteSize.some(2, of: Change.allCases) {
      for order in SuiteSize.some(1, of: Self.orders) {
        let edit = """
          INSERT INTO tasks VALUES('c', NULL, NULL);
          UPDATE tasks SET project = '1', t = 'one' WHERE id IN ('b', 'c')
          """
        try check(change, edit, isEditLast: isEditLast, order: order)
      }
    }
  }

  @Test("A row that is sent before its device hears of the change, by who does not come back")
  func silentDevice() throws {
    for change in Change.allCases {
      let (bench, mac, phone) = try SyncHarness.pair(Self.schema("CASCADE"), tables: Self.tables)
      try mac.execute(Self.rows, at: Self.start)
      try bench.sync(mac, phone)
      try mac.execute(change.sql, at: Self.start + 60_000)
      try phone.execute("INSERT INTO tasks VALUES('c', '1', 'one')", at: Self.start + 120_000)
      try bench.sync(phone)
      phone.engine.stop()
      try bench.sync(mac)
      let new = try bench.device("new", Self.schema("CASCADE"), tables: Self.tables)
      try bench.sync(new)

      try expectOwners(bench, [mac, new], "\(change)")
    }
  }

  @Test("A row that is added to the one that has the key now stays with it")
  func ownChild() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema("CASCADE"), tables: Self.tables)
    try mac.execute(Self.rows, at: Self.start)
    try bench.sync(mac, phone)
    try mac.execute(Change.swap.sql, at: Self.start + 60_000)
    try mac.execute("INSERT INTO tasks VALUES('c', '1', 'two')", at: Self.start + 60_000)
    // The row that has the key comes after its task.
    try bench.sync(mac)
    try mac.execute("UPDATE projects SET t = t", at: Self.start + 120_000)
    try bench.sync(mac, phone, mac)

    try expectOwners(bench, [mac, phone], "swap")
  }

  @Test("Rows that were there before any engine", arguments: [true, false])
  func foundRows(isEditLast: Bool) throws {
    let schema = """
      \(Self.schema("CASCADE"))
      \(Self.rows);
      """
    for order in SuiteSize.some(2, of: [[0, 1], [1, 0]]) {
      let (bench, mac, phone) = try SyncHarness.pair(schema, tables: Self.tables)
      try bench.sync(mac, phone)
      let (early, late) = (Self.start + 60_000, Self.start + 120_000)
      try mac.execute(Change.swap.sql, at: isEditLast ? early : late)
      try phone.execute(
        "INSERT INTO tasks VALUES('c', '1', 'one')",
        at: isEditLast ? late : early
      )
      for number in order + order { try bench.sync([mac, phone][number]) }

      try expectOwners(bench, [mac, phone], "\(order)")
    }
  }

  @Test("Rows whose own key contains the reference", arguments: [true, false])
  func referenceInKey(isEditLast: Bool) throws {
    let schema = """
      CREATE TABLE orders(id TEXT PRIMARY KEY NOT NULL, t TEXT);
      CREATE TABLE lines(
        "order" TEXT NOT NULL REFERENCES orders ON UPDATE CASCADE, number INTEGER NOT NULL, t TEXT,
        PRIMARY KEY("order", number));
      """
    for order in SuiteSize.some(2, of: [[0, 1], [1, 0]]) {
      let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["orders", "lines"])
      try mac.execute(
        """
        INSERT INTO orders VALUES('1', 'one'), ('2', 'two');
        INSERT INTO lines VALUES('1', 1, 'one'), ('2', 1, 'two')
        """,
        at: Self.start
      )
      try bench.sync(mac, phone)
      let swap = """
        UPDATE orders SET id = '-' WHERE id = '1'; UPDATE orders SET id = '1' WHERE id = '2';
        UPDATE orders SET id = '2' WHERE id = '-'
        """
      let (early, late) = (Self.start + 60_000, Self.start + 120_000)
      try mac.execute(swap, at: isEditLast ? early : late)
      try phone.execute("INSERT INTO lines VALUES('1', 3, 'one')", at: isEditLast ? late : early)
      for number in order + order { try bench.sync([mac, phone][number]) }

      for device in [mac, phone] {
        let lines = try device.lines("SELECT * FROM lines ORDER BY 1, 2")
        #expect(lines == ["'1'|1|'two'", "'2'|1|'one'", "'2'|3|'one'"], "\(device.name), \(order)")
        #expect(try bench.unclean(device) == [], "\(device.name), \(order)")
      }
    }
  }

  @Test(
    "A task goes along with its project that two devices had given one key before it got another"
  )
  func givenOnceMore() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema("CASCADE"), tables: Self.tables)
    try mac.execute(Self.rows, at: Self.start)
    try bench.sync(mac, phone)
    try mac.execute(Change.rename.sql, at: Self.start + 60_000)
    try mac.execute("INSERT INTO tasks VALUES('c', '9', 'one')", at: Self.start + 61_000)
    try phone.execute(Change.rename.sql, at: Self.start + 90_000)
    try bench.sync(phone)
    try phone.execute(
      "UPDATE projects SET id = '7' WHERE id = '9'; UPDATE projects SET id = '9' WHERE id = '2'",
      at: Self.start + 120_000
    )
    try bench.sync(phone, mac, phone)
    try expectOwners(bench, [mac, phone], "the project of one is 7")
    #expect(try phone.lines("SELECT project FROM tasks WHERE id = 'c'") == ["'7'"])
  }
}
