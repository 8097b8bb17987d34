import CloudSyncChangesets
import CloudSyncSQLite
import CloudSyncSession
import Foundation
import SQLiteBaseline

extension HistoryBenchmarks {
  static func run() throws {
    let bench = try HistoryBenchmarks()
    defer { bench.remove() }
    try bench.commits()
    try bench.pulls()
    try bench.merges()
    try bench.looks()
  }

  private func commits() throws {
    let one = try commit(rows: 1, count: 5_000)
    let ratio = one.history / one.plain
    let figure =
      "\(ratio.rounded(2)) times, \(one.history.rounded(0)) µs where plain takes \(one.plain.rounded(0))"
    add("history: one-row commit", "2.5 times a plain write", figure, ratio <= 2.5)
    let many = try commit(rows: 100, count: 500)
    let manyRatio = many.history / many.plain
    add(
      "history: 100-row commit",
      "2.5 times a plain write",
      "\(manyRatio.rounded(2)) times, \(many.history.rounded(0)) µs where plain takes \(many.plain.rounded(0))",
      manyRatio <= 2.5
    )
    let plain = try database("edits-plain.db")
    let tracked = try database("edits-tracked.db")
    _ = try ChangesetRepository(tracked)
    var times: [Double] = [0, 0]
    for round in 0..<20 {
      for (place, file) in [plain, tracked].enumerated() {
        times[place] += try Self.milliseconds {
          try file.write { handle in
            sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil)
            Self.insert(round * 100..<round * 100 + 100, into: handle)
            sqlite3_exec(handle, "COMMIT", nil, nil, nil)
          }
        }
      }
    }
    add(
      "history: 100 inserts without a commit",
      "2 times a plain write",
      "\((times[1] / times[0]).rounded(2)) times",
      times[1] <= 2 * times[0]
    )
  }

  private func pulls() throws {
    let (one, other, repositories, files) = try pair("pull")
    let count = 10_000
    for number in 0..<count {
      try repositories[0]
        .commit { handle in
          sqlite3_exec(handle, Self.insertion(number), nil, nil, nil)
        }
    }
    let push = try Self.milliseconds { _ = try Self.wait { try await one.push() } }
    let fetch = try Self.milliseconds { _ = try Self.wait { try await other.fetch() } }
    let pull = try Self.milliseconds { _ = try repositories[1].pull() }
    add("history: pull of 10,000 one-row commits", "150 ms", "\(pull.rounded(0)) ms", pull <= 150)
    add("history: push of 10,000 commits", "–", "\(push.rounded(0)) ms", true)
    add("history: fetch of 10,000 commits", "–", "\(fetch.rounded(0)) ms", true)
    let back = try Self.milliseconds { try repositories[1].checkout("HEAD~9999") }
    add("history: checkout 10,000 commits back", "150 ms", "\(back.rounded(0)) ms", back <= 150)
    try repositories[1].switchBranch("main")
    let opening = try Self.milliseconds {
      _ = try ChangesetRepository(files[0])
    }
    add("history: opening with 10,000 commits", "50 ms", "\(opening.rounded(1)) ms", opening <= 50)
    // Ten commits on either side, after a long history.
    for number in 0..<10 {
      for (place, repository) in repositories.enumerated() {
        try repository.commit { handle in
          sqlite3_exec(handle, Self.insertion(1_000_000 + number * 2 + place), nil, nil, nil)
        }
      }
    }
    _ = try Self.wait { try await other.push() }
    _ = try Self.wait { try await one.fetch() }
    let merge = try Self.milliseconds { try repositories[0].mergeAll() }
    add(
      "history: merge of 2 × 10 commits after 10,000",
      "1 ms",
      "\(merge.rounded(2)) ms",
      merge <= 1
    )
  }

  private func merges() throws {
    let (one, other, repositories, _) = try pair("rounds")
    let rounds = 100
    var halves: [Double] = []
    for half in 0..<2 {
      halves.append(
        try Self.milliseconds {
          for round in 0..<rounds {
            for (place, repository) in repositories.enumerated() {
              try repository.commit { handle in
                let number = (half * rounds + round) * 2 + place
                sqlite3_exec(handle, Self.insertion(number), nil, nil, nil)
              }
            }
            for remote in [one, other, one] { _ = try Self.wait { try await remote.sync() } }
          }
        }
      )
    }
    let perRound = (halves[0] + halves[1]) / Double(2 * rounds)
    add(
      "history: two devices, 200 rounds of edits and merges",
      "3 ms a round, the second half no slower",
      "\(perRound.rounded(2)) ms a round, second half \((halves[1] / halves[0]).rounded(2)) times the first",
      perRound <= 3 && halves[1] <= 1.5 * halves[0]
    )
  }

  private func looks() throws {
    let large = try database(
      "large.db",
      """
      CREATE TABLE player(uuid TEXT PRIMARY KEY NOT NULL, name TEXT, score INT, photo INT, note TEXT);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
      INSERT INTO player SELECT 'player-' || i, 'Name ' || i, i, 1, 'note' FROM n;
      """
    )
    let repository = try ChangesetRepository(large)
    try large.execute(
      "UPDATE player SET score = 0 WHERE uuid IN ('player-1', 'player-77', 'player-5000')"
    )
    let status = try Self.milliseconds { _ = try repository.status() }
    add("history: status, 3 edited of 200,000 rows", "5 ms", "\(status.rounded(2)) ms", status <= 5)
    var sum: Int32 = 0
    let select = try Self.milliseconds {
      sum = try large.write { handle in
        var statement: OpaquePointer?
        sqlite3_prepare_v2(handle, "SELECT * FROM player", -1, &statement, nil)
        var count: Int32 = 0
        while sqlite3_step(statement) == SQLITE_ROW {
          for column in 0..<5 { count &+= sqlite3_column_bytes(statement, Int32(column)) }
        }
        sqlite3_finalize(statement)
        return count
      }
    }
    let verify = try Self.milliseconds { _ = try repository.verify() }
    add(
      "history: verify, 200,000 rows of 5 columns and their import",
      "3 times SELECT *",
      "\((verify / select).rounded(1)) times, \(verify.rounded(0)) ms (\(sum > 0 ? "read" : "empty"))",
      verify <= 3 * select
    )
  }
}
