import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

/// What one device does to a parent whose children another one has.
struct DeletedParentCase: Sendable, CustomTestStringConvertible {
  let action: String
  let macEnforces: Bool
  let phoneEnforces: Bool
  let phoneSendsFirst: Bool

  static let all: [DeletedParentCase] = {
    var cases: [DeletedParentCase] = []
    for action in ["CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT", "NO ACTION"] {
      for bits in 0..<8 {
        cases.append(
          DeletedParentCase(
            action: action,
            macEnforces: bits & 1 != 0,
            phoneEnforces: bits & 2 != 0,
            phoneSendsFirst: bits & 4 != 0
          )
        )
      }
    }
    return cases
  }()

  var testDescription: String {
    "\(action), mac \(macEnforces ? "on" : "off"), phone \(phoneEnforces ? "on" : "off"), "
      + "\(phoneSendsFirst ? "children" : "deletion") first"
  }

  var schema: String {
    """
    CREATE TABLE parents(id TEXT PRIMARY KEY NOT NULL, title TEXT, body BLOB, stars INTEGER);
    CREATE TABLE children(
      id TEXT PRIMARY KEY NOT NULL,
      parent TEXT DEFAULT 'd' REFERENCES parents(id) ON DELETE \(action),
      title TEXT
    );
    INSERT INTO parents(id) VALUES('d');
    """
  }
}

@Suite("A parent that is deleted elsewhere")
struct DeletedParentTests {
  private static let tables = ["parents", "children"]
  private static let parents = "SELECT * FROM parents ORDER BY id"
  private static let children = "SELECT id, parent FROM children ORDER BY id"

  /// Two devices with a parent; the phone has a child of it that it has not sent, and the mac has
  /// deleted the parent.
  private func meet(
    _ one: DeletedParentCase,
    _ orphans: OrphanPolicy = .restoreParent
  ) throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    let bench = SyncHarness()
    var options = SyncEngineOptions()
    options.defaultTable.orphans = orphans
    let mac = try bench.device(
      "mac",
      one.schema,
      tables: Self.tables,
      options: options,
      enforcesForeignKeys: one.macEnforces
    )
    let phone = try bench.device(
      "phone",
      one.schema,
      tables: Self.tables,
      options: options,
      enforcesForeignKeys: one.phoneEnforces
    )
    try mac.execute("INSERT INTO parents VALUES('p', 'Tea', x'00ff', 5)")
    if !["RESTRICT", "NO ACTION"].contains(one.action) {
      try mac.execute("INSERT INTO children VALUES('a', 'p', 'Both have it')")
    }
    try bench.sync(mac, phone, mac)
    try phone.execute("INSERT INTO children VALUES('b', 'p', 'Of the phone')")
    try phone.execute("UPDATE parents SET stars = 6 WHERE id = 'p'")
    try mac.execute("DELETE FROM parents WHERE id = 'p'")
    if one.phoneSendsFirst {
      try bench.sync(phone, mac, phone)
    } else {
      try bench.sync(mac, phone, mac)
    }
    return (bench, mac, phone)
  }

  private func check(
    _ bench: SyncHarness,
    _ devices: [SyncHarness.Device],
    parents: [String],
    children: [String]
  ) throws {
    for device in devices {
      #expect(try device.lines(Self.parents) == parents, "\(device.name)")
      #expect(try device.lines(Self.children) == children, "\(device.name)")
      #expect(try bench.unclean(device) == [], "\(device.name)")
      #expect(try device.engine.danglingReferences() == [], "\(device.name)")
      #expect(try device.lines("SELECT * FROM cloudsync_outbox") == [], "\(device.name)")
    }
  }

  private static let other = "'d'|NULL|NULL|NULL"

  @Test(
    "Its children do as the foreign key says, on every device, enforced or not, in every order",
    arguments: SuiteSize.some(2, of: DeletedParentCase.all)
  )
  func action(one: DeletedParentCase) throws {
    let (bench, mac, phone) = try meet(one)

    let kept = one.action == "RESTRICT" || one.action == "NO ACTION"
    let children: [String] =
      switch one.action {
      case "CASCADE": []
      case "SET NULL": ["'a'|NULL", "'b'|NULL"]
      case "SET DEFAULT": ["'a'|'d'", "'b'|'d'"]
      default: ["'b'|'p'"]
      }
    let parents = kept ? [Self.other, "'p'|'Tea'|x'00ff'|6"] : [Self.other]
    try check(bench, [mac, phone], parents: parents, children: children)
  }

  @Test(
    "Children whose foreign key forbids it do as the policy says",
    arguments: SuiteSize.pairs(
      2,
      DeletedParentCase.all.filter { $0.action == "RESTRICT" || $0.action == "NO ACTION" },
      [OrphanPolicy.deleteChildren, .detachChildren]
    )
  )
  func policy(one: DeletedParentCase, orphans: OrphanPolicy) throws {
    let (bench, mac, phone) = try meet(one, orphans)

    let children = orphans == .deleteChildren ? [] : ["'b'|NULL"]
    try check(bench, [mac, phone], parents: [Self.other], children: children)
  }

  @Test("A parent that comes back keeps what only newer versions of the app know")
  func unknownColumns() throws {
    let bench = SyncHarness()
    let old = """
      CREATE TABLE parents(id TEXT PRIMARY KEY NOT NULL, title TEXT);
      CREATE TABLE children(id TEXT PRIMARY KEY NOT NULL, parent TEXT REFERENCES parents(id));
      """
    let new = old.replacing("title TEXT)", with: "title TEXT, extra TEXT)")
    let mac = try bench.device("mac", new, tables: Self.tables)
    let phone = try bench.device("phone", old, tables: Self.tables)
    try mac.execute("INSERT INTO parents VALUES('p', 'Tea', 'More')")
    try bench.sync(mac, phone)

    try phone.execute("INSERT INTO children VALUES('b', 'p')")
    try mac.execute("DELETE FROM parents")
    try bench.sync(mac, phone, mac)

    #expect(try mac.lines(Self.parents) == ["'p'|'Tea'|'More'"])
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test(
    "A child that another device's edit keeps brings its parent back, or lets go of it, where both were deleted",
    arguments: SuiteSize.pairs(2, [DeletePolicy.editWins, .deleteWins], [true, false])
  )
  func bothDeleted(parents: DeletePolicy, isSentBetween: Bool) throws {
    let schema = """
      CREATE TABLE parents(id TEXT PRIMARY KEY NOT NULL, title TEXT);
      CREATE TABLE children(id TEXT PRIMARY KEY NOT NULL, title TEXT, parent TEXT REFERENCES parents(id));
      """
    var options = SyncEngineOptions()
    options.defaultTable.merging.deletes = parents
    options.tables["children"] = options.defaultTable
    options.tables["children"]?.merging.deletes = .editWins
    let bench = SyncHarness()
    let mac = try bench.device("mac", schema, tables: Self.tables, options: options)
    let phone = try bench.device("phone", schema, tables: Self.tables, options: options)
    try mac.execute("INSERT INTO children VALUES('c', 'Child', NULL)", at: 1_000)
    try bench.sync(mac, phone)
    try phone.execute(
      "INSERT INTO parents VALUES('p', 'Parent'); UPDATE children SET parent = 'p'",
      at: 2_000
    )
    if isSentBetween { try bench.sync(phone) }
    try phone.execute("DELETE FROM children; DELETE FROM parents", at: 3_000)
    try mac.execute("UPDATE children SET title = 'Edited'", at: 4_000)
    try bench.sync(phone, mac, phone, mac)

    let comesBack = parents == .editWins
    for device in [mac, phone] {
      #expect(
        try device.lines("SELECT * FROM children") == ["'c'|'Edited'|\(comesBack ? "'p'" : "NULL")"]
      )
      #expect(try device.lines("SELECT * FROM parents") == (comesBack ? ["'p'|'Parent'"] : []))
      #expect(try bench.unclean(device) == [])
    }
  }
}
