import Synchronization

/// What a server counts, as text for Prometheus.
final class ServerMetrics: Sendable {
  /// The bounds of the histogram, in milliseconds.
  private static let bounds: [Int64] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000]

  private struct Row {
    /// By status, in the order of their first appearance.
    var counts: [(status: Int, count: Int)] = []
    var buckets = [Int](repeating: 0, count: bounds.count + 1)
    var nanoseconds: Int64 = 0
    var total = 0
  }

  private let rows = Mutex([Row](repeating: Row(), count: RequestKind.allCases.count))
  private let connections = Atomic(0)

  var openConnections: Int { connections.load(ordering: .relaxed) }

  func connectionOpened() { connections.add(1, ordering: .relaxed) }
  func connectionClosed() { connections.subtract(1, ordering: .relaxed) }

  func note(_ kind: RequestKind, status: Int, duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    let place = Self.bounds.firstIndex { nanoseconds <= $0 * 1_000_000 } ?? Self.bounds.count
    rows.withLock { rows in
      if let found = rows[kind.rawValue].counts.firstIndex(where: { $0.status == status }) {
        rows[kind.rawValue].counts[found].count += 1
      } else {
        rows[kind.rawValue].counts.append((status, 1))
      }
      // Polls take as long as nothing happens.
      if kind == .courier { return }
      rows[kind.rawValue].buckets[place] += 1
      rows[kind.rawValue].nanoseconds += nanoseconds
      rows[kind.rawValue].total += 1
    }
  }

  /// The text, with numbers that others count.
  func text(gauges: [(name: String, help: String, value: Int)]) -> String {
    let rows = rows.withLock { $0 }
    var lines = [
      "# HELP cloudsync_requests_total Requests, by what they were about and the status of the response.",
      "# TYPE cloudsync_requests_total counter",
    ]
    for (kind, row) in zip(RequestKind.allCases, rows) {
      for one in row.counts.sorted(by: { $0.status < $1.status }) {
        lines.append(
          "cloudsync_requests_total{endpoint=\"\(kind.name)\",status=\"\(one.status)\"} \(one.count)"
        )
      }
    }
    lines += [
      "# HELP cloudsync_request_seconds How long requests took, polls excepted.",
      "# TYPE cloudsync_request_seconds histogram",
    ]
    for (kind, row) in zip(RequestKind.allCases, rows) where row.total > 0 {
      let label = "endpoint=\"\(kind.name)\""
      var sum = 0
      for (bound, count) in zip(Self.bounds, row.buckets) {
        sum += count
        let limit = Double(bound) / 1_000
        lines.append("cloudsync_request_seconds_bucket{\(label),le=\"\(limit)\"} \(sum)")
      }
      lines.append("cloudsync_request_seconds_bucket{\(label),le=\"+Inf\"} \(row.total)")
      lines.append("cloudsync_request_seconds_sum{\(label)} \(Double(row.nanoseconds) / 1e9)")
      lines.append("cloudsync_request_seconds_count{\(label)} \(row.total)")
    }
    for gauge in gauges {
      lines.append("# HELP \(gauge.name) \(gauge.help)")
      lines.append("# TYPE \(gauge.name) gauge")
      lines.append("\(gauge.name) \(gauge.value)")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
