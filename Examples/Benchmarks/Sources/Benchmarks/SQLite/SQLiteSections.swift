import Foundation

/// The sections about the SQLite engine.
enum SQLiteSections {
  static func capture() throws {
    let keys = (0..<100_000).map { PlainDatabase.key($0) }
    addRatio(
      "100,000 rows in transactions of 1,000 with the triggers",
      "at most 2 times the time without",
      try EngineBenchmarks.inserts(keys, pairs: 1),
      limit: 2,
      per: 100_000
    )
    addRatio(
      "a one-row update in its own transaction",
      "at most 1.5 times the time without",
      try EngineBenchmarks.updates(Array(keys.prefix(20_000)), pairs: 1),
      limit: 1.5,
      per: 1
    )
  }

  static func apply() throws {
    let keys = (0..<100_000).map { PlainDatabase.key($0) }
    let pairs = try EngineBenchmarks.applies(keys, pairs: 1)
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
