import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

/// Keys that are positions, or names of places: a device that gives them anew does not mean the rows that have them
/// elsewhere.
@Suite("Two devices give the keys of some rows to others of them")
struct PermutedKeysTests {
  private static let start: Int64 = 1_700_000_000_000
  private static let rows = ["x", "y", "z"]
  private static let permutations = [
    [1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1],
  ]

  /// What gives the rows x, y and z, which have the keys 1, 2 and 3, others of these.
  private static func sql(_ keys: [Int]) -> String {
    let moved = keys.indices.filter { keys[$0] != $0 + 1 }
    let away = moved.map { "UPDATE p SET id = '-\($0 + 1)' WHERE id = '\($0 + 1)'" }
    return (away + moved.map { "UPDATE p SET id = '\(keys[$0])' WHERE id = '-\($0 + 1)'" })
      .joined(separator: "; ")
  }

  /// Where rows are if of each the key counts that it was given last; nil if two have the same one.
  private static func expected(_ first: [Int], _ second: [Int]) -> [Int]? {
    let keys = first.indices.map { second[$0] != $0 + 1 ? second[$0] : first[$0] }
    return Set(keys).count == keys.count ? keys : nil
  }

  private static func lines(_ keys: [Int], of rows: [String] = rows) -> [String] {
    zip(keys, rows).sorted { $0.0 < $1.0 }.map { "'\($0)'|'\($1)'" }
  }

  private func pair(
    _ policy: DeletePolicy = .deleteWins
  ) throws -> (SyncHarness, SyncHarness.Device, SyncHarness.Device) {
    var options = SyncEngineOptions()
    options.defaultTable.merging.deletes = policy
    let bench = SyncHarness()
    let schema = "CREATE TABLE p(id TEXT PRIMARY KEY NOT NULL, t TEXT)"
    let mac = try bench.device("mac", schema, tables: ["p"], options: options)
    let phone = try bench.device("phone", schema, tables: ["p"], options: options)
    try mac.execute("INSERT INTO p VALUES('1', 'x'), ('2', 'y'), ('3', 'z')", at: Self.start)
    try bench.sync(mac, phone)
    return (bench, mac, phone)
  }

  @Test(
    "No row is lost and none is there twice, whoever syncs first",
    arguments: SuiteSize.pairs(2, [true, false], DeletePolicy.allCases)
  )
  func permutations(isFirst: Bool, deletes: DeletePolicy) throws {
    let pairs = Self.permutations.flatMap { one in Self.permutations.map { (one, $0) } }
    for (first, second) in SuiteSize.some(2, of: pairs) {
      let (bench, mac, phone) = try pair(deletes)
      try mac.execute(Self.sql(first), at: Self.start + 60_000)
      try phone.execute(Self.sql(second), at: Self.start + 120_000)
      if isFirst { try bench.sync(mac, phone, mac) } else { try bench.sync(phone, mac, phone) }

      let kept = try mac.lines("SELECT * FROM p ORDER BY id")
      #expect(try phone.lines("SELECT * FROM p ORDER BY id") == kept, "\(first), \(second)")
      #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [], "\(first), \(second)")
      if let keys = Self.expected(first, second) {
        #expect(kept == Self.lines(keys), "\(first), \(second)")
      }
    }
  }

  @Test(
    "An edit of a row goes along with it, made before its key was changed or after",
    arguments: SuiteSize.pairs(2, [true, false], [true, false])
  )
  func edits(isFirst: Bool, isBefore: Bool) throws {
    for keys in SuiteSize.some(1, of: Array(Self.permutations.dropFirst())) {
      let (bench, mac, phone) = try pair()
      let (permute, edit) = (Self.sql(keys), "UPDATE p SET t = t || '!'")
      let steps = isBefore ? [edit, permute] : [permute, edit]
      try mac.execute(permute, at: Self.start + 60_000)
      for (number, step) in steps.enumerated() {
        try phone.execute(step, at: Self.start + 120_000 + Int64(number) * 1_000)
      }
      if isFirst { try bench.sync(mac, phone, mac) } else { try bench.sync(phone, mac, phone) }

      let expected = Self.lines(keys, of: ["x!", "y!", "z!"])
      #expect(try mac.lines("SELECT * FROM p ORDER BY id") == expected, "\(keys)")
      #expect(try phone.lines("SELECT * FROM p ORDER BY id") == expected, "\(keys)")
    }
  }

  @Test(
    "Who deletes a row does not delete the one that has got its key meanwhile",
    arguments: SuiteSize.pairs(2, [true, false], [true, false])
  )
  func deletions(isFirst: Bool, isLater: Bool) throws {
    for (change, kept) in [
      (Self.sql([2, 1, 3]), ["'1'|'y'", "'2'|'x'", "'3'|'z'"]),
      (
        "DELETE FROM p WHERE id = '1'; UPDATE p SET id = '1' WHERE id = '2'",
        ["'1'|'y'", "'3'|'z'"]
      ),
      (
        "UPDATE p SET id = '4' WHERE id = '1'; INSERT INTO p VALUES('1', 'new')",
        ["'1'|'new'", "'2'|'y'", "'3'|'z'", "'4'|'x'"]
      ),
    ] {
      let (bench, mac, phone) = try pair()
      try mac.execute(change, at: Self.start + 60_000)
      let time = Self.start + (isLater ? 120_000 : 30_000)
      try phone.execute("DELETE FROM p WHERE id = '1'", at: time)
      if isFirst { try bench.sync(mac, phone, mac) } else { try bench.sync(phone, mac, phone) }

      #expect(try mac.lines("SELECT * FROM p ORDER BY id") == kept, "\(change)")
      #expect(try phone.lines("SELECT * FROM p ORDER BY id") == kept, "\(change)")
      #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [], "\(change)")
    }
  }

  /// What rows have had a key in between says nothing of the row that has it in the end.
  @Test("A key that another row has only passed is given on", arguments: [true, false])
  func passedKeys(isDeleted: Bool) throws {
    let (bench, mac, phone) = try pair()
    let before = isDeleted ? "DELETE FROM p WHERE id = '3'" : "UPDATE p SET id = '9' WHERE id = '3'"
    try mac.execute(
      """
      \(before); UPDATE p SET id = '3' WHERE id = '2'; UPDATE p SET id = 't' WHERE id = '3';
      UPDATE p SET id = '3' WHERE id = '1'
      """,
      at: Self.start + 60_000
    )
    try bench.sync(mac)
    try mac.execute("UPDATE p SET id = '7' WHERE id = '3'", at: Self.start + 120_000)
    try bench.sync(mac, phone)

    let kept = ["'7'|'x'"] + (isDeleted ? [] : ["'9'|'z'"]) + ["'t'|'y'"]
    #expect(try mac.lines("SELECT * FROM p ORDER BY id") == kept)
    #expect(try phone.lines("SELECT * FROM p ORDER BY id") == kept)
  }

  @Test(
    "A device changes keys again and again, another one once, last",
    arguments: SuiteSize.pairs(2, [true, false], [1, 2, 3])
  )
  func rounds(isFirst: Bool, count: Int) throws {
    for keys in SuiteSize.some(1, of: Array(Self.permutations.dropFirst())) {
      let (bench, mac, phone) = try pair()
      for round in 0..<count {
        try mac.execute(Self.sql(keys), at: Self.start + Int64(round + 1) * 60_000)
        try bench.sync(mac)
      }
      try phone.execute(Self.sql(keys), at: Self.start + 600_000)
      if isFirst { try bench.sync(mac, phone, mac) } else { try bench.sync(phone, mac, phone) }

      let kept = try mac.lines("SELECT * FROM p ORDER BY id")
      #expect(try phone.lines("SELECT * FROM p ORDER BY id") == kept, "\(keys)")
      #expect(kept == Self.lines(keys), "\(keys)")
    }
  }

  @Test(
    "A key that a row passes stays with the row that another device has given it to",
    arguments: [true, false]
  )
  func passedElsewhere(isFirst: Bool) throws {
    let (bench, mac, phone) = try pair()
    try phone.execute(
      "UPDATE p SET id = 'B' WHERE id = '2'; UPDATE p SET id = '2' WHERE id = '1'",
      at: Self.start + 60_000
    )
    try mac.execute(
      """
      UPDATE p SET id = '7' WHERE id = '2'; UPDATE p SET id = '2' WHERE id = '3';
      UPDATE p SET id = '8' WHERE id = '2'
      """,
      at: Self.start + 120_000
    )
    if isFirst { try bench.sync(mac, phone, mac) } else { try bench.sync(phone, mac, phone) }

    let kept = Self.lines([2, 7, 8])
    #expect(try mac.lines("SELECT * FROM p ORDER BY id") == kept)
    #expect(try phone.lines("SELECT * FROM p ORDER BY id") == kept)
  }

  /// The rows that a device has, of which nothing is left to be done.
  private func expect(
    _ rows: [String],
    on device: SyncHarness.Device,
    of bench: SyncHarness
  ) throws {
    #expect(try device.lines("SELECT * FROM p ORDER BY id") == rows, "\(device.name)")
    #expect(try bench.unclean(device) == [], "\(device.name)")
  }

  @Test(
    "Of two rows that are given one key the later one has it, whole; the other goes back to the key that it had",
    arguments: [true, false]
  )
  func oneKey(isFirst: Bool) throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("UPDATE p SET id = '9', t = 'x!' WHERE id = '1'", at: Self.start + 60_000)
    try phone.execute("UPDATE p SET id = '9' WHERE id = '2'", at: Self.start + 120_000)
    if isFirst { try bench.sync(mac, phone, mac, phone) } else { try bench.sync(phone, mac, phone) }
    for device in [mac, phone] {
      try expect(["'1'|'x!'", "'3'|'z'", "'9'|'y'"], on: device, of: bench)
      #expect(try bench.displaced(device) == [])
    }
  }

  @Test(
    "A row that was given its first key again goes back to the key that it had in between",
    arguments: [true, false]
  )
  func firstKeyAgain(isFirst: Bool) throws {
    let (bench, mac, phone) = try pair()
    try phone.execute("UPDATE p SET id = '7' WHERE id = '1'", at: Self.start + 30_000)
    try bench.sync(phone, mac)
    try phone.execute("UPDATE p SET id = '1' WHERE id = '7'", at: Self.start + 60_000)
    try mac.execute("UPDATE p SET id = '1' WHERE id = '3'", at: Self.start + 120_000)
    if isFirst { try bench.sync(mac, phone, mac, phone) } else { try bench.sync(phone, mac, phone) }
    for device in [mac, phone] {
      try expect(["'1'|'z'", "'2'|'y'", "'7'|'x'"], on: device, of: bench)
      #expect(try bench.displaced(device) == [])
    }
  }

  @Test("A row that has lost its key in the cloud is kept by who takes it from there")
  func deviceLost() throws {
    let (bench, mac, phone) = try pair()
    try phone.execute("UPDATE p SET id = '9', t = 'x!' WHERE id = '1'", at: Self.start + 60_000)
    try mac.execute("UPDATE p SET id = '9' WHERE id = '2'", at: Self.start + 120_000)
    try bench.sync(phone)
    phone.engine.stop()
    try bench.sync(mac, mac)
    try expect(["'1'|'x!'", "'3'|'z'", "'9'|'y'"], on: mac, of: bench)
  }

  @Test(
    "One whose former key another row has is parked, and comes back when the one that it was given is free",
    arguments: SuiteSize.pairs(2, [true, false], [true, false])
  )
  func displaced(isFirst: Bool, isDeleted: Bool) throws {
    let (bench, mac, phone) = try pair()
    try mac.execute(
      "UPDATE p SET id = '9', t = 'x!' WHERE id = '1'; INSERT INTO p VALUES('1', 'new')",
      at: Self.start + 60_000
    )
    try phone.execute("UPDATE p SET id = '9' WHERE id = '2'", at: Self.start + 120_000)
    if isFirst { try bench.sync(mac, phone, mac) } else { try bench.sync(phone, mac, phone) }
    for device in [mac, phone] {
      try expect(["'1'|'new'", "'3'|'z'", "'9'|'y'"], on: device, of: bench)
    }
    #expect(try bench.displaced(mac) == ["'9'"])
    let parked = try #require(try SyncMetadata.read(from: mac.database)).parked
    #expect(parked.map(\.recordName) == ["9:p"])
    #expect(parked.map(\.status.name) == ["parked"])

    let leave = isDeleted ? "DELETE FROM p WHERE id = '9'" : "UPDATE p SET id = '8' WHERE id = '9'"
    try mac.execute(leave, at: Self.start + 180_000)
    try bench.sync(mac, phone, mac)
    let kept = ["'1'|'new'", "'3'|'z'"] + (isDeleted ? [] : ["'8'|'y'"]) + ["'9'|'x!'"]
    for device in [mac, phone] {
      try expect(kept, on: device, of: bench)
      #expect(try bench.displaced(device) == [])
    }
  }

  @Test(
    "A row that is inserted with a key is not the one that another device has given that key, and given another one since",
    arguments: [true, false]
  )
  func insertedBeside(isFirst: Bool) throws {
    let (bench, mac, phone) = try pair()
    try phone.execute(
      "UPDATE p SET id = 't' WHERE id = '1'; UPDATE p SET id = '1' WHERE id = '3'",
      at: Self.start + 60_000
    )
    try bench.sync(phone)
    try mac.execute(
      "UPDATE p SET id = 'a' WHERE id = '1'; INSERT INTO p VALUES('1', 'new')",
      at: Self.start + 120_000
    )
    try phone.execute("UPDATE p SET id = 'b' WHERE id = '1'", at: Self.start + 180_000)
    if isFirst { try bench.sync(mac, phone, mac) } else { try bench.sync(phone, mac, phone) }

    let kept = ["'1'|'new'", "'2'|'y'", "'a'|'x'", "'b'|'z'"]
    #expect(try mac.lines("SELECT * FROM p ORDER BY id") == kept)
    #expect(try phone.lines("SELECT * FROM p ORDER BY id") == kept)
  }

  @Test("A row that is inserted with a key is not the one that was given it again meanwhile")
  func givenAgain() throws {
    let bench = SyncHarness()
    let schema = "CREATE TABLE p(id TEXT PRIMARY KEY NOT NULL, t TEXT)"
    let devices = try (0..<3).map { try bench.device("\($0)", schema, tables: ["p"]) }
    try devices[0].execute("INSERT INTO p VALUES('1', 'x'), ('2', 'y')", at: Self.start)
    for device in devices { try bench.sync(device) }
    let insert = "UPDATE p SET id = '7' WHERE id = '2'; INSERT INTO p VALUES('2', 'new')"
    try devices[0].execute(insert, at: Self.start + 60_000)
    let swap = """
      UPDATE p SET id = 't' WHERE id = '2'; UPDATE p SET id = '2' WHERE id = '1';
      UPDATE p SET id = '1' WHERE id = 't';
      """
    try devices[2].execute(swap + swap, at: Self.start + 120_000)
    try devices[1].execute("UPDATE p SET id = '8' WHERE id = '2'", at: Self.start + 180_000)
    for number in [2, 1, 0, 1, 2] { try bench.sync(devices[number]) }
    for device in devices {
      try expect(["'1'|'x'", "'2'|'new'", "'8'|'y'"], on: device, of: bench)
    }
  }

  @Test("A row that went back to a former key follows who has given it another one there before")
  func givenBeforeReturn() throws {
    let (bench, mac, phone) = try pair()
    try phone.execute("UPDATE p SET id = '7' WHERE id = '1'", at: Self.start + 60_000)
    try mac.execute(Self.sql([2, 1, 3]), at: Self.start + 120_000)
    try mac.execute(Self.sql([2, 1, 3]), at: Self.start + 180_000)
    try phone.execute("UPDATE p SET id = '1' WHERE id = '2'", at: Self.start + 240_000)
    try bench.sync(phone)
    let swap = "UPDATE p SET id = '2' WHERE id = '1'; UPDATE p SET id = '1' WHERE id = '7'"
    try phone.execute(swap, at: Self.start + 300_000)
    try bench.sync(mac, phone, mac)
    for device in [mac, phone] {
      try expect(["'1'|'x'", "'2'|'y'", "'3'|'z'"], on: device, of: bench)
    }
  }

  @Test("A row that goes back gives way to one that was given the key, however long before")
  func olderGift() throws {
    let bench = SyncHarness()
    let schema = "CREATE TABLE p(id TEXT PRIMARY KEY NOT NULL, t TEXT)"
    let devices = try (0..<3).map { try bench.device("\($0)", schema, tables: ["p"]) }
    let rows = "INSERT INTO p VALUES('0', 'w'), ('1', 'x'), ('2', 'y'), ('3', 'z')"
    try devices[0].execute(rows, at: Self.start)
    for device in devices { try bench.sync(device) }
    func move(_ keys: [(String, String)], by number: Int, at minute: Int64) throws {
      let steps = keys.map { "UPDATE p SET id = '\($1)' WHERE id = '\($0)'" }
      try devices[number]
        .execute(steps.joined(separator: "; "), at: Self.start + minute * 60_000)
    }
    try move([("2", "t"), ("0", "2"), ("1", "0"), ("t", "1")], by: 1, at: 1)
    try move([("1", "t"), ("0", "1"), ("t", "0")], by: 0, at: 2)
    try move([("3", "t"), ("0", "3"), ("t", "0")], by: 2, at: 3)
    for number in [2, 0, 1, 2, 0, 1, 2] { try bench.sync(devices[number]) }
    for device in devices {
      try expect(["'0'|'z'", "'1'|'y'", "'3'|'w'"], on: device, of: bench)
    }
    // All of its former keys are other rows' now: it waits for the one that it was given.
    #expect(try bench.displaced(devices[0]) == ["'1'"])
    try devices[0].execute("UPDATE p SET id = '9' WHERE id = '1'", at: Self.start + 600_000)
    for number in [0, 1, 2, 0] { try bench.sync(devices[number]) }
    for device in devices {
      try expect(["'0'|'z'", "'1'|'x'", "'3'|'w'", "'9'|'y'"], on: device, of: bench)
      #expect(try bench.displaced(device) == [])
    }
  }

  @Test(
    "What one device counts stays with its row where another one swaps two keys",
    arguments: [[], ["x"], ["y"], ["x", "y"]]
  )
  func counters(sent: [String]) throws {
    var options = SyncEngineOptions()
    options.defaultTable.merging.columns["n"] = .counter
    let (bench, mac, phone) = try SyncHarness.pair(
      "CREATE TABLE p(id TEXT PRIMARY KEY NOT NULL, t TEXT, n INTEGER NOT NULL DEFAULT 0)",
      tables: ["p"],
      options: options
    )
    try mac.execute("INSERT INTO p VALUES('1', 'x', 0), ('2', 'y', 0)", at: Self.start)
    try bench.sync(mac, phone)
    mac.engine.stop()
    let additions = ["x": 38, "y": 26]
    func count(_ name: String, at time: Int64) throws {
      try phone.execute(
        "UPDATE p SET n = n + \(additions[name] ?? 0) WHERE t = '\(name)'",
        at: Self.start + time
      )
    }
    for name in sent { try count(name, at: 10_000) }
    try bench.sync(phone)
    phone.engine.stop()
    for name in additions.keys.sorted() where !sent.contains(name) { try count(name, at: 20_000) }
    try mac.execute(
      "UPDATE p SET id = '0' WHERE t = 'x'; UPDATE p SET id = '1' WHERE t = 'y'; UPDATE p SET id = '2' WHERE t = 'x'",
      at: Self.start + 60_000
    )
    try bench.sync(mac)
    try bench.sync(phone, mac, phone)

    for device in [mac, phone] {
      let rows = try device.lines("SELECT * FROM p ORDER BY id")
      #expect(rows == ["'1'|'y'|26", "'2'|'x'|38"], "\(device.name)")
      #expect(try bench.unclean(device) == [])
    }
  }
}
