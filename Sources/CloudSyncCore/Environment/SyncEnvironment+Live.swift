import Dispatch

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Bionic)
import Bionic
#endif

extension SyncEnvironment {
  /// The real world: the system's clock and random numbers, and a serial queue for each session.
  ///
  /// Its timers do not count the time that the device is asleep, so after waking up they fire late,
  /// never early.
  public static let live = SyncEnvironment(
    now: { Timestamp(nanoseconds: wallClockNanoseconds()) },
    nonce: {
      var generator = SystemRandomNumberGenerator()
      return generator.next()
    },
    makeExecutor: {
      .queue(DispatchQueue(label: "CloudSyncSession", autoreleaseFrequency: .workItem))
    },
    makeTimer: { executor, fire in DispatchTimer(executor: executor, fire: fire) }
  )

  /// No clock is further from 1970 than 285 years: timestamps end at 292, and waits are added to them.
  private static let longestSeconds: Int64 = 9_000_000_000

  /// The time since 1970 by the system's clock, which is set to something else now and then.
  private static func wallClockNanoseconds() -> Int64 {
    var time = timespec()
    let code = clock_gettime(CLOCK_REALTIME, &time)
    precondition(code == 0, "The system has no wall clock: give a SyncEnvironment of your own.")
    return nanoseconds(seconds: Int64(time.tv_sec), rest: Int64(time.tv_nsec))
  }

  /// The time of a clock; of one that is set out of all bounds the next that there is.
  package static func nanoseconds(seconds: Int64, rest: Int64) -> Int64 {
    min(max(seconds, -longestSeconds), longestSeconds) * 1_000_000_000 + rest
  }
}
