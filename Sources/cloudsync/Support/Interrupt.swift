import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The user's wish to end a long work early, with what there is: Ctrl-C, or the system's at its end.
enum Interrupt {
  // Unsafe in name only because the signal handler does nothing but set it, and others but read it.
  private nonisolated(unsafe) static var flag: sig_atomic_t = 0

  /// Whether the wish has come.
  static var hasCome: Bool { flag != 0 }

  /// Takes the signal as a wish from now on.
  static func begin() {
    flag = 0
    for number in [SIGINT, SIGTERM] { signal(number) { _ in Interrupt.flag = 1 } }
    // Who has started this process may have blocked them.
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGINT, SIGTERM] { sigaddset(&signals, number) }
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }

  /// Waits so long, or until the wish comes.
  static func wait(seconds: Int64) {
    let never = DispatchSemaphore(value: 0)
    for _ in 0..<(10 * seconds) where !hasCome {
      _ = never.wait(timeout: .now() + .milliseconds(100))
    }
  }

  /// Lets the signal end the process again.
  static func end() { for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) } }
}
