import CloudSyncChangesets
import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncTestSupport
import Foundation
import Testing

/// Databases that others have made, with three replicas: edited at random, exchanged, compared.
///
/// The files are not in the repository: `CLOUDSYNC_SAMPLES` names a folder that has `chinook.sqlite` and
/// `northwind.sql`, which are published under the MIT licence.
@Suite(.enabled(if: SampleFolder.path != nil))
struct SampleDatabaseTests {
  /// The database of a sample, in a file that the test may change.
  private static func database(_ name: String, in scratch: ScratchFolder) throws -> DatabaseFile {
    let source = "\(SampleFolder.path ?? "")/\(name)"
    let path = scratch.file("desk.db")
    guard name.hasSuffix(".sql") else {
      try FileManager.default.copyItem(atPath: source, toPath: path)
      return try DatabaseFile(path: path, access: .readWrite)
    }
    let database = try DatabaseFile(path: path, createsFile: true)
    // A key that may hold NULL is refused, and the message says what to do.
    let sql = try String(contentsOfFile: source, encoding: .utf8)
      .replacingOccurrences(of: "[CustomerID] TEXT,", with: "[CustomerID] TEXT NOT NULL,")
    try database.execute(sql)
    return database
  }

  private static func options(_ replica: String, tables: [String]) -> ChangesetOptions {
    var options = HistoryBench.options(replica: replica)
    for table in tables { options.tables[table] = .init(hasUniqueIntegerKeys: true) }
    return options
  }

  /// Edits any row of any table, as far as the database takes it.
  private static func edit(
    _ database: DatabaseFile,
    _ tables: [String],
    _ random: inout SplitMix64
  ) throws {
    let table = tables[Int(random.below(UInt64(tables.count)))]
    let columns =
      try database.rows(
        "SELECT name FROM pragma_table_info('\(table)') WHERE pk = 0 AND type LIKE '%CHAR%' OR pk = 0 AND type = 'TEXT'"
      )
      .map { $0.replacingOccurrences(of: "'", with: "\"") }
    let row =
      "rowid = (SELECT rowid FROM \"\(table)\" ORDER BY rowid LIMIT 1 OFFSET \(random.below(50)))"
    let sql: String
    if random.below(8) == 0 || columns.isEmpty {
      sql = "DELETE FROM \"\(table)\" WHERE \(row)"
    } else {
      let column = columns[Int(random.below(UInt64(columns.count)))]
      sql = "UPDATE \"\(table)\" SET \(column) = 'edit \(random.below(1_000_000))' WHERE \(row)"
    }
    // What breaks a constraint is refused, as an app would see it.
    try? database.execute(sql)
  }

  private static func state(_ database: DatabaseFile, _ tables: [String]) throws -> [String] {
    try tables.flatMap { table in
      let columns = try database.rows(
        "SELECT name FROM pragma_table_info('\(table)') ORDER BY name"
      )
      let list = columns.map { $0.replacingOccurrences(of: "'", with: "\"") }
      return
        try database.rows("SELECT '\(table)', \(list.joined(separator: ", ")) FROM \"\(table)\"")
        .sorted()
    }
  }

  @Test(arguments: ["chinook.sqlite", "northwind.sql"])
  func threeReplicasAreEqualAfterAThousandEdits(name: String) async throws {
    let scratch = try ScratchFolder()
    let cloud = LocalCloud()
    let desk = try Self.database(name, in: scratch)
    let tables = try ChangesetRepository.tables(of: desk)
      .filter { try desk.rows("SELECT 1 FROM pragma_table_info('\($0)') WHERE pk > 0") != [] }
    let before = try Self.state(desk, tables)
    let first = try ChangesetRepository(
      desk,
      tables: tables,
      options: Self.options("desk", tables: tables)
    )
    #expect(try Self.state(desk, tables) == before)
    var files = [desk]
    var remotes = [try Self.remote(first, cloud, "desk")]
    try await remotes[0].sync()
    for replica in ["phone", "pad"] {
      let file = try DatabaseFile(path: scratch.file("\(replica).db"), createsFile: true)
      let repository = try await Self.clone(cloud, into: file, replica, tables)
      #expect(try Self.state(file, tables) == before)
      files.append(file)
      remotes.append(try Self.remote(repository, cloud, replica))
    }
    var random = SplitMix64(seed: 70)
    for round in 0..<50 {
      let place = round % 3
      for _ in 0..<20 { try Self.edit(files[place], tables, &random) }
      if random.below(3) > 0 { try await remotes[place].sync() }
    }
    for _ in 0..<3 { for remote in remotes { try await remote.sync() } }
    let after = try Self.state(desk, tables)
    #expect(after != before)
    for (file, remote) in zip(files, remotes) {
      #expect(try Self.state(file, tables) == after)
      #expect(try file.rows("PRAGMA integrity_check") == ["'ok'"])
      #expect(try file.rows("PRAGMA foreign_key_check") == [])
      #expect(try remote.status() == [])
    }
    let copy = try DatabaseFile(path: scratch.file("copy.db"), createsFile: true)
    _ = try await Self.clone(cloud, into: copy, "copy", tables)
    #expect(try Self.state(copy, tables) == after)
  }

  private static func handler(_ cloud: LocalCloud, _ device: String) -> LocalCloudConnection {
    RemoteBench.handler(cloud, device: device)
  }

  private static func remote(
    _ repository: ChangesetRepository,
    _ cloud: LocalCloud,
    _ device: String
  ) throws -> SampleReplica {
    SampleReplica(
      repository: repository,
      remote: try ChangesetRemote(
        repository,
        operationHandler: handler(cloud, device),
        zoneID: RemoteBench.zone,
        assets: AssetOptions(folder: TemporaryFolder.make())
      )
    )
  }

  private static func clone(
    _ cloud: LocalCloud,
    into file: DatabaseFile,
    _ replica: String,
    _ tables: [String]
  ) async throws -> ChangesetRepository {
    try await ChangesetRemote.clone(
      into: file,
      from: handler(cloud, replica),
      zoneID: RemoteBench.zone,
      assets: AssetOptions(folder: TemporaryFolder.make()),
      options: options(replica, tables: tables)
    )
  }
}

/// A history and its remote.
private struct SampleReplica: Sendable {
  let repository: ChangesetRepository
  let remote: ChangesetRemote

  func sync() async throws { try await remote.sync() }

  /// What is not as it should be.
  func status() throws -> [String] {
    let status = try repository.status()
    return try repository.verify().problems + status.tables.map(\.name)
      + status.refused.map(\.reason)
  }
}

/// Where the sample databases are; nil if nobody says.
private enum SampleFolder {
  static let path = ProcessInfo.processInfo.environment["CLOUDSYNC_SAMPLES"]
}
