import CloudSyncSQLiteSimulation
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("Simulation of histories")
struct HistorySimulationTests {
  private static func options(_ seed: UInt64, edits: Int = 40) -> SimulationOptions {
    var options = SimulationOptions(seed: seed)
    options.device = "history"
    options.edits = edits
    return options
  }

  @Test(
    "Histories are equal where nothing goes wrong",
    arguments: UInt64(1)...UInt64(SuiteSize.count(1, long: 6))
  )
  func withoutFaults(seed: UInt64) {
    var options = Self.options(seed, edits: 30)
    options.faults = .none
    let outcome = Simulation<ChangesetDevice>(options).run()

    #expect(outcome.violation == nil, "replay with: \(outcome.options.command)")
    #expect(outcome.eventCount > 50)
  }

  @Test(
    "Histories are equal in the end, whatever goes wrong",
    arguments: UInt64(101)...UInt64(SuiteSize.count(101, long: 106))
  )
  func withFaults(seed: UInt64) {
    let outcome = Simulation<ChangesetDevice>(Self.options(seed)).run()

    #expect(outcome.violation == nil, "replay with: \(outcome.options.command)")
  }

  @Test(
    "What a cloud has lost that was put back is sent again",
    arguments: SuiteSize.few(1, of: [UInt64(141)] + Array(1...12))
  )
  func storeRestored(seed: UInt64) throws {
    var options = Self.options(seed)
    options.faults = try FaultPlan(parsing: "default,store-restored=1/25")
    let outcome = Simulation<ChangesetDevice>(options).run()

    #expect(outcome.violation == nil, "replay with: \(outcome.options.command)")
  }

  @Test(
    "The same seed gives the same logs byte for byte",
    arguments: SuiteSize.few(1, of: [4, 7])
  )
  func isDeterministic(seed: UInt64) {
    let outcome = Simulation<ChangesetDevice>(
      Self.options(seed, edits: SuiteSize.count(20, long: 40))
    )
    .runTwice()

    #expect(outcome.violation == nil, "replay with: \(outcome.options.command)")
    #expect(outcome.logs.count >= 3)
  }

  /// Clouds that lose nothing, so that users remove old changes.
  private static let keepsCloud = "default,-zone-deleted,-zone-purged,-zone-reset,-store-restored"

  @Test(
    "Seeds that broke a rule once keep it",
    arguments: SuiteSize.few(
      1,
      of: [
        // An older app put commits on top of what has columns that it lacks, and took these away.
        (3_262, "default"),
        // A column got another type while an older commit was looked at, and nobody saw that its values were noted.
        (261, "default"),
        // Commits were put on top of a squash whose parents had not come: a state stood in for these, and they were lost.
        (176, "default"),
        // A copied file brought triggers along, and nobody looked what they wrote.
        (710_116, "default"),
        // What stood on a squash had a column's new name, and the model read the old one as the same column.
        (95_000_662, "default"),
        // A row that a merge had kept could not be deleted because of others, and nobody was told so.
        (95_000_384, "default"),
        // A migration renamed a column, and a parked row lost what it held there.
        (94_300_145, "default"),
        // A branch whose commits a rebase had brought anew began beside them once more.
        (93_001_521, "default"),
        // The first parent of a merge depended on a column that the merging app lacked.
        (412, "default"),
        // A copied file counted sessions that the device had had already.
        (498, "default"),
        // A zone was made again by one replica, and the others took what it had held for sent.
        (45, "default"),
        // Rows of an older app were NULL on one replica and had the default on others.
        (16, "none"),
        // A state that counts a column was held against one that lacks it.
        (30, "none"),
        // What a merge had lost of a row came back without the row.
        (29, "default"),
        // A zone that the user had erased.
        (34, "default"),
        // What a merge had lost came back and referred to a row that was gone: where gc runs, since no cloud is lost.
        (783, "kept cloud"), (866, "kept cloud"),
        // Of two BLOBs of one time the digests decide, which the model did not know.
        (5050, "default"),
        // A rule of one replica's tables took a row from all.
        (661, "default"),
        // A reference to another column than the key does not follow the key, which the edits' notes did not know.
        (323, "default"),
        // An app that lacks a column merges two rows of it, and says nothing of which is newer.
        (336, "default"),
        // A branch that one replica had begun, and no more, was deleted by another, and stayed there.
        (1424, "default"),
        // A merge deleted a row of which both sides had the same NULL.
        (50053, "default"),
        // Commits waited for what had gone with a squash, and copies held heads that only their makers can rebase.
        (60014, "default"), (60035, "default"), (60079, "default"),
        // What had lost beside the horizon was listed nowhere after a rebase.
        (60040, "default"), (60067, "default"),
        // A commit was on its way when the zone was lost, and what it goes on from went with the zone and a squash.
        (113, "default"),
        // An older app committed on, and merged, what it lacks a column of.
        (185, "default"), (572, "default"),
        // Nobody was asked about what had come back with its row, as the model had it.
        (575, "default"),
        // The model counted as an edit what the base had had, and took one of two cells for a column that nobody could know
        // to be renamed; it asked for the time of what was made beside such a column.
        (2661, "default"), (2705, "default"), (1857, "default"), (1713, "default"),
        // A row that was edited and not committed was no longer what had been written, once others had filled its column.
        (2909, "default"), (3820, "default"), (5657, "default"),
        // A reset ended while it deleted, and its deletion was carried out when everything was taken to be there.
        (5480, "default"),
        // The model took a value that says nothing of a renamed column for the column's.
        (6217, "default"), (21015, "default"),
        // What was put on top of one squash was beside the next one, and what it stood for counted as left behind.
        (30008, "default"),
        // A session whose last fetch was cancelled waited for more pages; one that began with a subscription counted on.
        (30524, "default"), (30652, "default"),
        // All of the main branch was before the commit that the history was squashed to, and new copies had no rows there.
        (52_000_351, "default"),
        // A copy that stood before a merge, with nothing uncommitted, listed what the others had back.
        (6023, "default"),
      ]
    )
  )
  func isKept(seed: UInt64, faults: String) throws {
    var options = Self.options(seed)
    options.faults = try FaultPlan(parsing: faults == "kept cloud" ? Self.keepsCloud : faults)
    let outcome = Simulation<ChangesetDevice>(options).run()

    #expect(outcome.violation == nil, "replay with: \(outcome.options.command)")
  }
}
