import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

@Suite("Keys that are changed while other devices edit the row, in every order")
struct RenameOrderTests {
  /// Tries orders of edits and syncs with both policies, one of so many; tells what was wrong.
  private func failures(
    of steps: [[RenameStep]],
    part: (of: Int, number: Int) = (1, 0)
  ) throws -> [String] {
    var failures: [String] = []
    let orders = RenameScript.orders(of: steps.count)
    for (row, made) in orders.enumerated() {
      for (column, synchronized) in orders.enumerated() {
        for (place, deletes) in [DeletePolicy.deleteWins, .editWins].enumerated() {
          // Each order of edits meets each order of syncs and each policy, if not in each part.
          let number = (row * orders.count + column) * 2 + place
          if (number + part.number) % part.of != 0 { continue }
          let script = RenameScript(
            steps: steps,
            made: made,
            synchronized: synchronized,
            deletes: deletes
          )
          if let error = try script.error() {
            failures.append("\(deletes), made \(made), synchronized \(synchronized): \(error)")
          }
        }
      }
    }
    return failures
  }

  @Test(
    "Of two devices one changes the key",
    arguments: zip(RenameStep.allCases, RenameStep.allCases.indices)
  )
  func two(step: RenameStep, place: Int) throws {
    let own: [[RenameStep]] = [
      [.rename], [.editFirst, .rename], [.rename, .editFirst], [.rename, .insertChild],
      [.editChild, .rename],
    ]
    for (number, steps) in own.enumerated() {
      let part = SuiteSize.isLong ? (of: 1, number: 0) : (of: 24, number: number + place)
      #expect(try failures(of: [steps, [step]], part: part) == [], "\(steps)")
    }
  }

  /// The row must not go as one that came before it: it would lead back to itself.
  @Test(
    "Between a change of the key and the change back another device makes the same change",
    arguments: SuiteSize.pairs(
      2,
      [true, false],
      [nil, "INSERT INTO lists VALUES('b', 'new', 'new')"]
    )
  )
  func between(isFirst: Bool, after: String?) throws {
    let (bench, mac, phone) = try SyncHarness.pair(
      RenameScript.schema,
      tables: RenameScript.tables
    )
    try mac.execute("INSERT INTO lists VALUES('a', 'x', 'y')", at: 1_000)
    try bench.sync(mac, phone)
    try mac.execute("UPDATE lists SET id = 'b'", at: 2_000)
    try phone.execute("UPDATE lists SET id = 'b'; UPDATE lists SET x = 'x2'", at: 3_000)
    try mac.execute("UPDATE lists SET id = 'a'; UPDATE lists SET y = 'y2'", at: 4_000)
    if let after { try mac.execute("\(after); DELETE FROM lists WHERE id = 'b'", at: 5_000) }
    if isFirst { try bench.sync(mac, phone, mac) } else { try bench.sync(phone, mac, phone) }

    #expect(try mac.lines("SELECT * FROM lists") == ["'a'|'x2'|'y2'"])
    #expect(try phone.lines("SELECT * FROM lists") == ["'a'|'x2'|'y2'"])
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test(
    "What a migration has set unseen goes along with a key that another device has changed",
    arguments: SuiteSize.pairs(
      2,
      ["w", "z"],
      [nil, "INSERT INTO lists VALUES('a', 'new', 'new')"]
    )
  )
  func unseen(value: String, after: String?) throws {
    let schema = "CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, x TEXT, y TEXT)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["lists"])
    try mac.execute("INSERT INTO lists VALUES('a', 'x', 'y')", at: 1_000)
    try bench.sync(mac, phone)
    try mac.execute("UPDATE lists SET id = 'b'; \(after ?? "")", at: 2_000)
    try bench.restart(
      phone,
      ["lists"],
      after: """
        ALTER TABLE lists RENAME TO old; \(schema); INSERT INTO lists SELECT * FROM old; DROP TABLE old;
        UPDATE lists SET x = '\(value)'
        """
    )
    try phone.execute("UPDATE lists SET y = 'y2'", at: 3_000)
    try bench.sync(mac, phone, mac)

    let moved = "SELECT * FROM lists WHERE id = 'b'"
    #expect(try mac.lines(moved) == ["'b'|'\(value)'|'y2'"])
    #expect(try phone.lines(moved) == mac.lines(moved))
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test(
    "Where edits win, what a device has edited goes along also if it deletes the row afterwards",
    arguments: SuiteSize.pairs(2, [true, false], [true, false])
  )
  func deletedAfterwards(isFirst: Bool, isSentBetween: Bool) throws {
    var options = SyncEngineOptions()
    options.defaultTable.merging.deletes = .editWins
    let schema = "CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, x TEXT, y TEXT)"
    let bench = SyncHarness()
    let mac = try bench.device("mac", schema, tables: ["lists"], options: options)
    let phone = try bench.device("phone", schema, tables: ["lists"], options: options)
    try mac.execute("INSERT INTO lists VALUES('a', 'x', 'y')", at: 1_000)
    try bench.sync(mac, phone)
    try phone.execute("UPDATE lists SET x = 'x2'", at: 2_000)
    if isSentBetween { try bench.sync(phone) }
    try phone.execute("DELETE FROM lists", at: 4_000)
    try mac.execute("UPDATE lists SET id = 'b'", at: 3_000)
    if isFirst { try bench.sync(mac, phone, mac) } else { try bench.sync(phone, mac, phone) }

    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM lists") == ["'b'|'x2'|'y'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  static let pairs = RenameStep.allCases.flatMap { one in
    RenameStep.allCases.map { [one, $0] }.filter { $0[0].rawValue <= $0[1].rawValue }
  }

  /// Some orders of each pair, all of them together; `CLOUDSYNC_LONG=1` has all 2,016 tried, which takes minutes.
  @Test("Of three devices one changes the key", arguments: zip(pairs, pairs.indices))
  func three(steps: [RenameStep], number: Int) throws {
    let part = SuiteSize.isLong ? (of: 1, number: 0) : (of: 168, number: number)
    let failures = try failures(of: [[.rename]] + steps.map { [$0] }, part: part)
    #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
  }
}
