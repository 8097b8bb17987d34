/// Tells which events of a log a filter wants while the log is read from its beginning.
///
/// It folds the states where the filter needs them, so that requests and answers count as being about
/// the records and operations that travel with them. Its memory does not grow with the log.
public struct LogMatcher {
  /// What is wanted.
  public let filter: LogFilter
  private var fold: LogFold

  /// Begins before the first event that a reader returns.
  public init(_ filter: LogFilter, reading reader: LogReader) {
    self.init(filter, fold: LogFold(reader))
  }

  init(_ filter: LogFilter, fold: LogFold) {
    self.filter = filter
    self.fold = fold
  }

  /// Whether the next event is wanted; every event has to be asked about, in order.
  public mutating func matches(_ step: LogStep) -> Bool {
    guard filter.needsStates else { return filter.matchesFrame(step: step) }
    let folded = fold.advance(step: step)
    return filter.matchesFrame(step: step) && filter.matches(subjects: StepSubjects(folded))
  }
}
