import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

/// A key that contains a reference changes with the row that it refers to: nobody has given the row another key.
@Suite("Keys that follow a reference while somebody changes them")
struct KeyCascadeTests {
  private static let start: Int64 = 1_700_000_000_000
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, t TEXT);
    CREATE TABLE words(
      list TEXT NOT NULL REFERENCES lists ON UPDATE CASCADE ON DELETE CASCADE, word TEXT NOT NULL,
      t TEXT, PRIMARY KEY(list, word));
    """

  private static let rename = "UPDATE lists SET id = 'House' WHERE id = 'Home'"
  private static let renameOtherwise = "UPDATE lists SET id = 'Abode' WHERE id = 'Home'"
  private static let move = "UPDATE words SET list = 'Work' WHERE word = 'a'"
  private static let respell = "UPDATE words SET word = 'z' WHERE word = 'a'"

  /// What each device does, and what comes of the row that is moved and of the other one, by the device that was last.
  private static let scripts: [(steps: [[String]], words: [String])] = [
    ([[rename], [move]], ["'House'|'b'", "'Work'|'a'"]),
    ([[rename], [respell]], ["'House'|'b'", "'House'|'z'"]),
    ([[rename, respell], [move]], []),
    ([[rename], ["UPDATE words SET t = 'y' WHERE word = 'a'"]], ["'House'|'a'", "'House'|'b'"]),
    ([[rename], [renameOtherwise], [move]], []),
  ]

  @Test(
    "A change of the key stays, whichever came first",
    arguments: SuiteSize.pairs(2, Array(0..<5), [DeletePolicy.deleteWins, .editWins])
  )
  func moved(number: Int, deletes: DeletePolicy) throws {
    let script = Self.scripts[number]
    var options = SyncEngineOptions()
    options.defaultTable.merging.deletes = deletes
    let orders = RenameScript.orders(of: script.steps.count)
    for made in SuiteSize.some(1, of: orders) {
      for synchronized in SuiteSize.some(2, of: orders) {
        let bench = SyncHarness()
        let device = { (name: String) in
          try bench.device(name, Self.schema, tables: ["lists", "words"], options: options)
        }
        var devices = try script.steps.indices.map { try device("device \($0)") }
        try devices[0]
          .execute(
            """
            INSERT INTO lists VALUES('Home', 'h'), ('Work', 'w');
            INSERT INTO words VALUES('Home', 'a', 'x'), ('Home', 'b', 'x')
            """,
            at: Self.start
          )
        for device in devices { try bench.sync(device) }
        var time = Self.start
        for number in made {
          for step in script.steps[number] {
            time += 60_000
            try devices[number].execute(step, at: time)
          }
        }
        for number in synchronized + synchronized { try bench.sync(devices[number]) }
        devices.append(try device("late"))
        try bench.sync(devices[devices.count - 1])

        var wanted = script.words
        let isLast = made.last == 0
        if number == 2 { wanted = ["'House'|'b'", isLast ? "'House'|'z'" : "'Work'|'a'"] }
        if number == 4 {
          let isOtherwise = made.lastIndex(of: 1) ?? 0 > made.lastIndex(of: 0) ?? 0
          wanted = ["'\(isOtherwise ? "Abode" : "House")'|'b'", "'Work'|'a'"]
        }
        for device in devices {
          let words = try device.lines("SELECT list, word FROM words ORDER BY 1, 2")
          #expect(
            words == wanted,
            "\(device.name), made by \(made), synchronized by \(synchronized)"
          )
          #expect(try bench.unclean(device) == [], "\(device.name), \(made), \(synchronized)")
        }
      }
    }
  }
}
