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

extension SyncEvent {
  /// The event in one line, without values of records.
  package var line: String {
    switch self {
    case .halt(let error): "halt \(error.code)"
    case .doWork(.modify(let operation)):
      "doWork modify \(operation.id), \(operation.itemCount) records"
    case .doWork(.fetch(let operation)): "doWork fetch \(operation.id)"
    case .doWork(let work): "doWork \(work.mode)"
    case .cancel(let id): "cancel \(id)"
    case .startWork(let request), .retryWork(let request):
      "\(name) \(request.isLookup ? "lookup" : "\(request.mode)")"
    case .workSuccess(let attempt, let result): "workSuccess \(attempt) \(result.mode)"
    case .workFailure(let attempt, let error), .failFetch(let attempt, let error):
      "\(name) \(attempt) \(error.code)"
    case .settleItems(let attempt, let settlement), .resolveConflict(let attempt, let settlement):
      "\(name) \(attempt), \(settlement.verdicts.count) items"
        + (settlement.error.map { ", \($0.code)" } ?? "")
    case .retry(let attempt, let retry):
      "retry \(attempt) \(retry.error.code), waits \((retry.wait.nanoseconds ?? 0) / 1_000_000) ms"
    case .split(let attempt, let split): "split \(attempt) \(split.error.code)"
    case .startOver(let attempt, _, _): "startOver \(attempt)"
    case .accountStatusChanged(let status, _): "accountStatusChanged \(status)"
    case .acknowledge(let page, let answer): "acknowledge \(page.number) \(answer)"
    case .delivered(let number): "delivered up to \(number)"
    default: name
    }
  }
}
