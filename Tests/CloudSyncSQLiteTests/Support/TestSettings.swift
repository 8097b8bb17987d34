import Foundation

/// What is asked of the tests from outside.
enum TestSettings {
  /// A number in the environment: how many scripts run, or which one.
  static func number(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
  }
}
