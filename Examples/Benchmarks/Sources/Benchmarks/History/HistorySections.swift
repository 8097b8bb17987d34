import CloudSyncChangesets
import CloudSyncLocalCloud
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
    try bench.branches()
    try bench.looks()
    try bench.storage()
    try bench.clones()
  }

  private func commits() throws {
    for (rows, count) in [(1, 5_000), (100, 500)] {
      let times = try commit(rows: rows, count: count)
      let ratio = times.history / times.plain
      add(
        "history: \(rows == 1 ? "one" : "100")-row commit",
        "2.5 times a plain write",
        "\(ratio.rounded(2)) times, \(HistoryBaselines.ratio(times.history, toSession: times.session));"
          + " \(times.history.rounded(0)) µs, plain \(times.plain.rounded(0)), session \(times.session.rounded(0))",
        ratio <= 2.5
      )
    }
    let plain = try database("edits-plain.db")
    let tracked = try database("edits-tracked.db")
    _ = try ChangesetRepository(tracked)
    var times: [[Double]] = [[], []]
    for round in 0..<30 {
      for (place, file) in [plain, tracked].enumerated() {
        times[place]
          .append(
            try Self.milliseconds {
              try HistoryBaselines.plain(file, round * 100..<round * 100 + 100)
            }
          )
      }
    }
    let ratio = Self.median(times[1]) / Self.median(times[0])
    add(
      "history: 100 inserts without a commit",
      "2 times a plain write",
      "\(ratio.rounded(2)) times",
      ratio <= 2
    )
  }

  private func pulls() throws {
    let (one, other, repositories, _) = try pair("pull")
    let count = 20_000
    for number in 0..<count / 2 { try insert(number, repositories[0]) }
    let push = try Self.milliseconds { _ = try Self.wait { try await one.push() } }
    let fetch = try Self.milliseconds { _ = try Self.wait { try await other.fetch() } }
    let pull = try Self.milliseconds { _ = try repositories[1].pull() }
    let plain = try database("pull-plain.db")
    let inserts = try Self.milliseconds { try HistoryBaselines.plain(plain, 0..<count / 2) }
    add(
      "history: pull of 10,000 one-row commits",
      "150 ms, 3 times plain inserts",
      "\(pull.rounded(0)) ms, \((pull / inserts).rounded(1)) times",
      pull <= 150 && pull <= 3 * inserts
    )
    add(
      "history: push and fetch of 10,000 commits",
      "–",
      "\(push.rounded(0)) and \(fetch.rounded(0)) ms",
      true
    )
    let back = try Self.milliseconds { try repositories[1].checkout("HEAD~9999") }
    add("history: checkout 10,000 commits back", "150 ms", "\(back.rounded(0)) ms", back <= 150)
    try repositories[1].switchBranch("main")
    for number in count / 2..<count { try insert(number, repositories[0]) }
    _ = try Self.wait { try await one.push() }
    _ = try Self.wait { try await other.fetch() }
    try repositories[1].pull()
    // Ten commits on either side, after a long history.
    var merges: [Double] = []
    for turn in 0..<5 {
      for number in 0..<10 {
        for (place, repository) in repositories.enumerated() {
          try insert(1_000_000 + turn * 100 + number * 2 + place, repository)
        }
      }
      _ = try Self.wait { try await other.push() }
      _ = try Self.wait { try await one.fetch() }
      merges.append(try Self.milliseconds { try repositories[0].mergeAll() })
      try repositories[0].pull()
      _ = try Self.wait { try await one.push() }
      _ = try Self.wait { try await other.fetch() }
      try repositories[1].pull()
    }
    let merge = Self.median(merges)
    add(
      "history: merge of 2 × 10 commits after 20,000",
      "1 ms",
      "\(merge.rounded(2)) ms",
      merge <= 1
    )
  }

  private func insert(_ number: Int, _ repository: ChangesetRepository) throws {
    try repository.commit { Self.insert(number..<number + 1, into: $0) }
  }

  /// Two hundred branches, each of a replica of its own, with a unique key between them.
  private func branches() throws {
    let schema =
      "CREATE TABLE player(uuid TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE, score INT, photo INT);"
    let cloud = LocalCloud()
    let zone = ZoneID(name: "History")
    let connect = { (file: DatabaseFile, device: String) throws -> ChangesetRemote in
      try ChangesetRemote(
        try ChangesetRepository(file, options: ChangesetOptions(replica: device)),
        operationHandler: cloud.connect(
          device: device,
          account: AccountIdentity("ada"),
          zoneID: zone
        ),
        zoneID: zone
      )
    }
    for branch in 0..<200 {
      let file = try database("branch-\(branch).db", schema)
      let remote = try connect(file, "b\(branch)")
      let repository = try ChangesetRepository(
        file,
        options: ChangesetOptions(replica: "b\(branch)")
      )
      for number in 0..<20 {
        try repository.commit { handle in
          let key = "\(branch)-\(number)"
          sqlite3_exec(
            handle,
            "INSERT INTO player VALUES('\(key)', 'n\(key)', 1, 1)",
            nil,
            nil,
            nil
          )
        }
      }
      _ = try Self.wait { try await remote.push() }
      remote.stop()
    }
    let file = try database("branches.db", schema)
    let remote = try connect(file, "all")
    _ = try Self.wait { try await remote.fetch() }
    let repository = try ChangesetRepository(file, options: ChangesetOptions(replica: "all"))
    var count = 0
    let merge = try Self.milliseconds { count = try repository.mergeAll().count }
    add(
      "history: mergeAll of 200 branches of 20 commits, with a unique key",
      "500 ms",
      "\(merge.rounded(0)) ms, \(count) merges",
      merge <= 500 && count == 199
    )
  }

  private func merges() throws {
    let (one, other, repositories, _) = try pair("rounds")
    let rounds = 500
    var halves: [Double] = []
    for half in 0..<2 {
      halves.append(
        try Self.milliseconds {
          for round in 0..<rounds {
            for (place, repository) in repositories.enumerated() {
              try insert((half * rounds + round) * 2 + place, repository)
            }
            for remote in [one, other, one] { _ = try Self.wait { try await remote.sync() } }
          }
        }
      )
    }
    let perRound = (halves[0] + halves[1]) / Double(2 * rounds)
    add(
      "history: two devices, 1,000 rounds of edits and merges",
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
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
      INSERT INTO player SELECT 'player-' || i, 'Name ' || i, i, 1, 'note' FROM n;
      """
    )
    let repository = try ChangesetRepository(large)
    try large.execute(
      "UPDATE player SET score = 0 WHERE uuid IN (SELECT 'player-' || value * 7777 FROM json_each('[1,2,3,4,5,6,7,8,9,10]'))"
    )
    let status = try Self.milliseconds { _ = try repository.status() }
    add(
      "history: status, 10 edited of 1,000,000 rows",
      "5 ms",
      "\(status.rounded(2)) ms",
      status <= 5
    )
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
      "history: verify, 1,000,000 rows of 5 columns and their import",
      "3 times SELECT *",
      "\((verify / select).rounded(1)) times, \(verify.rounded(0)) ms (\(sum > 0 ? "read" : "empty"))",
      verify <= 3 * select
    )
  }
}
