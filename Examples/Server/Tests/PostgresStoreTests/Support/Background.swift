import Foundation
import Synchronization

/// Something that is done on a thread of its own.
final class Background<Value: Sendable>: Sendable {
  private let result = Mutex<Value?>(nil)
  private let end = DispatchSemaphore(value: 0)

  init(_ body: @escaping @Sendable () -> Value) {
    Thread.detachNewThread {
      let value = body()
      self.result.withLock { $0 = value }
      self.end.signal()
    }
  }

  /// Whether it is done; does not wait.
  var isDone: Bool { result.withLock { $0 != nil } }

  /// What came of it; waits until it is done.
  var value: Value {
    end.wait()
    end.signal()
    guard let value = result.withLock({ $0 }) else { preconditionFailure("it is not done") }
    return value
  }
}
