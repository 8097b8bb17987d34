/// Values over time that can be subscribed to, mapped and filtered.
///
/// It reads like Combine's publishers and works on every platform. A publisher is a description:
/// nothing runs until something subscribes, and each subscriber runs the closures of `map` and
/// `filter` for itself. It does not keep the session alive; once the session is gone a new
/// subscriber is given nothing.
///
/// ```swift
/// session.fetchWorkCompletedSubject
///   .map { _, response in (response.changeToken, response.changedRecords) }
///   .sink { changeToken, records in … }
/// ```
public struct SyncPublisher<Output: Sendable>: Sendable {
  /// Ties an observer to the source.
  let attach: @Sendable (Observer<Output>) -> SyncSubscription

  package init(_ attach: @escaping @Sendable (Observer<Output>) -> SyncSubscription) {
    self.attach = attach
  }

  /// Calls a closure with every value from now on, in the order in which they are sent.
  ///
  /// A publisher that replays its last value, as that of the state does, gives it before this
  /// method returns. The subscription lasts until it is cancelled or the session is released,
  /// whether its result is kept or not.
  @discardableResult
  public func sink(_ receive: @escaping @Sendable (Output) -> Void) -> SyncSubscription {
    attach(Observer(receive: receive))
  }

  /// Publishes what a closure makes of each value.
  public func map<Mapped: Sendable>(
    _ transform: @escaping @Sendable (Output) -> Mapped
  ) -> SyncPublisher<Mapped> {
    relay { value, receive in receive(transform(value)) }
  }

  /// Publishes what a closure makes of each value, except nil.
  public func compactMap<Mapped: Sendable>(
    _ transform: @escaping @Sendable (Output) -> Mapped?
  ) -> SyncPublisher<Mapped> {
    relay { value, receive in
      if let mapped = transform(value) { receive(mapped) }
    }
  }

  /// Publishes the values that a closure accepts.
  public func filter(
    _ isIncluded: @escaping @Sendable (Output) -> Bool
  ) -> SyncPublisher<Output> {
    relay { value, receive in
      if isIncluded(value) { receive(value) }
    }
  }

  /// Puts a step between the source and the observers of a new publisher.
  private func relay<Relayed: Sendable>(
    _ step: @escaping @Sendable (Output, @Sendable (Relayed) -> Void) -> Void
  ) -> SyncPublisher<Relayed> {
    SyncPublisher<Relayed> { [attach] observer in
      attach(
        Observer(
          receive: { value in step(value, observer.receive) },
          finish: observer.finish
        )
      )
    }
  }
}
