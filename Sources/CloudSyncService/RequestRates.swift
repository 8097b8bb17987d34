import CloudSyncCore

/// How fast requests may come: so many at once, and then so many every second.
public struct ServiceRate: Sendable, Hashable {
  /// How many may come at once after a quiet time.
  public var burst: Int
  /// How many may come every second.
  public var perSecond: Int

  /// Creates a rate.
  public init(burst: Int, perSecond: Int) {
    self.burst = max(1, burst)
    self.perSecond = max(1, perSecond)
  }

  fileprivate var interval: Int64 { 1_000_000_000 / Int64(min(perSecond, 1_000_000_000)) }

  /// How far ahead of time somebody may be.
  fileprivate var tolerance: Int64 {
    let (product, isFar) = interval.multipliedReportingOverflow(by: Int64(burst - 1))
    return isFar ? .max : product
  }
}

/// Who sends too fast: for everybody one time, until which all of the requests so far would have lasted
/// at an even pace (the generic cell rate algorithm).
final class RequestRates: Sendable {
  /// Above this number, those who have been quiet for a while are forgotten.
  private static let limit = 16_384

  /// By the bytes of a key; looked into, and filtered without regard to order.
  private let times = Locked<[[UInt8]: Timestamp]>([:])

  /// Whether somebody may send a request now.
  ///
  /// - Parameters:
  ///   - key: Who it is.
  ///   - rate: How fast requests may come.
  ///   - now: The time.
  ///   - pays: Whether the request counts.
  ///   - count: For how many it counts: of requests one, of their bytes as many as there are.
  /// - Returns: How long to wait, in nanoseconds; nil if it may come.
  func wait(
    of key: String,
    at rate: ServiceRate,
    now: Timestamp,
    pays: Bool = true,
    count: Int = 1
  ) -> Int64? {
    times.withLock { times in
      let key = Array(key.utf8)
      let tolerance = rate.tolerance
      // A clock that was set back does not keep anybody out for longer than a full bucket lasts.
      let (cost, isFar) = rate.interval.multipliedReportingOverflow(by: Int64(max(1, count)))
      let latest = (now + tolerance) + (isFar ? Int64.max : cost)
      if let known = times[key], latest < known { times[key] = latest }
      let time = max(times[key] ?? now, now)
      let ahead = now.distance(to: time)
      if ahead > tolerance { return ahead - tolerance }
      guard pays else { return nil }
      if times[key] == nil, times.count >= Self.limit {
        times = times.filter { now < $0.value }
        // All of them are busy: all begin anew.
        if times.count >= Self.limit { times.removeAll() }
      }
      times[key] = time + (isFar ? Int64.max : cost)
      return nil
    }
  }
}
