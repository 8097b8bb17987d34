import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Unique keys: rows that are merged or get another value")
struct SettledKeyTests {
  private static let schema = """
    CREATE TABLE tags(
      id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE, color TEXT, uses INTEGER, labels TEXT
    );
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, tag TEXT REFERENCES tags(id) ON DELETE CASCADE, title TEXT
    );
    CREATE TABLE links(
      tag TEXT NOT NULL REFERENCES tags(id), note TEXT NOT NULL REFERENCES notes(id),
      PRIMARY KEY(tag, note)
    );
    """
  private static let tables = ["tags", "notes", "links"]

  private func pair(
    _ policy: UniqueKeyPolicy
  ) throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    let bench = SyncHarness()
    var options = SyncEngineOptions()
    var tags = SyncEngineOptions.Table()
    tags.uniqueKeys = policy
    tags.merging.columns = ["uses": .counter, "labels": .setUnion]
    options.tables["tags"] = tags
    let mac = try bench.device("mac", Self.schema, tables: Self.tables, options: options)
    let phone = try bench.device("phone", Self.schema, tables: Self.tables, options: options)
    return (bench, mac, phone)
  }

  private func lines(_ device: SyncHarness.Device) throws -> [String] {
    try Self.tables.flatMap { try device.lines("SELECT * FROM \($0) ORDER BY 1, 2") }
  }

  @Test("Every device that had a row which became one with another is told, once, with both keys")
  func unitedRows() throws {
    for isMacFirst in [true, false] {
      let (bench, mac, phone) = try pair(.merge)
      let told = Locked<[String: [UnitedRow]]>([:])
      for (name, device) in [("mac", mac), ("phone", phone)] {
        device.engine.unitedRows.sink { rows in told.withLock { $0[name, default: []] += rows } }
      }
      try mac.execute("INSERT INTO tags(id, name) VALUES('b', 'work'), ('c', 'home')", at: 2_000)
      try phone.execute("INSERT INTO tags(id, name) VALUES('a', 'work'), ('d', 'away')", at: 1_000)
      let united = Locked(0)
      mac.engine.activity.sink { activity in united.withLock { $0 = activity.counts.united } }
      try bench.sync(isMacFirst ? mac : phone)
      try bench.sync(isMacFirst ? phone : mac, mac, phone, mac)
      let rows = told.withLock { $0 }
      // Where the cloud had settled it before, only who had the row that is gone.
      #expect(rows["mac"]?.map(\.key) == [[.string("b")]])
      #expect(rows["mac"]?.map(\.keptKey) == [[.string("a")]])
      #expect(rows["phone"]?.map(\.table) ?? [] == (isMacFirst ? ["tags"] : []))
      #expect(united.withLock { $0 } == 1)
      #expect(try mac.lines("SELECT id FROM tags ORDER BY 1") == ["'a'", "'c'", "'d'"])
    }
  }

  @Test(
    "Two rows become the one of the smaller name, whoever is first; nothing refers to the other"
  )
  func merge() throws {
    for isMacFirst in [true, false] {
      let (bench, mac, phone) = try pair(.merge)
      try mac.execute(
        """
        INSERT INTO tags VALUES('b', 'work', 'red', 3, '["x"]');
        INSERT INTO notes VALUES('m', 'b', 'mac'), ('n', 'b', 'both');
        INSERT INTO links VALUES('b', 'm'), ('b', 'n')
        """,
        at: 2_000
      )
      try phone.execute(
        """
        INSERT INTO tags VALUES('a', 'work', 'blue', 5, '["y"]');
        INSERT INTO notes VALUES('n', 'a', 'both'), ('p', 'a', 'phone');
        INSERT INTO links VALUES('a', 'n'), ('a', 'p')
        """,
        at: 1_000
      )
      if isMacFirst {
        try bench.sync(mac, phone, mac)
      } else {
        try bench.sync(phone, mac, phone)
      }

      #expect(
        try lines(mac) == [
          "'a'|'work'|'red'|5|'[\"x\",\"y\"]'",
          "'m'|'a'|'mac'", "'n'|'a'|'both'", "'p'|'a'|'phone'",
          "'a'|'m'", "'a'|'n'", "'a'|'p'",
        ]
      )
      #expect(try lines(phone) == lines(mac))
      #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
    }
  }

  @Test("Values that are exchanged are no conflict")
  func swap() throws {
    let (bench, mac, phone) = try pair(.merge)
    try mac.execute(
      "INSERT INTO tags(id, name) VALUES('a', '1'), ('b', '2'); INSERT INTO notes VALUES('n', 'a', '')"
    )
    try bench.sync(mac, phone)
    try mac.execute(
      """
      UPDATE tags SET name = NULL WHERE id = 'a'; UPDATE tags SET name = '1' WHERE id = 'b';
      UPDATE tags SET name = '2' WHERE id = 'a'
      """
    )
    try bench.sync(mac, phone)

    #expect(try phone.lines("SELECT id, name FROM tags ORDER BY id") == ["'a'|'2'", "'b'|'1'"])
    #expect(try lines(phone) == lines(mac))
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  private static let renaming = UniqueKeyPolicy.rename { conflict in
    #expect(conflict.table == "tags" && conflict.columns == ["name"])
    return conflict.values.map { value in
      guard case .string(let name) = value else { return value }
      return .string("\(name) \(conflict.attempt + 1)")
    }
  }

  @Test(
    "The older row gets the closure's value, the first that is free, and keeps what refers to it"
  )
  func rename() throws {
    for isMacFirst in [true, false] {
      let (bench, mac, phone) = try pair(Self.renaming)
      try mac.execute(
        """
        INSERT INTO tags(id, name) VALUES('a', 'work'), ('c', 'work 2');
        INSERT INTO notes VALUES('n', 'a', '')
        """,
        at: 1_000
      )
      try phone.execute("INSERT INTO tags(id, name) VALUES('b', 'work')", at: 2_000)
      if isMacFirst {
        try bench.sync(mac, phone, mac)
      } else {
        try bench.sync(phone, mac, phone)
      }

      for device in [mac, phone] {
        #expect(
          try device.lines("SELECT id, name FROM tags ORDER BY id") == [
            "'a'|'work 3'", "'b'|'work'", "'c'|'work 2'",
          ]
        )
        #expect(try device.lines("SELECT tag FROM notes") == ["'a'"])
        #expect(try bench.unclean(device) == [])
      }
    }
  }

  @Test("A row whose record is gone does not come back because another one takes its value")
  func valueOfGoneRow() throws {
    let (bench, mac, phone) = try pair(
      .rename { conflict in
        conflict.values.map { .string("\($0.stringValue ?? "") of \(conflict.recordName)") }
      }
    )
    try phone.execute("INSERT INTO tags(id, name) VALUES('a', 'work')", at: 1_000)
    try bench.sync(phone, mac)
    // A full storage takes no tombstone: the record itself is deleted.
    try bench.cloud.setQuota(0, account: AccountIdentity("owner"))
    try phone.execute("DELETE FROM tags", at: 2_000)
    try bench.sync(phone)
    try bench.cloud.setQuota(nil, account: AccountIdentity("owner"))
    try phone.execute("INSERT INTO tags(id, name) VALUES('b', 'work')", at: 3_000)
    bench.world.advance(by: .seconds(4_000))
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      #expect(try device.lines("SELECT id, name FROM tags") == ["'b'|'work'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("Where the closure has no other value, the newer row keeps it and the other one is parked")
  func noOtherValue() throws {
    let (bench, mac, phone) = try pair(.rename { _ in nil })
    try mac.execute("INSERT INTO tags(id, name) VALUES('a', 'work')", at: 1_000)
    try phone.execute("INSERT INTO tags(id, name) VALUES('b', 'work')", at: 2_000)
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      #expect(try device.lines("SELECT id FROM tags") == ["'b'"])
      #expect(try bench.unclean(device).count == 1)
    }
  }
}
