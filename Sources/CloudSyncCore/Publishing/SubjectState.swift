/// Who observes a subject, and what has been sent but not yet delivered.
///
/// One thread at a time delivers. It asks under the lock for one observer after the other and calls
/// each outside it, so a cancelled observer is simply not found any more. Numbers of observers only
/// grow, which is what tells whether an observer was there when a value was sent.
struct SubjectState<Output: Sendable>: Sendable {
  struct Entry: Sendable {
    let number: Int
    let observer: Observer<Output>
    /// What arrived while the observer was still being given the last value; nil at other times.
    var backlog: [Output]?
  }

  /// A value on its way to the observers whose number is below the limit.
  struct Round: Sendable {
    let value: Output
    let limit: Int
  }

  /// The place of an observer in a round, and how to call it.
  struct Step: Sendable {
    let number: Int
    let index: Int
    let receive: @Sendable (Output) -> Void
  }

  /// The observers, in the order of their numbers.
  var entries: [Entry] = []
  /// The number of the next observer.
  var nextNumber = 0
  /// Whether a thread is delivering.
  var isDelivering = false
  /// What was sent since that thread last looked.
  var pending: [Round] = []
  /// The value sent last, if it is kept for new observers.
  var last: Output?

  /// Finds the first observer of a round.
  mutating func firstStep(of value: Output, limit: Int) -> Step? {
    step(from: 0, of: value, limit: limit)
  }

  /// Finds the observer that follows in a round, whoever was added or removed since the last one.
  mutating func step(after last: Step, of value: Output, limit: Int) -> Step? {
    // Observers are only ever added at the end, so the place can only have moved to the front.
    var index = min(last.index + 1, entries.count)
    while index > 0, entries[index - 1].number > last.number { index -= 1 }
    return step(from: index, of: value, limit: limit)
  }

  private mutating func step(from start: Int, of value: Output, limit: Int) -> Step? {
    var index = start
    while index < entries.count {
      let number = entries[index].number
      guard number < limit else { return nil }
      if entries[index].backlog == nil {
        return Step(number: number, index: index, receive: entries[index].observer.receive)
      }
      entries[index].backlog?.append(value)
      index += 1
    }
    return nil
  }

  /// Takes all that waits to be delivered; when nothing does, delivery has ended.
  mutating func takePending() -> [Round] {
    if pending.isEmpty {
      isDelivering = false
      return []
    }
    let taken = pending
    pending = []
    return taken
  }

  /// Adds an observer, and tells its number and the value that it has to be given at once.
  mutating func add(_ observer: Observer<Output>) -> (number: Int, last: Output?) {
    let number = nextNumber
    nextNumber += 1
    entries.append(Entry(number: number, observer: observer, backlog: last == nil ? nil : []))
    return (number, last)
  }

  /// Takes what arrived while an observer was catching up; when nothing did, it has caught up.
  mutating func takeBacklog(of number: Int) -> [Output] {
    guard let index = entries.firstIndex(where: { $0.number == number }) else { return [] }
    let backlog = entries[index].backlog ?? []
    entries[index].backlog = backlog.isEmpty ? nil : []
    return backlog
  }

  /// Removes an observer, and returns it so that it is released outside the lock.
  mutating func remove(_ number: Int) -> Entry? {
    guard let index = entries.firstIndex(where: { $0.number == number }) else { return nil }
    return entries.remove(at: index)
  }
}
