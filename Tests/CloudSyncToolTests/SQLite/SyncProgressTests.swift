import CloudSyncTestSupport
import Testing

@testable import CloudSyncSQLite
@testable import cloudsync

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("The progress of cloudsync sync")
struct SyncProgressTests {
  /// So many rows, whichever copy has them.
  private static func fill(rows: Int) -> String {
    """
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
    INSERT INTO t SELECT 'row ' || i, 'some text of row ' || i FROM n
    """
  }

  private func sync(_ bench: ToolHarness, _ name: String) -> ToolHarness.Outcome {
    bench.run(
      ["sync", "@\(name)", "--cloud", "@cloud", "--create", "--all", "--log", "@\(name).jsonl"],
      showsProgress: true
    )
  }

  /// What was shown, one after the other, without what wipes it.
  private func texts(_ outcome: ToolHarness.Outcome) -> [String] {
    outcome.errors.split(separator: "\r")
      .map { text in String(text.reversed().drop { $0 == " " }.reversed()) }
      .filter { !$0.isEmpty }
  }

  @Test(
    "It ends with all there was: of a copy that is uploaded, of one that receives and of one that has all already"
  )
  func whole() throws {
    try ToolHarness.run { bench in
      for (name, rows) in [("full.db", 800), ("empty.db", 0), ("seeded.db", 800)] {
        try bench.sql(name, "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, v TEXT)", "SELECT 1")
        if rows > 0 { try bench.sql(name, Self.fill(rows: rows)) }
      }
      let bar = "[####################] 100 %, "
      for (name, end) in [
        ("full.db", bar + "800 of 800 rows up"), ("empty.db", bar + "800 received"),
        // Whether its own rows are counted before the cloud's have come is a matter of time.
        ("seeded.db", bar + "800 "),
      ] {
        let outcome = sync(bench, name)
        let texts = texts(outcome)
        #expect(outcome.code == 0 && texts.last?.hasPrefix(end) == true, "\(name): \(texts)")
        #expect(!texts.contains { $0.hasPrefix("0 ") || $0.contains(" 0 received") }, "\(texts)")
      }
      // The log has each row a few times: as a record, and in the states before and after.
      let size = try #require(bench.bytes("full.db.jsonl")).count
      #expect(size < 1_500_000, "\(size) bytes")
    }
  }

  @Test("Nothing is told before there is anything, and no bar while nobody knows how much comes")
  func receiving() {
    var progress = SyncActivity.Progress()
    #expect(progress.text() == nil && progress.text(isOver: true) == nil)
    progress.received = 3
    #expect(progress.text() == "3 received")
    #expect(progress.text(isOver: true) == "[####################] 100 %, 3 received")
  }

  @Test("A copy that is uploaded shows how many of its rows are up, and all of them in the end")
  func uploading() {
    var progress = SyncActivity.Progress()
    progress.total = 4
    #expect(progress.text() == "[····················] 0 %, 0 of 4 rows up")
    progress.done = 3
    progress.received = 2
    #expect(progress.text() == "[###############·····] 75 %, 3 of 4 rows up, 2 received")
    #expect(
      progress.text(isOver: true) == "[####################] 100 %, 4 of 4 rows up, 2 received"
    )
  }
}
