/// What a fetch brought: what a push handler must answer.
public enum FetchOutcome: Sendable, Hashable {
  /// Something changed.
  case new
  /// Nothing changed.
  case nothing
  /// The fetch failed, or did not end in time.
  case failed
}

extension CloudSyncSession {
  /// Waits until nothing is queued, on its way or to be announced, at most for a while.
  ///
  /// Parked records do not count, unless they are being sent again.
  ///
  /// - Returns: Whether that came about in time; false at once when the session is stopped before.
  public func idle(upTo limit: Duration) async -> Bool {
    await withCheckedContinuation { continuation in
      idle(upTo: limit) { continuation.resume(returning: $0) }
    }
  }

  /// Fetches what has changed, and says in time what a push handler must answer.
  ///
  /// A fetch that has not ended by then goes on. While the session is stopped the result is ``FetchOutcome/failed`` at once,
  /// and the fetch is made after the next start.
  public func fetchNow(upTo limit: Duration) async -> FetchOutcome {
    await withCheckedContinuation { continuation in
      fetchNow(upTo: limit) { continuation.resume(returning: $0) }
    }
  }

  /// Waits as ``idle(upTo:)`` does, and tells on the session's executor; nobody is told once the session is released.
  package func idle(upTo limit: Duration, completion: @escaping @Sendable (Bool) -> Void) {
    let waiter = Waiter(
      number: inbox.nameWaiter(),
      deadline: Deadline(from: environment.now(), nanoseconds: limit.clampedNanoseconds),
      isSatisfied: \.isIdle,
      resume: completion
    )
    inbox.post(.waiter(waiter))
  }

  /// Calls a body where all callbacks are, once everything called before is taken.
  ///
  /// It comes after all that the session tells because of those calls, and before whatever it tells later; nobody is told
  /// once the session is released.
  package func tellInTurn(_ body: @escaping @Sendable () -> Void) {
    let waiter = Waiter(
      number: inbox.nameWaiter(),
      deadline: Deadline(from: environment.now(), nanoseconds: 0),
      isSatisfied: { _ in true },
      resume: { [outputs] _ in outputs.callBack(body) }
    )
    inbox.post(.waiter(waiter))
  }

  /// Fetches as ``fetchNow(upTo:)`` does, and tells on the session's executor; nobody is told once the session is
  /// released.
  package func fetchNow(
    upTo limit: Duration,
    completion: @escaping @Sendable (FetchOutcome) -> Void
  ) {
    let outcome = Locked<FetchOutcome?>(nil)
    let outputs = outputs
    let before = outputs.pagesOfNews.withLock { $0 }
    let number = inbox.nameWaiter()
    let deadline = Deadline(from: environment.now(), nanoseconds: limit.clampedNanoseconds)
    fetch { [weak self, weak outputs] result in
      let isNew = outputs?.pagesOfNews.withLock { $0 } != before
      if case .success = result {
        outcome.withLock { $0 = isNew ? .new : .nothing }
      } else {
        outcome.withLock { $0 = .failed }
      }
      self?.inbox.post(.fulfilled(number))
    }
    let waiter = Waiter(
      number: number,
      deadline: deadline,
      isSatisfied: { _ in outcome.withLock { $0 != nil } },
      resume: { _ in completion(outcome.withLock { $0 } ?? .failed) }
    )
    inbox.post(.waiter(waiter))
  }
}
