import CloudSyncLocalCloud
import CloudSyncSession

/// The sections about the local cloud.
enum CloudSections {
  static func saves() throws {
    let batches = CloudBenchmarks.batches(250)
    let memory = try median(5) { try recordsPerSecond(batches, MemoryStore()) }
    add(
      "local cloud in memory, 400-record saves",
      "400,000 records/s",
      "\(memory.grouped) records/s",
      memory >= 400_000
    )
    // In pairs, because a machine is not as fast at every moment.
    let pairs = try (0..<5)
      .map { _ in
        let folder = try ScratchFolder()
        let plain = try PlainInserts.recordsPerSecond(batches, at: folder.path("plain.sqlite"))
        let store = try SQLiteStore(path: folder.path("cloud.sqlite"))
        return (cloud: try recordsPerSecond(batches, store), plain: plain)
      }
      .sorted { $0.cloud / $0.plain < $1.cloud / $1.plain }
    let pair = pairs[pairs.count / 2]
    add(
      "local cloud in a file, 400-record saves",
      "half of plain SQLite inserts of the same bytes",
      "\((pair.cloud / pair.plain).rounded(2)), \(pair.cloud.grouped) against \(pair.plain.grouped) records/s",
      pair.cloud / pair.plain >= 0.5
    )
  }

  static func feed() throws {
    let folder = try ScratchFolder()
    let stores: [(name: String, store: any LocalCloudStore)] = [
      ("in memory", MemoryStore()),
      ("in a file", try SQLiteStore(path: folder.path("cloud.sqlite"))),
    ]
    for (name, store) in stores {
      var bench = CloudBenchmarks(store)
      for batch in CloudBenchmarks.batches(2_500) { _ = try bench.save(batch) }
      let rate = try pages(&bench)
      add(
        "change feed of 1,000,000 records \(name)",
        "400,000 records/s, the same for every page",
        "\(rate.records.grouped) records/s; last pages take \(rate.growth.rounded(2)) times the first",
        rate.records >= 400_000 && rate.growth < 1.5
      )
    }
  }

  private static func recordsPerSecond(
    _ batches: [ModifyOperation],
    _ store: any LocalCloudStore
  ) throws -> Double {
    var bench = CloudBenchmarks(store)
    let clock = ContinuousClock()
    let start = clock.now
    for batch in batches { _ = try bench.save(batch) }
    let seconds = (clock.now - start).nanoseconds / 1e9
    return Double(batches.count * CloudBenchmarks.batchSize) / seconds
  }

  /// Reads the whole feed, and compares its last pages with its first.
  private static func pages(
    _ bench: inout CloudBenchmarks
  ) throws -> (records: Double, growth: Double) {
    var token: ChangeToken?
    var count = 0
    var times: [Double] = []
    let clock = ContinuousClock()
    var hasMore = true
    while hasMore {
      let start = clock.now
      let page = try bench.page(after: token)
      times.append((clock.now - start).nanoseconds)
      token = page.changeToken
      count += page.changedRecords.count
      hasMore = page.hasMore
    }
    let tenth = times.count / 10
    let first = times[tenth..<2 * tenth].sorted()[tenth / 2]
    let last = times.suffix(tenth).sorted()[tenth / 2]
    return (Double(count) / (times.reduce(0, +) / 1e9), last / first)
  }

  private static func median(_ runs: Int, _ body: () throws -> Double) rethrows -> Double {
    _ = try body()
    return try (0..<runs).map { _ in try body() }.sorted()[runs / 2]
  }
}
