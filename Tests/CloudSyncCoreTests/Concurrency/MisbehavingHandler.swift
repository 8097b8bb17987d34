import CloudSyncCore
import Dispatch
import CloudSyncSimulator
import CloudSyncTestSupport

/// Runs a body on so many threads that all begin when the last of them is there.
enum Crowd {
  static func run(_ count: Int, _ body: @escaping @Sendable (_ member: Int) -> Void) async {
    let here = Locked(0)
    let start = DispatchSemaphore(value: 0)
    let left = Locked(count)
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      for member in 0..<count {
        DispatchQueue(label: "Crowd \(member)")
          .async {
            let isLastToCome = here.withLock { here in
              here += 1
              return here == count
            }
            if isLastToCome { for _ in 1..<count { start.signal() } } else { start.wait() }
            body(member)
            let isLastToGo = left.withLock { left in
              left -= 1
              return left == 0
            }
            if isLastToGo { continuation.resume() }
          }
      }
    }
  }
}

/// A stub cloud of the real world that answers from any thread, twice, late or not at all.
///
/// A seed decides how each call is answered, but not when: that is up to the threads.
final class MisbehavingHandler: WorkHandler {
  /// How answers are given.
  enum Manner: Sendable, CaseIterable {
    /// On the session's own thread, before the call returns.
    case direct
    /// From any thread, twice, or when somebody releases what is held.
    case scattered
    /// Only when somebody releases what is held.
    case held
  }

  private struct State: Sendable {
    var random: SplitMix64
    var manner: Manner
    /// Answers that wait for ``releaseAnswers()``.
    var held: [@Sendable () -> Void] = []
    /// Answers that are on their way on other threads.
    var travelling = 0
    var onArrival: [@Sendable () -> Void] = []
    var outstanding: [Attempt] = []
    var violations: [String] = []
  }

  let stub: StubCloud
  var limits: RequestLimits { stub.limits }
  private let state: Locked<State>

  init(_ stub: StubCloud, _ manner: Manner, seed: UInt64 = 0) {
    self.stub = stub
    state = Locked(State(random: SplitMix64(seed: seed), manner: manner))
  }

  /// What a session must never do, and did.
  var violations: [String] { state.withLock { $0.violations } + stub.violations }
  /// How many answers wait to be released.
  var heldAnswers: Int { state.withLock { $0.held.count } }

  /// Answers at once from now on.
  func straighten() { state.withLock { $0.manner = .direct } }

  /// Gives the responses that are held, on the calling thread.
  func releaseAnswers() {
    let answers = state.withLock { state in
      defer { state.held = [] }
      return state.held
    }
    for answer in answers { answer() }
  }

  /// Waits until every response that is on its way on another thread has been given.
  func arrivals() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let isNow = state.withLock { state in
        if state.travelling > 0 { state.onArrival.append { continuation.resume() } }
        return state.travelling == 0
      }
      if isNow { continuation.resume() }
    }
  }

  // MARK: Answering

  private func begin(_ attempt: Attempt) {
    state.withLock { state in
      if let other = state.outstanding.first(where: { $0.epoch == attempt.epoch }) {
        state.violations.append("\(attempt) was sent before \(other) was answered")
      }
      state.outstanding.append(attempt)
    }
  }

  private func end(_ attempt: Attempt) {
    state.withLock { state in state.outstanding.removeAll { $0 == attempt } }
  }

  /// Makes a completion that answers in the cloud's crooked way.
  private func crooked(
    _ attempt: Attempt,
    _ completion: @escaping Completion
  ) -> Completion {
    begin(attempt)
    return { [self] result in
      give { [self] in
        end(attempt)
        completion(result)
      }
    }
  }

  private func give(_ answer: @escaping @Sendable () -> Void) {
    let (isDirect, copies) = state.withLock { state -> (Bool, Int) in
      switch state.manner {
      case .direct: return (true, 0)
      case .held:
        state.held.append(answer)
        return (false, 0)
      case .scattered: break
      }
      let way = state.random.below(6)
      if way >= 4 { state.held.append(answer) }
      let copies = [0, 1, 2, 3, 1, 0][way]
      state.travelling += copies
      return (way == 0, copies)
    }
    if isDirect { answer() }
    for _ in 0..<copies { DispatchQueue.global().async { [self] in deliver(answer) } }
  }

  private func deliver(_ answer: @escaping @Sendable () -> Void) {
    answer()
    let waiting = state.withLock { state -> [@Sendable () -> Void] in
      state.travelling -= 1
      guard state.travelling == 0 else { return [] }
      defer { state.onArrival = [] }
      return state.onArrival
    }
    for resume in waiting { resume() }
  }

  // MARK: WorkHandler

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    stub.handle(work, context: context, completion: crooked(context.attempt, completion))
  }

  func cancel(_ attempt: Attempt) {
    end(attempt)
    stub.cancel(attempt)
  }
}
