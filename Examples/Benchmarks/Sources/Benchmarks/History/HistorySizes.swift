import CloudSyncChangesets
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSession
import Foundation
import SQLiteBaseline

extension HistoryBenchmarks {
  /// How much a commit takes in the database and in the cloud, above the values that it holds.
  func storage() throws {
    let count = 10_000
    // What a commit has to hold: a key, a text and two integers.
    let values = (0..<count)
      .reduce(0) { $0 + "player-\($1)-\($1 &* 2_654_435_761 % 1_000_003)".utf8.count + 4 + 3 + 1 }
    let plain = try database("size-plain.db")
    let tracked = try database("size-tracked.db")
    let repository = try ChangesetRepository(tracked, options: ChangesetOptions(replica: "a"))
    for number in 0..<count {
      try HistoryBaselines.plain(plain, number..<number + 1)
      try repository.commit { Self.insert(number..<number + 1, into: $0) }
    }
    let pages = try [plain, tracked]
      .map { file -> Int in
        try file.execute("VACUUM")
        return Int(
          try Self.integer(
            "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
            file
          )
        )
      }
    let perCommit = Double(pages[1] - pages[0] - values) / Double(count)
    add(
      "history: storage of a one-row commit above its values",
      "150 bytes",
      "\(perCommit.rounded(0)) bytes, beside \(values / count) of values",
      perCommit <= 150
    )
    let cloud = LocalCloud()
    let zone = ZoneID(name: "History")
    let account = AccountIdentity("ada")
    let remote = try ChangesetRemote(
      repository,
      operationHandler: cloud.connect(device: "a", account: account, zoneID: zone),
      zoneID: zone
    )
    _ = try Self.wait { try await remote.push() }
    let records = try cloud.records(account: account, zone: zone)
    let bytes = records.reduce(0) { sum, record in
      if case .data(let data)? = record["data"] { sum + data.count } else { sum }
    }
    let packed = Double(bytes - values) / Double(count)
    add(
      "history: a one-row commit in a pack above its values",
      "80 bytes",
      "\(packed.rounded(0)) bytes, \(records.count) packs",
      packed <= 80
    )
  }

  static func integer(_ sql: String, _ file: DatabaseFile) throws -> Int64 {
    try file.write { handle in
      var statement: OpaquePointer?
      sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
      defer { sqlite3_finalize(statement) }
      return sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0
    }
  }

  /// Copies of a long history, before and after it was squashed.
  func clones() throws {
    let count = 50_000
    let cloudPath = folder.appending(path: "clone.cloud").path
    let source = try database("clone-source.db")
    let repository = try ChangesetRepository(source, options: ChangesetOptions(replica: "a"))
    for number in 0..<count {
      try repository.commit { Self.insert(number..<number + 1, into: $0) }
    }
    let opening = try Self.milliseconds { _ = try ChangesetRepository(source) }
    for _ in 0..<count {
      try repository.commit { handle in
        sqlite3_exec(handle, "UPDATE player SET score = score + 1 WHERE rowid = 1", nil, nil, nil)
      }
    }
    _ = try ChangesetRepository(source)
    let later = try Self.milliseconds { _ = try ChangesetRepository(source) }
    add(
      "history: opening with 100,000 commits",
      "50 ms",
      "\(later.rounded(1)) ms, with 50,000 never opened before \(opening.rounded(1)) ms",
      later <= 50
    )
    let short = try database("clone-short.db")
    let fresh = try ChangesetRepository(short, options: ChangesetOptions(replica: "a"))
    for number in 0..<count {
      try fresh.commit { Self.insert(number..<number + 1, into: $0) }
    }
    try Self.push(fresh, cloudPath)
    let plain = try database("clone-plain.db")
    let inserts = try Self.milliseconds { try HistoryBaselines.plain(plain, 0..<count) }
    let whole = try Self.milliseconds { try Self.clone(cloudPath, "c1", self) }
    add(
      "history: clone of 50,000 commits",
      "2 times inserting their rows",
      "\((whole / inserts).rounded(1)) times, \(whole.rounded(0)) against \(inserts.rounded(0)) ms",
      whole <= 2 * inserts
    )
    let peak = try Peak.ofProcess(["clone", cloudPath])
    add(
      "history: memory of a clone of 50,000 commits",
      "200 MB",
      "\(peak / 1_000) MB",
      peak <= 200_000
    )
    let squashed = try Self.squash(fresh, cloudPath)
    let after = try Self.milliseconds { try Self.clone(cloudPath, "c2", self) }
    add(
      "history: the same after a squash of all but 100 commits",
      "–",
      "\((after / inserts).rounded(1)) times, \(after.rounded(0)) ms; the squash took \(squashed.rounded(0)) ms",
      true
    )
  }

  private static let zone = ZoneID(name: "History")

  private static func handler(_ path: String, _ device: String) throws -> any OperationHandler {
    LocalCloud(store: try SQLiteStore(path: path), assetFolder: path + "-assets")
      .connect(device: device, account: AccountIdentity("ada"), zoneID: zone)
  }

  private static func remote(
    _ repository: ChangesetRepository,
    _ path: String
  ) throws -> ChangesetRemote {
    try ChangesetRemote(
      repository,
      operationHandler: try handler(path, "a"),
      zoneID: zone,
      assets: AssetOptions(folder: path + "-staged")
    )
  }

  private static func push(_ repository: ChangesetRepository, _ path: String) throws {
    let remote = try remote(repository, path)
    defer { remote.stop() }
    _ = try wait { try await remote.push() }
  }

  private static func squash(_ repository: ChangesetRepository, _ path: String) throws -> Double {
    let remote = try remote(repository, path)
    defer { remote.stop() }
    return try milliseconds { _ = try wait { try await remote.squash(depth: 100) } }
  }

  private static func clone(_ path: String, _ name: String, _ bench: HistoryBenchmarks) throws {
    try clone(path, into: bench.folder.appending(path: "\(name).db").path, device: name)
  }

  /// Clones a history from a cloud in a file.
  static func clone(_ path: String, into target: String, device: String) throws {
    let file = try DatabaseFile(path: target, createsFile: true)
    let handler = try handler(path, device)
    let assets = AssetOptions(folder: target + "-staged")
    _ = try wait {
      try await ChangesetRemote.clone(
        into: file,
        from: handler,
        zoneID: zone,
        assets: assets,
        options: ChangesetOptions(replica: device)
      )
    }
  }
}
