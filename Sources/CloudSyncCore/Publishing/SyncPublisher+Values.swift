/// What a stream keeps for a reader that is slower than the publisher.
public enum ValueBuffering: Sendable, Hashable {
  /// Every value, without a bound; for completions, which must not be missed.
  case all
  /// The newest value only; for states, where an older one is of no use.
  case newest
}

extension SyncPublisher {
  /// The values from now on as an asynchronous sequence.
  ///
  /// It subscribes at once, not when the first value is asked for, so nothing sent in between is
  /// missed. The stream has one reader. It ends when the session is released; ending the loop or
  /// its task, or dropping the stream, ends the subscription.
  ///
  /// - Parameter buffering: What to keep while the reader is busy.
  /// - Returns: A stream for one reader.
  public func values(buffering: ValueBuffering = .all) -> AsyncStream<Output> {
    let policy: AsyncStream<Output>.Continuation.BufferingPolicy =
      switch buffering {
      case .all: .unbounded
      case .newest: .bufferingNewest(1)
      }
    let (stream, continuation) = AsyncStream.makeStream(
      of: Output.self,
      bufferingPolicy: policy
    )
    let subscription = attach(
      Observer(
        receive: { value in continuation.yield(value) },
        finish: { continuation.finish() }
      )
    )
    continuation.onTermination = { _ in subscription.cancel() }
    return stream
  }
}
