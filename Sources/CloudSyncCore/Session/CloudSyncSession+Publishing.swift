extension CloudSyncSession {
  /// Runs a callback where callbacks run.
  func callBack(_ body: @escaping @Sendable () -> Void) {
    if let callbackExecutor { callbackExecutor.run(body) } else { body() }
  }

  /// Announces what has changed to the subscribers.
  func publish(_ publication: Publication, engine: Engine) {
    if publication.contains(.event), eventsPublisher.hasSubscribers {
      let record = engine.record
      callBack { [self] in eventsPublisher.send(record) }
    }
    let state = engine.context.state
    if publication.contains(.state) { publishState(state: state) }
    if publication.contains(.progress) {
      let progress = state.progress
      if callbackExecutor == nil {
        progressSubject.send(progress)
      } else {
        callBack { [self] in progressSubject.send(progress) }
      }
    }
    guard !publication.isDisjoint(with: [.halted, .accountStatus, .zone]) else { return }
    if publication.contains(.halted) {
      let error = state.haltReason?.error
      callBack { [self] in haltedSubject.send(error) }
    }
    if publication.contains(.accountStatus), let status = state.account.reported {
      callBack { [self] in accountStatusSubject.send(status) }
    }
    if publication.contains(.zone) {
      let zone = state.zoneState
      callBack { [self] in zoneSubject.send(zone) }
    }
  }

  /// Delivers the announcements with these numbers, in order.
  func announce(_ numbers: Range<UInt64>, engine: Engine) {
    for number in numbers {
      let note = engine.context.state.notifications[number]
      callBack { [self] in
        deliver(note)
        confirmDelivery(of: number)
      }
    }
  }

  /// Sends the newest state; on another executor older ones are skipped.
  private func publishState(state: SyncState) {
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
  private func deliver(_ note: SyncNotification) {
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
  private func confirmDelivery(of number: UInt64) {
    let isIdle = inbox.withLock { inbox -> Bool in
      inbox.deliveredUpTo = max(inbox.deliveredUpTo, number + 1)
      defer { inbox.isScheduled = true }
      return !inbox.isScheduled
    }
    if isIdle { executor.run { [self] in drain() } }
  }
}
