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

  /// The time since 1970 by the system's clock, which is set to something else now and then.
  private static func wallClockNanoseconds() -> Int64 {
    var time = timespec()
    let code = clock_gettime(CLOCK_REALTIME, &time)
    precondition(code == 0, "The system has no wall clock: give a SyncEnvironment of your own.")
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
