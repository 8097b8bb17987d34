extension CloudSyncSession {
  /// Runs a callback where callbacks run.
  private func callBack(_ body: @escaping @Sendable () -> Void) {
    if let callbackExecutor { callbackExecutor.run(body) } else { body() }
  }

  /// Announces something to the subscribers.
  func publish(_ publication: Publication, _ engine: Engine) {
    switch publication {
    case .event:
      guard eventsPublisher.hasSubscribers else { return }
      let record = engine.record
      callBack { [self] in eventsPublisher.send(record) }
    case .state: publishState(engine.context.state)
    case .notes(let numbers):
      for number in numbers {
        let note = engine.context.state.notes[number]
        callBack { [self] in
          deliver(note)
          noteDelivery(of: number)
        }
      }
    case .halted(let error): callBack { [self] in haltedSubject.send(error) }
    case .accountStatus(let status): callBack { [self] in accountStatusSubject.send(status) }
    case .zone(let zone): callBack { [self] in zoneSubject.send(zone) }
    case .progress(let progress): callBack { [self] in progressSubject.send(progress) }
    }
  }

  /// Sends the newest state; on another executor older ones are skipped.
  private func publishState(_ state: SyncState) {
    guard let callbackExecutor else { return statePublisher.send(state) }
    let isOnItsWay = isStateOnItsWay.withLock { isOnItsWay in
      defer { isOnItsWay = true }
      return isOnItsWay
    }
    guard !isOnItsWay else { return }
    callbackExecutor.run { [self] in
      isStateOnItsWay.withLock { $0 = false }
      statePublisher.send(self.state)
    }
  }

  /// Delivers an announcement: to the subscribers, and to the operation's own completion.
  private func deliver(_ note: Note) {
    switch note {
    case .modifyCompleted(let operation, let response):
      modifyWorkCompletedSubject.send((operation, response))
      complete(operation.id) { $0.modify?(.success(response)) }
    case .modifyFailed(let operation, let error, let response):
      var error = error
      error.itemErrors = response.failures
      workFailedSubject.send((.modify(operation), error))
      complete(operation.id) { [error] in $0.modify?(.failure(error)) }
    case .fetchPage(let operation, let response):
      fetchWorkCompletedSubject.send((operation, response))
      if response.isLast { complete(operation.id) { $0.fetch?(.success(response)) } }
    case .fetchFailed(let operation, let error):
      workFailedSubject.send((.fetch(operation), error))
      complete(operation.id) { $0.fetch?(.failure(error)) }
    case .parked(let change): parkedSubject.send(change)
    }
  }

  private func complete(_ id: OperationID, _ body: (OperationCompletion) -> Void) {
    if let completion = completions.withLock({ $0.remove(id) }) { body(completion) }
  }

  /// Remembers that an announcement has been delivered; the state is told when there is time.
  private func noteDelivery(of number: UInt64) {
    let isIdle = inbox.withLock { inbox -> Bool in
      inbox.deliveredUpTo = max(inbox.deliveredUpTo, number + 1)
      defer { inbox.isScheduled = true }
      return !inbox.isScheduled
    }
    if isIdle { executor.run { [self] in drain() } }
  }
}
