/// Tells which events of a log a filter wants while the log is read from its beginning.
///
/// It folds the states, so that requests and answers count as being about the records and operations
/// that travel with them. Its memory does not grow with the log.
public struct LogMatcher {
  /// What is wanted.
  public let filter: LogFilter
  private var fold: LogFold

  /// Begins before the first event that a reader returns.
  public init(_ filter: LogFilter, reading reader: LogReader) {
    self.init(filter, fold: LogFold(reader, wantsEntries: filter.needsStates))
  }

  init(_ filter: LogFilter, fold: LogFold) {
    self.filter = filter
    self.fold = fold
  }

  /// The next event with what the states tell of it, if it is wanted.
  ///
  /// Every event has to be asked about, in order.
  public mutating func match(_ step: LogStep) -> LogStep? {
    let folded = fold.advance(step: step)
    guard filter.matchesFrame(step: folded.step) else { return nil }
    if filter.needsStates, !filter.matches(subjects: StepSubjects(folded)) { return nil }
    return folded.step
  }
}
