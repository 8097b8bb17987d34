import CloudSyncCore

/// What a device may send, in items, flowing in with time.
struct TokenBucket: Sendable {
  private static let scale: Int64 = 1_000_000_000

  /// Billionths of an item.
  private var level: Int64
  private var filled: Timestamp
  private var generator: SplitMix64

  init(_ throttle: LocalCloudOptions.Throttle, seed: UInt64, now: Timestamp) {
    level = Self.capacity(throttle: throttle)
    filled = now
    generator = SplitMix64(seed: seed)
  }

  /// Pays for some items; returns the refusal if there are not enough.
  mutating func pay(
    count: Int,
    throttle: LocalCloudOptions.Throttle,
    now: Timestamp
  ) -> SyncError? {
    let capacity = Self.capacity(throttle: throttle)
    // A clock that went back lets nothing flow.
    let elapsed = max(0, filled.distance(to: now))
    let (flow, isMuch) = elapsed.multipliedReportingOverflow(by: Int64(throttle.refillPerSecond))
    level = isMuch || flow >= capacity - level ? capacity : level + flow
    filled = now
    let (price, isTooMuch) = Int64(count).multipliedReportingOverflow(by: Self.scale)
    // What a full bucket cannot pay empties it, or it would never pass.
    if level >= capacity || !isTooMuch && price <= level {
      level -= isTooMuch ? level : min(level, price)
      return nil
    }
    let shortest = throttle.retryAfter.lowerBound.clampedNanoseconds
    let span = throttle.retryAfter.upperBound.clampedNanoseconds - shortest
    let more = Int64(generator.below(UInt64(max(0, span)) &+ 1))
    return SyncError(
      throttle.code,
      "the device sends too much",
      retryAfter: .nanoseconds(shortest + more)
    )
  }

  /// Whether everything that was paid has flown in again.
  func isFull(_ throttle: LocalCloudOptions.Throttle, at now: Timestamp) -> Bool {
    let missing = Self.capacity(throttle: throttle) - level
    let elapsed = max(0, filled.distance(to: now))
    let (flow, isMuch) = elapsed.multipliedReportingOverflow(by: Int64(throttle.refillPerSecond))
    return isMuch || flow >= missing
  }

  private static func capacity(throttle: LocalCloudOptions.Throttle) -> Int64 {
    let (product, isTooMuch) = Int64(throttle.burst).multipliedReportingOverflow(by: scale)
    return isTooMuch ? .max : product
  }
}
