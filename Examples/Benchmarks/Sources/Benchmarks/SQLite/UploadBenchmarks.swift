import CloudSyncLocalCloud
import CloudSyncSession
import CloudSyncSQLite
import Foundation

/// A first upload of many rows, and what comes after it.
enum UploadBenchmarks {
  /// The environment may ask for fewer: `CLOUDSYNC_ROWS=100000`.
  static let rowCount =
    ProcessInfo.processInfo.environment["CLOUDSYNC_ROWS"].flatMap { Int($0) } ?? 1_000_000

  /// What was measured.
  struct Figures {
    var rowsPerSecond = 0.0
    /// What the process has written for a row, the cloud in memory nothing of it.
    var bytesPerRow = 0.0
    /// What the metadata of a clean row takes in the file; nil where SQLite cannot tell.
    var metadataPerRow: Double?
    /// The nanoseconds of the next start, and of comparing all rows with what is known of them.
    var start = 0.0
    var reconciliation = 0.0
  }

  /// A database of so many rows that nobody has synchronized.
  private static func database(at path: String, _ count: Int) throws -> PlainDatabase {
    let database = try PlainDatabase(path: path)
    try database.insert((0..<count).map { PlainDatabase.key($0) })
    return database
  }

  private static func cloud() -> LocalCloud {
    LocalCloud(now: { Timestamp(nanoseconds: 1_700_000_000_000_000_000) })
  }

  private static func connection(_ name: String, to cloud: LocalCloud) -> LocalCloudConnection {
    let account = AccountIdentity("somebody")
    return cloud.connect(device: name, account: account, zoneID: EngineBenchmarks.zoneID)
  }

  /// A first upload, and starts after it.
  static func run() throws -> Figures {
    let folder = try ScratchFolder()
    let path = folder.path("rows.sqlite")
    let handler = connection("device", to: cloud())
    var figures = Figures()
    do {
      let database = try database(at: path, rowCount)
      let written = writtenBytes()
      let begin = ProcessorTime.now
      let bench = try EngineBenchmarks(database, handler)
      try bench.engine.start()
      try bench.run()
      figures.rowsPerSecond = Double(rowCount) * 1e9 / (ProcessorTime.now - begin)
      figures.bytesPerRow = Double(writtenBytes() - written) / Double(rowCount)
      bench.engine.stop()
      figures.metadataPerRow = metadata(database)
    }
    var times: [Double] = []
    for _ in 0..<5 {
      let begin = ProcessorTime.now
      let database = try PlainDatabase(existing: path)
      let bench = try EngineBenchmarks(database, handler)
      try bench.engine.start()
      times.append(ProcessorTime.now - begin)
      bench.engine.stop()
    }
    figures.start = times.sorted()[2]
    figures.reconciliation = try reconciliation(path, handler)
    return figures
  }

  /// The nanoseconds of comparing a table of clean rows, as is asked for when edits may have gone uncaptured.
  private static func reconciliation(
    _ path: String,
    _ handler: LocalCloudConnection
  ) throws -> Double {
    let database = try PlainDatabase(existing: path)
    let bench = try EngineBenchmarks(database, handler)
    try bench.engine.start()
    // Its own saves come back first.
    bench.runOnce()
    try database.file.execute(
      "INSERT INTO cloudsync_facts VALUES('unreconciled', (SELECT CAST(id AS TEXT) FROM cloudsync_tables))"
    )
    let begin = ProcessorTime.now
    bench.engine.sendChanges()
    bench.runOnce()
    let time = ProcessorTime.now - begin
    bench.engine.stop()
    let open = "SELECT count(*) FROM cloudsync_facts WHERE key = 'unreconciled'"
    guard try database.count(open) == 0 else {
      throw SyncError(.internalError, "the table was not compared")
    }
    return time
  }

  /// What a clean row's metadata takes in the file.
  private static func metadata(_ database: PlainDatabase) -> Double? {
    let pages = "SELECT sum(pgsize) FROM dbstat WHERE name = 'cloudsync_known'"
    guard let bytes = try? database.count(pages),
      let rows = try? database.count("SELECT count(*) FROM cloudsync_known")
    else { return nil }
    return Double(bytes) / Double(rows)
  }

  /// What the process has given to the system to write so far; 0 where it does not tell.
  private static func writtenBytes() -> Int {
    guard let status = try? String(contentsOfFile: "/proc/self/io", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("wchar:") })
    else { return 0 }
    return line.split(separator: " ").last.flatMap { Int($0) } ?? 0
  }

  // MARK: A copy

  static let copiedCount = 60_000

  /// The nanoseconds until a copy of rows is clean that the cloud has already, and how many records it has sent.
  static func mergeCopy() throws -> (time: Double, sent: Int) {
    let folder = try ScratchFolder()
    let cloud = cloud()
    let first = try database(at: folder.path("first.sqlite"), copiedCount)
    let sender = try EngineBenchmarks(first, connection("first", to: cloud))
    try sender.engine.start()
    try sender.run()
    let copy = try database(at: folder.path("copy.sqlite"), copiedCount)
    let handler = CountingHandler(connection("copy", to: cloud))
    let bench = try EngineBenchmarks(copy, handler)
    let begin = ProcessorTime.now
    try bench.engine.start()
    bench.runOnce()
    let time = ProcessorTime.now - begin
    try bench.run()
    return (time, handler.sent)
  }

  // MARK: Memory

  /// The most kilobytes that a process needs to upload the rows to a cloud that keeps nothing.
  static func peakKilobytes() throws -> Int {
    let folder = try ScratchFolder()
    let path = folder.path("rows.sqlite")
    _ = try database(at: path, rowCount)
    return try Peak.ofProcess(["upload", path])
  }

  /// What that process does.
  static func upload(_ path: String) throws {
    let database = try PlainDatabase(existing: path)
    let bench = try EngineBenchmarks(database, BenchmarkHandler(answersAtOnce: true))
    try bench.engine.start()
    try bench.run()
  }
}
