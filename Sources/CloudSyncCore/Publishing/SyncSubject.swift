/// A publisher that a session sends values into and that everybody else can only read.
///
/// Every subscriber is given the values in the order in which they were sent, one at a time, on the
/// thread of a sender. What happens during a send is defined:
///
/// - A subscription added during a send sees the next value that is sent, not the one under way.
/// - One that is cancelled during a send is given nothing more by that thread.
/// - A value sent from inside a subscriber, or by another thread, while a value is being delivered
///   is delivered after it, by the thread that is delivering.
///
/// ```swift
/// session.haltedSubject.sink { error in print(error) }
/// for await work in session.fetchWorkCompletedSubject.values(buffering: .all) { … }
/// ```
///
/// When the subject is released, with its session, its streams and Combine publishers finish.
public final class SyncSubject<Output: Sendable>: Sendable {
  /// Whether a new subscriber is given the last value.
  private let replaysLast: Bool
  private let state = Locked(SubjectState<Output>())

  /// Creates a subject.
  ///
  /// - Parameter replaysLast: Whether a new subscriber is given the last value at once, inside its
  ///   call of `sink`.
  package init(replaysLast: Bool = false) {
    self.replaysLast = replaysLast
  }

  deinit {
    let observers = state.withLock { $0.observers }
    for observer in observers { observer.finish?() }
  }

  /// Whether a value sent now would reach anybody; senders skip making values that nobody takes.
  package var hasSubscribers: Bool {
    state.withLock { !$0.isEmpty }
  }

  /// Gives a value to every subscriber, after all values sent before.
  package func send(_ value: Output) {
    // Exchanged for the value before, which is released after the lock: that may run foreign code.
    var exchanged: Output? = replaysLast ? value : nil
    let begun = state.withLock { state -> (limit: Int, step: SubjectState<Output>.Step)? in
      if replaysLast { swap(&state.last, &exchanged) }
      let limit = state.nextNumber
      return state.begin(value, limit: limit).map { (limit, $0) }
    }
    withExtendedLifetime(exchanged) {}
    guard let begun else { return }
    deliver(value, limit: begun.limit, from: begun.step)
  }

  /// The value that a new subscriber is given.
  package var kept: Output? { state.withLock { $0.last } }

  /// Keeps a value for new subscribers; those that are there are given it by ``sendKept()``.
  package func keep(_ value: Output) {
    var exchanged: Output? = value
    state.withLock { state in
      swap(&state.last, &exchanged)
      state.lastLimit = state.nextNumber
    }
    withExtendedLifetime(exchanged) {}
  }

  /// Gives the value that is kept to every subscriber that was not given it at once.
  package func sendKept() {
    let begun = state.withLock {
      state -> (value: Output, limit: Int, step: SubjectState<Output>.Step)? in
      guard let value = state.last else { return nil }
      let limit = state.lastLimit
      return state.begin(value, limit: limit).map { (value, limit, $0) }
    }
    if let begun { deliver(begun.value, limit: begun.limit, from: begun.step) }
  }

  /// Delivers the rest of a round, then what was sent meanwhile, until nothing is left.
  private func deliver(_ value: Output, limit: Int, from first: SubjectState<Output>.Step) {
    var step = first
    // Mostly one step is all, and nothing waits.
    while true {
      step.receive(value)
      let end = state.withLock { $0.end(of: step, value, limit: limit) }
      switch end {
      case .next(let next): step = next
      case .waiting(var waiting):
        while !waiting.isEmpty {
          for round in waiting { deliver(round) }
          waiting = state.withLock { $0.takePending() }
        }
        return
      case .done: return
      }
    }
  }

  /// Delivers one value that had to wait.
  private func deliver(_ round: SubjectState<Output>.Round) {
    var next = state.withLock { $0.firstStep(of: round.value, limit: round.limit) }
    while let step = next {
      step.receive(round.value)
      next = state.withLock { $0.step(after: step, of: round.value, limit: round.limit) }
    }
  }

  /// Adds an observer, and gives it the last value where there is one.
  private func attach(_ observer: Observer<Output>) -> SyncSubscription {
    let (number, last) = state.withLock { $0.add(observer) }
    if let last {
      observer.receive(last)
      while true {
        let backlog = state.withLock { $0.takeBacklog(of: number) }
        if backlog.isEmpty { break }
        for value in backlog { observer.receive(value) }
      }
    }
    return SyncSubscription { [weak self] in
      _ = self?.state.withLock { $0.remove(number) }
    }
  }

  /// The reading end as a value; it does not keep the subject alive.
  public var publisher: SyncPublisher<Output> {
    SyncPublisher { [weak self] observer in
      if let self { return self.attach(observer) }
      observer.finish?()
      return SyncSubscription()
    }
  }

  /// Calls a closure with every value from now on; see ``SyncPublisher/sink(_:)``.
  @discardableResult
  public func sink(_ receive: @escaping @Sendable (Output) -> Void) -> SyncSubscription {
    attach(Observer(receive: receive))
  }

  /// Publishes what a closure makes of each value.
  public func map<Mapped: Sendable>(
    _ transform: @escaping @Sendable (Output) -> Mapped
  ) -> SyncPublisher<Mapped> {
    publisher.map(transform)
  }

  /// Publishes what a closure makes of each value, except nil.
  public func compactMap<Mapped: Sendable>(
    _ transform: @escaping @Sendable (Output) -> Mapped?
  ) -> SyncPublisher<Mapped> {
    publisher.compactMap(transform)
  }

  /// Publishes the values that a closure accepts.
  public func filter(
    _ isIncluded: @escaping @Sendable (Output) -> Bool
  ) -> SyncPublisher<Output> {
    publisher.filter(isIncluded)
  }

  /// The values from now on as an asynchronous sequence; see ``SyncPublisher/values(buffering:)``.
  public func values(buffering: ValueBuffering = .all) -> AsyncStream<Output> {
    publisher.values(buffering: buffering)
  }
}
