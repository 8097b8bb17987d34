/// Who observes a subject, and what has been sent but not yet delivered.
///
/// One thread at a time delivers. It asks under the lock for one observer after the other and calls
/// each outside it, so a cancelled observer is simply not found any more. Numbers of observers only
/// grow, which is what tells whether an observer was there when a value was sent.
struct SubjectState<Output: Sendable>: Sendable {
  struct Entry: Sendable {
    let number: Int
    /// Nil once it has cancelled.
    var observer: Observer<Output>?
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

  /// The observers, in the order of their numbers, and at most as many places of cancelled ones.
  private var entries: [Entry] = []
  /// How many places those have.
  private var cancelled = 0
  /// The number of the next observer.
  var nextNumber = 0
  /// Whether a thread is delivering.
  var isDelivering = false
  /// What was sent since that thread last looked.
  var pending: [Round] = []
  /// The value sent last, if it is kept for new observers.
  var last: Output?
  /// The number of the next observer when that value came: those from it on were given it at once.
  var lastLimit = 0

  /// Whether there is nobody.
  var isEmpty: Bool { entries.isEmpty }

  /// The observers, in the order of their numbers.
  var observers: [Observer<Output>] { entries.compactMap(\.observer) }

  /// Begins to deliver a value; nil if there is nobody, or if another thread is to do it.
  mutating func begin(_ value: Output, limit: Int) -> Step? {
    guard !isEmpty else { return nil }
    if isDelivering {
      pending.append(Round(value: value, limit: limit))
      return nil
    }
    let step = firstStep(of: value, limit: limit)
    if step != nil { isDelivering = true }
    return step
  }

  /// Finds the first observer of a round.
  mutating func firstStep(of value: Output, limit: Int) -> Step? {
    step(from: 0, of: value, limit: limit)
  }

  /// Finds the observer that follows in a round, whoever was added or removed since the last one.
  mutating func step(after last: Step, of value: Output, limit: Int) -> Step? {
    let isThere = last.index < entries.count && entries[last.index].number == last.number
    let next = isThere ? last.index + 1 : place(of: last.number + 1)
    // Mostly there is one observer.
    if next == entries.count { return nil }
    return step(from: next, of: value, limit: limit)
  }

  private mutating func step(from start: Int, of value: Output, limit: Int) -> Step? {
    var index = start
    while index < entries.count {
      let number = entries[index].number
      guard number < limit else { return nil }
      if let receive = entries[index].observer?.receive {
        if entries[index].backlog == nil {
          return Step(number: number, index: index, receive: receive)
        }
        entries[index].backlog?.append(value)
      }
      index += 1
    }
    return nil
  }

  /// What follows a step.
  enum End: Sendable {
    case next(Step)
    /// It was the last one, and these are to be delivered next.
    case waiting([Round])
    case done
  }

  /// Says what follows a step; when nothing does, delivery has ended.
  mutating func end(of last: Step, _ value: Output, limit: Int) -> End {
    if let next = step(after: last, of: value, limit: limit) { return .next(next) }
    if pending.isEmpty {
      isDelivering = false
      return .done
    }
    return .waiting(takePending())
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
    guard let index = index(of: number) else { return [] }
    let backlog = entries[index].backlog ?? []
    entries[index].backlog = backlog.isEmpty ? nil : []
    return backlog
  }

  /// Removes an observer, and returns it so that it is released outside the lock.
  ///
  /// Its place is kept until half of all places are such: that makes it O(log *n*) amortized.
  mutating func remove(_ number: Int) -> Entry? {
    guard let index = index(of: number) else { return nil }
    let removed = entries[index]
    entries[index].observer = nil
    entries[index].backlog = nil
    cancelled += 1
    if cancelled * 2 >= entries.count {
      entries.removeAll { $0.observer == nil }
      cancelled = 0
    }
    return removed
  }

  /// Where an observer is that has not cancelled.
  private func index(of number: Int) -> Int? {
    let place = place(of: number)
    guard place < entries.count, entries[place].number == number else { return nil }
    return entries[place].observer == nil ? nil : place
  }

  /// The first place whose number is not below a number.
  private func place(of number: Int) -> Int {
    entries.indices.firstPlace { entries[$0].number >= number }
  }
}
