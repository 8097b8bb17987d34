import CloudSyncLocalCloud
import CloudSyncSession
import CloudSyncSQLite
import Foundation

/// A first upload of many rows, and the start of an engine after it.
enum UploadBenchmarks {
  static let rowCount = 1_000_000

  /// A database of so many rows that nobody has synchronized.
  private static func database(at path: String) throws -> PlainDatabase {
    let database = try PlainDatabase(path: path)
    try database.insert((0..<rowCount).map { PlainDatabase.key($0) })
    return database
  }

  private static func connection(_ name: String) -> LocalCloudConnection {
    let cloud = LocalCloud(now: { Timestamp(nanoseconds: 1_700_000_000_000_000_000) })
    let account = AccountIdentity("somebody")
    return cloud.connect(device: name, account: account, zoneID: EngineBenchmarks.zoneID)
  }

  /// Rows a second of a first upload, and the nanoseconds of the next start.
  static func run() throws -> (rowsPerSecond: Double, start: Double) {
    let folder = try ScratchFolder()
    let handler = connection("device")
    let clock = ContinuousClock()
    let rate: Double
    do {
      let database = try database(at: folder.path("rows.sqlite"))
      let begin = clock.now
      let bench = try EngineBenchmarks(database, handler)
      try bench.engine.start()
      try bench.run()
      rate = Double(rowCount) * 1e9 / (clock.now - begin).nanoseconds
      bench.engine.stop()
    }
    var times: [Double] = []
    for _ in 0..<5 {
      let begin = clock.now
      let database = try PlainDatabase(existing: folder.path("rows.sqlite"))
      let bench = try EngineBenchmarks(database, handler)
      try bench.engine.start()
      times.append((clock.now - begin).nanoseconds)
      bench.engine.stop()
    }
    return (rate, times.sorted()[2])
  }

  // MARK: Memory

  /// The most kilobytes that a process needs to upload the rows to a cloud that keeps nothing.
  static func peakKilobytes() throws -> Int {
    let folder = try ScratchFolder()
    let path = folder.path("rows.sqlite")
    _ = try database(at: path)
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
