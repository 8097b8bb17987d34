#if canImport(Combine)
public import Combine

extension SyncPublisher {
  /// The same values as a Combine publisher, which finishes when the session is released.
  ///
  /// Each Combine subscriber has a subscription of its own. What it does not ask for yet is kept,
  /// without a bound.
  public var combine: AnyPublisher<Output, Never> {
    CombineBridge(source: self).eraseToAnyPublisher()
  }
}

extension SyncSubject {
  /// The same values as a Combine publisher; see ``SyncPublisher/combine``.
  public var combine: AnyPublisher<Output, Never> {
    publisher.combine
  }
}

/// Makes a subscription of the source for every Combine subscriber.
private struct CombineBridge<Output: Sendable>: Combine.Publisher {
  typealias Failure = Never

  let source: SyncPublisher<Output>

  func receive<Downstream: Combine.Subscriber>(
    subscriber: Downstream
  ) where Downstream.Input == Output, Downstream.Failure == Never {
    // Unsafe only in name, because Combine lets subscribers be called from any thread.
    nonisolated(unsafe) let downstream: any Combine.Subscriber<Output, Never> = subscriber
    let bridge = CombineSubscription<Output>(
      receive: { value in downstream.receive(value) },
      complete: { downstream.receive(completion: .finished) }
    )
    subscriber.receive(subscription: bridge)
    bridge.attach(to: source)
  }
}

/// Keeps values until they are asked for, and gives them one at a time.
private final class CombineSubscription<Output: Sendable>: Combine.Subscription, Sendable {
  private struct State: Sendable {
    var demand: Subscribers.Demand = .none
    var backlog: [Output] = []
    var isDelivering = false
    var isFinished = false
    var isOver = false
    var upstream: SyncSubscription?
  }

  private enum Action: Sendable {
    case give(Output)
    case complete
    case wait
  }

  private let state = Locked(State())
  private let receive: @Sendable (Output) -> Subscribers.Demand
  private let complete: @Sendable () -> Void

  init(
    receive: @escaping @Sendable (Output) -> Subscribers.Demand,
    complete: @escaping @Sendable () -> Void
  ) {
    self.receive = receive
    self.complete = complete
  }

  func attach(to source: SyncPublisher<Output>) {
    let upstream = source.attach(
      Observer(
        receive: { [self] value in
          state.withLock { $0.backlog.append(value) }
          deliver()
        },
        finish: { [self] in
          state.withLock { $0.isFinished = true }
          deliver()
        }
      )
    )
    let isOver = state.withLock { state in
      if !state.isOver { state.upstream = upstream }
      return state.isOver
    }
    if isOver { upstream.cancel() }
  }

  func request(_ demand: Subscribers.Demand) {
    state.withLock { $0.demand += demand }
    deliver()
  }

  func cancel() {
    let (upstream, backlog) = state.withLock { state in
      let taken = (state.upstream, state.backlog)
      state.upstream = nil
      state.backlog = []
      state.isOver = true
      return taken
    }
    upstream?.cancel()
    _ = consume backlog  // Released outside the lock.
  }

  /// Gives what was asked for, unless a thread is doing so already.
  private func deliver() {
    let isFirst = state.withLock { state in
      defer { state.isDelivering = true }
      return !state.isDelivering
    }
    guard isFirst else { return }
    while true {
      switch state.withLock({ Self.nextAction(state: &$0) }) {
      case .give(let value):
        let more = receive(value)
        state.withLock { $0.demand += more }
      case .complete:
        complete()
      case .wait:
        return
      }
    }
  }

  private static func nextAction(state: inout State) -> Action {
    if !state.isOver, let value = state.backlog.first, state.demand > .none {
      state.backlog.removeFirst()
      state.demand -= 1
      return .give(value)
    }
    if !state.isOver, state.isFinished, state.backlog.isEmpty {
      state.isOver = true
      return .complete
    }
    state.isDelivering = false
    return .wait
  }
}
#endif
