import CloudSyncCore
import Dispatch
import Testing

@Suite("Locked")
struct LockedTests {
  private struct Refused: Error, Equatable {}

  @Test("Eight threads that count together lose no count")
  func countsUnderThreads() {
    let counter = Locked(0)

    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<20_000 { counter.withLock { $0 += 1 } }
    }

    #expect(counter.withLock { $0 } == 160_000)
  }

  @Test("A body that throws keeps its type of error, and gives the lock back")
  func throwsTyped() {
    let value = Locked([1])

    let error = #expect(throws: Refused.self) {
      try value.withLock { (value) throws(Refused) in
        value.append(2)
        throw Refused()
      }
    }

    #expect(error == Refused())
    #expect(value.withLock { $0 } == [1, 2])
  }

  @Test("The value is released with its lock")
  func releasesValue() {
    final class Token: Sendable {}
    weak var token: Token?
    var locked: Locked<Token>?
    do {
      let made = Token()
      token = made
      locked = Locked(made)
    }
    #expect(token != nil)
    #expect(locked != nil)

    locked = nil

    #expect(token == nil)
  }
}
