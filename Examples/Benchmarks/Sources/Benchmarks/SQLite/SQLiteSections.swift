/// The sections about the SQLite engine.
enum SQLiteSections {
  static func capture() throws {
    let keys = (0..<100_000).map { PlainDatabase.key($0) }
    addRatio(
      "100,000 rows in transactions of 1,000 with the triggers",
      "at most 2 times the time without",
      try EngineBenchmarks.inserts(keys, pairs: 5),
      limit: 2,
      per: 100_000
    )
    addRatio(
      "a one-row update in its own transaction",
      "at most 1.5 times the time without",
      try EngineBenchmarks.updates(Array(keys.prefix(20_000)), pairs: 5),
      limit: 1.5,
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
      "at most 3 times plain inserts, 100,000 records/s",
      "\(ratio.rounded(2)) times, \(rate.grouped) records/s",
      ratio <= 3 && rate >= 100_000
    )
  }

  static func upload() throws {
    let (rate, start) = try UploadBenchmarks.run()
    let peak = Double(try UploadBenchmarks.peakKilobytes()) / 1_000
    add(
      "first upload of 1,000,000 rows to a local cloud in memory",
      "50,000 rows/s, 200 MB besides the cloud",
      "\(rate.grouped) rows/s, \(peak.rounded(0)) MB",
      rate >= 50_000 && peak < 200
    )
    add(
      "start of an engine on 1,000,000 clean rows",
      "150 ms",
      "\((start / 1e6).rounded(1)) ms",
      start < 150e6
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
