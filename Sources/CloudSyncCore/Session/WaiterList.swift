/// Somebody who waits for a state, at most until a deadline or until the session is stopped.
struct Waiter: Sendable {
  /// The waiter's name, by ``Inbox/nameWaiter()``.
  let number: UInt64
  /// A clock set back costs at most one more wait, as at the gate.
  var deadline: Deadline
  /// Whether the wish is fulfilled: asked when the session is idle, and when somebody says so.
  let isSatisfied: @Sendable (SyncState) -> Bool
  let resume: @Sendable (Bool) -> Void
}

/// Who waits, in the order in which their waits end: an event that ends no wait costs the same for
/// any number of them.
struct WaiterList {
  /// When a wait ends; the waiter's number decides among several.
  private struct End: Comparable, Sendable {
    let until: Timestamp
    let number: UInt64

    static func < (lhs: End, rhs: End) -> Bool {
      lhs.until != rhs.until ? lhs.until < rhs.until : lhs.number < rhs.number
    }
  }

  private var waiters = PersistentSortedMap<End, Waiter>()
  private var ends: [UInt64: End] = [:]
  /// When somebody last looked: a clock that shows less has been set back.
  private var seen: Timestamp?

  var isEmpty: Bool { waiters.isEmpty }

  /// When the first wait ends.
  var nextEnd: Timestamp? { waiters.first?.key.until }

  mutating func add(_ waiter: Waiter) {
    let end = End(until: waiter.deadline.until, number: waiter.number)
    waiters[end] = waiter
    ends[waiter.number] = end
  }

  /// Takes a waiter out; nil if it does not wait any more.
  mutating func remove(_ number: UInt64) -> Waiter? {
    guard let end = ends.removeValue(forKey: number), let waiter = waiters[end] else { return nil }
    waiters[end] = nil
    return waiter
  }

  /// Takes out those whose time is over.
  mutating func removeEnded(at now: Timestamp) -> [Waiter] {
    if let seen, now < seen { clamp(at: now) }
    seen = now
    var ended: [Waiter] = []
    while let first = waiters.first, first.key.until <= now {
      ended.append(first.value)
      _ = remove(first.value.number)
    }
    return ended
  }

  /// Takes out those who are content with a state.
  mutating func removeSatisfied(by state: SyncState) -> [Waiter] {
    waiters.values.filter { $0.isSatisfied(state) }.compactMap { remove($0.number) }
  }

  mutating func removeAll() -> [Waiter] {
    let all = waiters.values
    self = WaiterList()
    return all
  }

  /// Moves the ends of waits that a clock set back has pushed away.
  private mutating func clamp(at now: Timestamp) {
    for var waiter in removeAll() {
      waiter.deadline.clamp(at: now)
      add(waiter)
    }
  }
}
