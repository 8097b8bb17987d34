import CloudSyncCore

/// The middleware that a re-run can be made of, by name.
struct MiddlewareRegistry {
  private let own: [any Middleware]
  private let log: String

  init(_ own: [any Middleware], log: EventLog) {
    self.own = own
    self.log = log.name
  }

  /// The middleware of these names, in this order.
  func chain(names: [String]) throws(LogError) -> [any Middleware] {
    var chain: [any Middleware] = []
    for name in names { chain.append(try middleware(name: name)) }
    return chain
  }

  /// The middleware of a name: the app's, or a default one that calls nobody.
  func middleware(name: String) throws(LogError) -> any Middleware {
    if let found = own.first(where: { $0.name == name }) { return found }
    if let found = Self.standard.first(where: { $0.name == name }) { return found }
    throw LogError(
      .unknownMiddleware,
      log: log,
      "it was recorded with the middleware “\(name)”, which is the app's own: re-run it in a test,"
        + " with Replay.rerun(log, middleware: [\(name)()])"
    )
  }

  /// Closures are not called: the log has what they decided.
  private static var standard: [any Middleware] {
    [
      SplittingMiddleware(), ErrorMiddleware(resolver: .fieldwise(default: .client)),
      RetryMiddleware(), WorkMiddleware(), SubjectMiddleware(), LoggerMiddleware(sink: nil),
      ZoneMiddleware(), AccountStatusMiddleware { _ in },
    ]
  }
}
