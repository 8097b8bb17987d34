import Foundation

/// Names that are used once.
enum StubNames {
  private static let lock = NSLock()
  // nonisolated(unsafe) because every access is under the lock.
  nonisolated(unsafe) private static var count = 0

  /// A number that no other call in this process gives.
  static func number() -> Int {
    lock.withLock {
      count += 1
      return count
    }
  }

  /// A name that no other call in any process gives.
  static func name() -> String { "\(ProcessInfo.processInfo.processIdentifier)-\(number())" }
}
