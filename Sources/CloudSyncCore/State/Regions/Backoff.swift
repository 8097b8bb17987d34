/// How long a session waits for a cause that has struck again: growing, jittered, capped, and never
/// less than what the server asked for.
///
/// Everything is integer arithmetic, and the jitter is a function of the epoch's nonce, the cause and
/// a place, so that a replay waits just as long.
struct Backoff {
  /// Where the epoch's jitter comes from.
  let nonce: UInt64
  /// The first wait for a cause, in nanoseconds.
  let first: Int64
  /// The longest wait of the session's own, in nanoseconds.
  let longest: Int64

  /// The longest wait that a server may ask for, in nanoseconds: after that it is asked again.
  static let longestServerWait: Int64 = 86_400_000_000_000

  init(nonce: UInt64, configuration: SyncConfiguration) {
    self.nonce = nonce
    first = configuration.firstWait.clampedNanoseconds
    longest = configuration.longestWait.clampedNanoseconds
  }

  /// The length of a wait in nanoseconds.
  ///
  /// - Parameters:
  ///   - wait: What is waited for, and what the server asked for.
  ///   - retries: How often in a row the cause has made the session wait.
  ///   - place: What tells waits of one cause apart.
  /// - Returns: The length.
  func length(of wait: Wait, retries: Int, place: UInt64) -> Int64 {
    let place = place &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(wait.cause.rawValue + 1)
    let jitter = SplitMix64.first(of: nonce ^ place)
    guard let asked = wait.serverNanoseconds, asked > 0 else {
      let full = Self.doubled(base: first, times: retries, cap: longest)
      // Between half and all of it: devices that failed together do not return together.
      return max(1, full / 2 + Int64(jitter % UInt64(max(1, full - full / 2 + 1))))
    }
    let floor = min(asked, Self.longestServerWait)
    // A server that repeats the same wait is asked less and less often.
    let cap = min(max(longest, floor), Self.longestServerWait)
    let grown = Self.doubled(base: floor, times: retries, cap: cap)
    let extra = Int64(jitter % UInt64(grown / 8 + 1))
    return min(grown + extra, Self.longestServerWait)
  }

  private static func doubled(base: Int64, times: Int, cap: Int64) -> Int64 {
    var value = min(max(1, base), cap)
    var left = times
    while left > 0, value < cap {
      value = value > cap / 2 ? cap : value * 2
      left -= 1
    }
    return max(1, min(value, cap))
  }
}
