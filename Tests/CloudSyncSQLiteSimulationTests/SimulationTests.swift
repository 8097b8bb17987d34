import CloudSyncSQLiteSimulation
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("Simulation of databases")
struct SimulationTests {
  private static func options(_ seed: UInt64, edits: Int = 30) -> SimulationOptions {
    var options = SimulationOptions(seed: seed)
    options.device = "sqlite"
    options.edits = edits
    return options
  }

  @Test(
    "Databases are equal where nothing goes wrong",
    arguments: SuiteSize.few(1, of: Array(UInt64(1)...6))
  )
  func withoutFaults(seed: UInt64) {
    var options = Self.options(seed)
    options.faults = .none
    let outcome = Simulation<SQLiteDevice>(options).run()

    #expect(outcome.violation == nil, "replay with: \(outcome.options.command)")
    #expect(outcome.eventCount > 50)
  }

  @Test(
    "The same seed gives the same logs byte for byte, in memory and in files",
    arguments: SuiteSize.few(1, of: [4, 1])
  )
  func isDeterministic(seed: UInt64) {
    let outcome = Simulation<SQLiteDevice>(Self.options(seed, edits: SuiteSize.count(15, long: 30)))
      .runTwice()

    #expect(outcome.violation == nil, "replay with: \(outcome.options.command)")
    #expect(outcome.logs.count >= 3)
  }

  @Test(
    "A cloud that is put back unnoticed has everything again in the end",
    arguments: SuiteSize.few(1, of: Array(UInt64(1)...60))
  )
  func storeRestored(seed: UInt64) throws {
    var options = Self.options(seed)
    options.faults = try FaultPlan(
      parsing: "store-restored=1/25,response-lost=1/30,killed=1/100,offline=1/20"
    )
    let outcome = Simulation<SQLiteDevice>(options).run()

    #expect(outcome.violation == nil, "replay with: \(outcome.options.command)")
  }

  @Test("A zone that is purged and put back with the store is there again in the end")
  func purgedAndRestored() throws {
    // The device that waited for the user's word heard of nothing but the purge.
    var options = Self.options(31_000_181, edits: 31)
    options.records = 1
    options.faults = try FaultPlan(parsing: "zone-purged,store-restored")
    let outcome = Simulation<SQLiteDevice>(options).run()

    #expect(outcome.violation == nil, "replay with: \(outcome.options.command)")
  }

  @Test(
    "Seeds in which a cloud that was put back had broken a rule keep it",
    arguments: SuiteSize.few(1, of: [(205, 40), (261, 40), (261, 12)] as [(UInt64, Int)])
  )
  func formerRestorations(seed: UInt64, edits: Int) throws {
    // A fetch of everything had come before the token was shown, and had told that rows were gone.
    var options = Self.options(seed, edits: edits)
    options.faults = try FaultPlan(
      parsing: "default,store-restored=1/60,-key-given,-rows-filtered,-triggers-made"
    )
    let outcome = Simulation<SQLiteDevice>(options).run()

    #expect(outcome.violation == nil, "replay with: \(outcome.options.command)")
  }

  @Test(
    "Seeds that broke a rule once keep it",
    .enabled(if: SuiteSize.isLong),
    arguments: SuiteSize.few(
      1,
      of: [
        // What a device had edited before it deleted the row was looked for under the key that another had given the row.
        (990_084, 40, "default"),
        // A row that another device had given a key was renamed unseen, and NULLs went along with the other key.
        (7403, 40, "default"),
        // A page told of a row before its deletion was acknowledged, and it had been made again.
        (1488, 37, "clock-skew,offline"),
        // A row that was inserted before a migration set what the migration added.
        (592, 17, "clock-skew,killed-writing,write-fails"),
        // A save that the session had set aside brought back what was NULL since.
        (1_002_653, 24, "quota-full,clock-skew,offline"),
        // A row was deleted, and the response to the save that had made it was lost.
        (
          1_002_684, 40,
          "response-lost,late,service-unavailable,clock-skew,killed,stalled,killed-writing,write-fails"
        ),
        // A row that was made anew kept columns of the row before it that its device did not know.
        (125, 40, "default"),
        // A row was made twice before the first response, and then deleted.
        (1_007_468, 40, "default"),
        // A crash came after a write that had changed nothing.
        (6_001_511, 40, "default"),
        // A record of a table that came later was refused, and then forgotten.
        (8_003_532, 40, "default"),
        // A row was made anew while the session kept a refused edit of the one before.
        (10_002_313, 40, "default"),
        // A deletion that was told before the response to a save was not looked into.
        (13_011_555, 40, "default"),
        // A record that was made anew was taken for older than the response to an edit of the one before.
        // A child went with its parent while its first save was set aside.
        (1_002_245, 40, "default"),
        // A row came anew before the one before it had gone, and kept its columns.
        (2_002_449, 40, "default"),
        // So did one that had been edited meanwhile.
        (4_001_588, 40, "default"),
        // A row that was made anew was sent with what other versions know of the one before it.
        (2_003_252, 40, "default"),
        // A deletion ended a row in the cloud that had been made after it.
        (2_005_711, 40, "default"),
        // That another device had made a row anew was taken for older than an edit of the one before.
        (2_008_748, 40, "default"),
        // Such a row was lost because its upload had to wait until the deletion was told of.
        (2_011_175, 40, "default"),
        // It stayed for ever where it waited for a parent, too.
        (3_000_212, 40, "default"),
        // A deletion was forgotten while a save that had gone before it was set aside.
        (2_017_360, 40, "default"),
        // An old save that was set aside made a record anew that was gone.
        (2_018_809, 40, "default"),
        // A row whose deletion was on its way was uploaded by somebody else into a zone that was made anew.
        (2_023_030, 40, "default"),
        // A record that waited for its parent stayed, and a fetch of everything had not brought it.
        (2_026_525, 40, "default"),
        // Nobody has captured what was in a table before its triggers were made.
        (2_017_480, 40, "default"),
        // A record that had waited for a parent took the place of its newer version on the same page.
        (5_009_411, 40, "default"),
        // The journal stands where the rows stand, behind the session, while the disk is busy.
        (5063, 7, "clock-skew,killed,killed-writing,write-fails"),
      ] as [(UInt64, Int, String)]
    )
  )
  func formerFailures(seed: UInt64, edits: Int, faults: String) throws {
    var options = Self.options(seed, edits: edits)
    options.records = 8
    options.faults = try FaultPlan(parsing: faults).without(.keyGiven).without(.rowsFiltered)
      .without(.triggersMade)
    let outcome = Simulation<SQLiteDevice>(options).run()

    #expect(outcome.violation == nil, "replay with: \(outcome.options.command)")
  }

  @Test(
    "Seeds of the larger world that broke a rule once keep it",
    .enabled(if: SuiteSize.isLong),
    arguments: SuiteSize.few(
      1,
      of: [
        // What was added to a counter after its table was made anew, before it was captured again, was not sent.
        2009,
        // A row that had not been sent went with its table, and was sent without values.
        2022, 2110,
        // Where edits win a column that the deleter had dropped counted as one that it had not seen.
        2267,
        // The checkers took a copy's older place in the feed for a mistake, and the time of an edit for that of a row
        // that came back with it; a row whose key its deleter had made itself may be another one's still.
        2733, 2804, 2831,
        // A row that had come back unseen made up for one that had gone unseen.
        3082,
        // The response to the record of a zone that was erased was lost, and nothing was sent any more.
        3165,
        // A row that was changed unseen was stored again before it was compared, and passed for unchanged.
        3317, 900_004,
        // A row whose record was gone came back as found, because another one was to have its name.
        3364,
        // The checker took what was set unseen, which the deleter had seen, for older than what it had replaced.
        10_013,
        // The checker took a name that an engine had made, because it was taken, for none that the deleter had seen.
        10_205,
        // The checker asked for an edit of a column that was dropped before it was read, and did not allow for one that
        // was made after a row had come back.
        20_480, 21_646,
        // What a conflict had brought was taken for an unseen edit when the same transaction had the page.
        20_526,
        // A row that was made where another one waited for its parent had ended with that.
        21_682,
        // A row that was deleted unseen was made anew, empty, of a column that had lain beside it.
        20_780, 22_989,
        // Rows of a zone whose record the cloud had refused stayed on one device, when another zone took its place.
        20_287,
        // A row that a copied file had not read yet, and the copy's user deleted, came back.
        20_915,
        // The checker took a deletion that is handed back for one that has to be repeated.
        21_245,
        // An operation's answer was told late and brought a row of an erased zone back.
        22_574,
        // The checker took the late response of a session that was stopped for one of the next session.
        3_500_729, 3_501_282,
        // Nobody started a session that had stopped while its zone was lost, or waited for what it looked up.
        3_501_056, 3_501_412,
        // The zone was lost while an engine left a table out, and an edit of that table was lost with it.
        3_501_262,
        // The checker asked for a deletion that a full storage had not taken, and whose record was deleted instead.
        3_501_266,
        // The checker did not allow for a row that follows a parent whose key was changed where no foreign key says so, nor
        // for what is counted in a copy that no engine has opened.
        5_001_850, 5_001_875,
      ] as [UInt64]
    )
  )
  func laterFailures(seed: UInt64) {
    var options = Self.options(seed, edits: 40)
    // What came to the world after them would have them go another way.
    options.faults = .default.without(.recordRemoved).without(.recordDenied)
      .without(.otherEngine).without(.keyGiven).without(.rowsFiltered)
      .without(.triggersMade)
    let outcome = Simulation<SQLiteDevice>(options).run()

    #expect(outcome.violation == nil, "replay with: \(outcome.options.command)")
  }

  @Test(
    "Seeds of the world where records are removed that broke a rule once keep it",
    .enabled(if: SuiteSize.isLong),
    arguments: SuiteSize.few(
      1,
      of: [
        // The checkers heard of sessions that a device had let go of, and took a copied file's page for its own.
        5_005_672, 5_006_842, 5_008_590,
        // The checker did not know that a row which follows its parent may meet another one.
        5_006_096, 5_008_870,
        // The checker did not allow for an edit that a deleter without the column had not seen.
        5_007_541,
        // The response to an operation was told after its record was gone, and counted.
        5_008_170,
      ] as [UInt64]
    )
  )
  func removalFailures(seed: UInt64) {
    var options = Self.options(seed, edits: 40)
    options.faults = .default.without(.recordDenied).without(.otherEngine).without(.keyGiven)
      .without(.rowsFiltered)
      .without(.triggersMade)
    let outcome = Simulation<SQLiteDevice>(options).run()

    #expect(outcome.violation == nil, "replay with: \(outcome.options.command)")
  }

  @Test(
    "Seeds of the world where the cloud denies records that broke a rule once keep it",
    .enabled(if: SuiteSize.isLong),
    arguments: SuiteSize.few(
      1,
      of: [
        // A look-up met a zone that had been made anew, and an edit was lost with its row.
        5_011_116,
        // A row of a table that was left out referred to a value that went, and the engine stopped over it.
        5_011_476,
        // A value that lay aside in a record stayed there, and passed for the newer one in the column's own field.
        5_014_353,
        // The checker took a denial for new that a fetch had answered, or that was told of a zone before.
        5_009_997, 5_012_512,
        // The checker asked for what a full storage had removed, and took a value that was set twice for seen.
        5_013_832, 5_014_427, 5_014_763,
        // The checker did not allow for a key that was changed by who had not seen the newest edit of a record that went.
        2005,
        // A row was found in a copied file before the change of its key was read, and all of it counted as set by that.
        11_000_084,
        // Whoever drops a column had its row die with a deletion that had not seen the column's edit.
        11_000_268,
        // Where edits win, an edit went with the deletion of a row that goes on under another key.
        11_000_081,
        // A row was gone from its old key before the cloud had taken it under the new one, and was brought back for a child.
        12_000_326,
        // The checker did not allow for a moved row whose record was removed before the edits of others had come to it.
        13_001_025,
        // The checker took a row for known that its doubt had to reach, and a row for known that went with its file.
        11_000_378, 11_000_447, 11_000_587, 11_000_290,
        // The checker did not allow for a deletion of a row whose key somebody else has changed.
        11_000_232, 11_000_882, 11_001_014, 11_001_439,
      ] as [UInt64]
    )
  )
  func denialFailures(seed: UInt64) {
    var options = Self.options(seed, edits: 40)
    options.faults = .default.without(.keyGiven).without(.rowsFiltered)
      .without(.triggersMade)
    let outcome = Simulation<SQLiteDevice>(options).run()

    #expect(outcome.violation == nil, "replay with: \(outcome.options.command)")
  }

  @Test(
    "Seeds of the world where rows are given keys that broke a rule once keep it",
    .enabled(if: SuiteSize.isLong),
    arguments: SuiteSize.few(
      1,
      of: [
        // A row that nothing but an edit of a dropped column kept was made anew, over the edits of others.
        32_000_104,
        // What was added to a counter was on its way when the database took another number, and counted twice.
        32_000_459, 33_000_130,
        // The checker did not know a tag that has followed its list.
        33_000_010,
        // Nor that a reference follows a row to whichever of two keys counts.
        33_000_077, 36_000_492,
        // A zone that was purged was put back with the store, and nobody was asked about that.
        34_000_011,
        // What a column held that its table had dropped did not go along when the row got another key.
        39_000_346,
        // The checker took edits of a row that had gone two ways further on for such of its former key.
        34_000_032,
        // Nor did it know that what an app has erased with its zone need not have gone where a key was changed.
        38_000_094,
        // Nor that a row which gets the key of a deleted one whose edits win outranks these.
        40_000_148,
      ] as [UInt64]
    )
  )
  func keyFailures(seed: UInt64) {
    var options = Self.options(seed, edits: 40)
    options.faults = .default.without(.rowsFiltered)
      .without(.triggersMade)
    let outcome = Simulation<SQLiteDevice>(options).run()

    #expect(outcome.violation == nil, "replay with: \(outcome.options.command)")
  }

  @Test(
    "Seeds of the world before its apps had triggers that broke a rule once keep it",
    .enabled(if: SuiteSize.isLong),
    arguments: SuiteSize.few(
      1,
      of: [
        // Two engines that knew of different former lives told of one move otherwise, and wrote over each other for ever.
        45_000_187, 45_000_001,
        // An engine with another filter, which was still open, held rows back that the present one sends.
        45_000_026, 45_000_357,
        // The checker did not know that who ends one of two lives under one key ends both.
        47_000_314,
        // A full storage had a record deleted, and who had not heard of that made it anew when its zone was lost.
        61_000_011,
        // The checker did not know that who deletes a row's former life ends the present one too, if that has begun by then.
        68_000_154,
        // It took a deletion that nobody had captured for the one that a change of a key had made before.
        94_100_226,
        // A dropped column kept a row under a key that it had left, until the record of that was told.
        600,
        // The checkers did not know that a row may have its former number under a new key, that who leaves a table out
        // cannot have its rows go along, nor that a child's key is as unsure as its parent's.
        984, 1000, 1691,
        // They took a key for the row's first one, and a page for stored while it waited.
        3445, 3363,
        // Two changes of keys that did not know of each other led in a circle, and a reference followed it round for ever.
        10_556,
        // A column that was dropped and added again lost what the cloud had, on that device alone.
        5152,
        // What had gone into two rows made one of them and of another that had the key of one since: in no table.
        60_309,
        // The checker did not know that a row had been deleted, and had come back, before it got its key.
        81_691,
        // The simulated app read a view that its last migration had taken along.
        60_148, 70_319,
        // The checker took what an engine for fewer tables puts back for what a filter holds back.
        72_483,
        // Of a counter that had gone along with its row under another key, what was added before was forgotten.
        90_440,
        // A step that failed and was done again counted the end of a fetch twice: nothing was fetched any more.
        90_150,
      ] as [UInt64]
    )
  )
  func failures(seed: UInt64) {
    var options = Self.options(seed, edits: 40)
    options.faults = .default.without(.triggersMade)
    let outcome = Simulation<SQLiteDevice>(options).run()

    #expect(outcome.violation == nil, "replay with: \(outcome.options.command)")
  }

  @Test(
    "Seeds of the world where engines send only some rows that broke a rule once keep it",
    .enabled(if: SuiteSize.isLong),
    arguments: SuiteSize.few(
      1,
      of: [
        // The checker took a tombstone with its columns for a row.
        41_000_018,
        // It took a deletion by a migration for the one that a change of a key makes.
        41_000_282, 41_000_357,
      ] as [UInt64]
    )
  )
  func filterFailures(seed: UInt64) throws {
    var options = Self.options(seed, edits: 40)
    options.faults = try FaultPlan(parsing: "default,rows-filtered=1/2,-triggers-made")
    let outcome = Simulation<SQLiteDevice>(options).run()

    #expect(outcome.violation == nil, "replay with: \(outcome.options.command)")
  }

  /// With the first an engine is found out whose triggers run after those that the app has made later.
  @Test(
    "Triggers that apps make beside those of engines hide no edit from these",
    arguments: SuiteSize.few(1, of: Array(UInt64(14)...19))
  )
  func triggersOfApps(seed: UInt64) throws {
    var options = Self.options(seed, edits: 40)
    options.faults = try FaultPlan(parsing: "default,triggers-made=1/1")
    let outcome = Simulation<SQLiteDevice>(options).run()

    #expect(outcome.violation == nil, "replay with: \(outcome.options.command)")
  }

  @Test(
    "Seeds that broke a rule once keep it",
    .enabled(if: SuiteSize.isLong),
    arguments: [
      // An edit of another row's, made at the same time under the same key, was taken for what the table had had before.
      92_689,
      // What a row had counted that had a key before was added to what another one brought along to it.
      7_310_275,
    ] as [UInt64]
  )
  func failures(inThePresentWorld seed: UInt64) {
    let outcome = Simulation<SQLiteDevice>(Self.options(seed, edits: 40)).run()

    #expect(outcome.violation == nil, "replay with: \(outcome.options.command)")
  }

  @Test("The command of a simulation of databases names them, and how many edits it has")
  func command() {
    #expect(
      Self.options(7).command == "cloudsync simulate --seed 7 --device sqlite --edits 30"
    )
  }
}
