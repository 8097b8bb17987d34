#if canImport(os)
import os
#endif

/// Writes one line for each event.
///
/// On Apple platforms the lines go to the unified log by default, elsewhere nowhere unless a sink is
/// given. Lines name events, numbers and error codes, never the values of records.
public struct LoggerMiddleware: Middleware {
  private let sink: (@Sendable (String) -> Void)?

  /// Creates the middleware.
  ///
  /// - Parameter sink: Takes each line; nil for the platform's log.
  public init(sink: (@Sendable (String) -> Void)? = LoggerMiddleware.platformSink) {
    self.sink = sink
  }

  /// Writes the line after the reduction.
  public func run(
    event: SyncEvent,
    context: MiddlewareContext,
    next: (SyncEvent) -> SyncEvent
  ) -> SyncEvent {
    let reduced = next(event)
    guard let sink else { return reduced }
    let cause = context.cause.map { " after #\($0)" } ?? ""
    let note = context.didChange ? "" : " (nothing changed)"
    sink("#\(context.state.eventCount) \(context.origin)\(cause): \(reduced.line)\(note)")
    return reduced
  }

  /// Where lines go when nothing else is said.
  public static var platformSink: (@Sendable (String) -> Void)? {
    #if canImport(os)
    let logger = Logger(subsystem: "CloudSyncSession", category: "events")
    return { line in logger.debug("\(line, privacy: .public)") }
    #else
    return nil
    #endif
  }
}
