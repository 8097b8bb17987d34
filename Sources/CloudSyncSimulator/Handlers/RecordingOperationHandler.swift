public import CloudSyncCore

/// A handler that passes everything on to another one, and remembers calls and answers.
///
/// Only the number of calls limits what it remembers: it is for tests.
public final class RecordingOperationHandler: WorkHandler {
  /// One call, and what became of it.
  public struct Exchange: Sendable {
    /// What was asked.
    public let work: SyncWork
    /// What was told besides.
    public let context: RequestContext
    /// The responses, in order; more than one if the handler answered more than once.
    public internal(set) var answers: [Result<SyncWork.Result, SyncError>] = []
    /// Whether the session gave the call up.
    public internal(set) var isCancelled = false
  }

  /// How much one request may hold: what the other handler says.
  public var limits: RequestLimits { base.limits }
  /// The unit of the handler inside.
  public var timestampUnit: Duration { base.timestampUnit }
  private let base: any OperationHandler
  private let storage = Locked<[Exchange]>([])

  /// Creates a handler that passes everything on to another one.
  public init(_ base: any OperationHandler) { self.base = base }

  /// Everything so far, in the order of the calls.
  public var exchanges: [Exchange] { storage.withLock { $0 } }

  /// Forgets everything so far; answers to earlier calls are passed on and not remembered.
  public func removeAll() { storage.withLock { $0.removeAll() } }

  /// Passes a call on.
  public func handle(
    _ work: SyncWork,
    context: RequestContext,
    completion: @escaping Completion
  ) {
    storage.withLock { $0.append(Exchange(work: work, context: context)) }
    base.perform(work, context: context) { [self] result in
      change(attempt: context.attempt) { $0.answers.append(result) }
      completion(result)
    }
  }

  /// Passes it on that nobody waits for a response any more.
  public func cancel(_ attempt: Attempt) {
    change(attempt: attempt) { $0.isCancelled = true }
    base.cancel(attempt)
  }

  private func change(attempt: Attempt, body: @Sendable (inout Exchange) -> Void) {
    storage.withLock { exchanges in
      guard let place = exchanges.lastIndex(where: { $0.context.attempt == attempt }) else {
        return
      }
      body(&exchanges[place])
    }
  }
}
