import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Testing

@testable import CloudSyncChangesets

/// A process that ends in the middle: at every statement, before or after but never between.
@Suite struct InterruptionTests {
  private static func fill(_ bench: HistoryBench) throws {
    for number in 1...6 {
      try bench.commit(
        "INSERT INTO people(id, score) VALUES('p\(number)', \(number)); UPDATE people SET score = score + 1"
      )
    }
  }

  private static func state(_ bench: HistoryBench) throws -> [String] {
    let head = try bench.repository.head()
    return try bench.rows("SELECT * FROM people ORDER BY id") + ["\(head)"]
  }

  @Test func aCheckoutIsDoneOrNotDone() throws {
    let count = try StatementBreaks.breaking(Self.fill, { try $0.checkout("HEAD~4") }, Self.state)
    #expect(count > 10)
  }

  @Test func aCommitIsMadeOrNotMade() throws {
    let count = try StatementBreaks.breaking(
      { bench in
        try Self.fill(bench)
        try bench.database.execute(
          "UPDATE people SET note = 'n'; DELETE FROM people WHERE id = 'p1'"
        )
      },
      { try $0.commit(meta: "x") },
      Self.state
    )
    #expect(count > 5)
  }

  @Test func aRevertIsMadeOrNotMade() throws {
    let count = try StatementBreaks.breaking(Self.fill, { try $0.revert("HEAD") }, Self.state)
    #expect(count > 10)
  }

  @Test func oldChangesAreRemovedOrNotRemoved() throws {
    let count = try StatementBreaks.breaking(
      { try Self.fill($0) },
      { try $0.gc(depth: 2, includingUnsent: true) },
      { bench in
        try Self.state(bench)
          + bench.rows("SELECT seq, body IS NULL FROM changesets_log ORDER BY seq")
          + bench.repository.log().map(\.meta)
      }
    )
    #expect(count > 10)
  }

  @Test func aPageIsStoredWithItsTokenOrNotAtAll() throws {
    let other = try HistoryBench(replica: "phone")
    try Self.fill(other)
    let pack = try other.repository.read { (work) throws(ChangesetError) in
      try PackBuilder(work: work).next(after: 0)?.pack
    }
    let bytes = try #require(pack).bytes
    let count = try StatementBreaks.breaking(
      { try $0.commit("INSERT INTO people(id) VALUES('mine')") },
      { repository in
        try repository.write { (work) throws(ChangesetError) in
          _ = try PackIntake(work: work).take(name: Pack.name(of: bytes), .success(bytes))
          try work.info.set(.token, .blob([1]))
        }
      },
      { bench in
        try bench.rows("SELECT count(*) FROM changesets_log")
          + bench.rows("SELECT branch, seq FROM changesets_heads ORDER BY number")
          + bench.rows("SELECT value FROM changesets_info WHERE name = 'token'")
      }
    )
    #expect(count > 20)
  }

  @Test func aMigrationIsMadeOrNotMade() throws {
    let count = try StatementBreaks.breaking(
      Self.fill,
      { repository in
        try ChangesetRepository.migrate(repository.database, options: HistoryBench.options()) {
          try SQLiteConnection(borrowing: $0)
            .execute(
              "ALTER TABLE people ADD COLUMN height DEFAULT 3; UPDATE people SET height = score"
            )
        }
      },
      { bench in
        try bench.rows("SELECT * FROM people ORDER BY id")
          + bench.rows("SELECT kind FROM changesets_log ORDER BY seq")
          + bench.rows("SELECT name FROM sqlite_schema ORDER BY name")
      }
    )
    #expect(count > 10)
  }

  @Test func aMergeIsMadeOrNotMade() throws {
    let other = try HistoryBench(replica: "phone")
    try other.commit("INSERT INTO people(id, score) VALUES('p1', 70)")
    let count = try StatementBreaks.breaking(
      { bench in
        try Self.fill(bench)
        try bench.take(from: other)
      },
      { try $0.mergeAll() },
      { try $0.rows("SELECT hex(id) FROM changesets_log") }
    )
    #expect(count > 10)
  }
}
