/// The sections about the SQLite engine.
enum SQLiteSections {
  static func capture() throws {
    let keys = (0..<100_000).map { PlainDatabase.key($0) }
    addRatio(
      "100,000 rows in transactions of 1,000 with the triggers",
      "at most 1.3 times the time without",
      try EngineBenchmarks.inserts(keys, pairs: 5),
      limit: 1.3,
      per: 100_000
    )
    addRatio(
      "a one-row update in its own transaction",
      "at most 1.6 times the time without",
      try EngineBenchmarks.updates(Array(keys.prefix(20_000)), pairs: 5),
      limit: 1.6,
      per: 1
    )
  }

  static func apply() throws {
    let keys = (0..<100_000).map { PlainDatabase.key($0) }
    let pairs = try EngineBenchmarks.applies(keys, pairs: 5)
    let pair = median(pairs)
    let rate = 1e9 * 100_000 / pair.with
    let ratio = pair.with / pair.without
    add(
      "applying 100,000 fetched records",
      "at most 1.5 times plain inserts, 80,000 records/s",
      "\(ratio.rounded(2)) times, \(rate.grouped) records/s",
      ratio <= 1.5 && rate >= 80_000
    )
  }

  static func upload() throws {
    let figures = try UploadBenchmarks.run()
    let rows = "\(Double(UploadBenchmarks.rowCount).grouped)"
    add(
      "first upload of \(rows) rows to a local cloud in memory",
      "40,000 rows/s, under 0.8 KB written a row",
      "\(figures.rowsPerSecond.grouped) rows/s, \((figures.bytesPerRow / 1e3).rounded(2)) KB",
      figures.rowsPerSecond >= 40_000 && figures.bytesPerRow < 800
    )
    if let size = figures.metadataPerRow {
      add(
        "metadata of a clean row whose times are equal, in the file",
        "90 bytes",
        "\(size.rounded(0)) bytes",
        size <= 90
      )
    }
    addTime("start of an engine on \(rows) clean rows", 10, figures.start)
    addTime(
      "comparing \(rows) clean rows with what is known of them",
      3_000,
      figures.reconciliation
    )
  }

  static func copy() throws {
    let (time, sent) = try UploadBenchmarks.mergeCopy()
    let rows = "\(Double(UploadBenchmarks.copiedCount).grouped)"
    add(
      "merging an identical copy of \(rows) rows",
      "2 s, nothing sent",
      "\((time / 1e9).rounded(2)) s, \(sent) records sent",
      time <= 2e9 && sent == 0
    )
  }

  static func peak() throws {
    let peak = Double(try UploadBenchmarks.peakKilobytes()) / 1_000
    add(
      "memory for that upload, besides the cloud",
      "200 MB",
      "\(peak.rounded(0)) MB",
      peak < 200
    )
  }

  private static func addTime(_ name: String, _ milliseconds: Double, _ time: Double) {
    add(
      name,
      "\(milliseconds.rounded(0)) ms",
      "\((time / 1e6).rounded(1)) ms",
      time <= milliseconds * 1e6
    )
  }

  static func latency() throws {
    let time = try LatencyBenchmarks.run(101) / 1e6
    add(
      "an edit until it is stored on the other device, in process",
      "5 ms",
      "\(time.rounded(2)) ms",
      time < 5
    )
    let requests = try LatencyBenchmarks.requestsOfNothing()
    add(
      "updates that change nothing, BLOBs among them",
      "no request",
      "\(requests) requests",
      requests == 0
    )
  }

  private static func addRatio(
    _ name: String,
    _ target: String,
    _ pairs: [(with: Double, without: Double)],
    limit: Double,
    per: Double
  ) {
    let pair = median(pairs)
    let ratio = pair.with / pair.without
    let (with, without) = (pair.with / per / 1e3, pair.without / per / 1e3)
    add(
      name,
      target,
      "\(ratio.rounded(2)) times, \(with.rounded(2)) against \(without.rounded(2)) µs",
      ratio <= limit
    )
  }

  /// The pair in the middle.
  private static func median(
    _ pairs: [(with: Double, without: Double)]
  ) -> (with: Double, without: Double) {
    pairs.sorted { $0.with / $0.without < $1.with / $1.without }[pairs.count / 2]
  }
}
