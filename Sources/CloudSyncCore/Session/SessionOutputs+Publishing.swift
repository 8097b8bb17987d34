extension SessionOutputs {
  /// Runs a callback where callbacks run.
  func callBack(_ body: @escaping @Sendable () -> Void) {
    if let callbackExecutor { callbackExecutor.run(body) } else { body() }
  }

  /// Announces what has changed to the subscribers.
  ///
  /// - Parameters:
  ///   - publication: What has changed.
  ///   - state: The new state.
  ///   - record: Makes the event's record, if anybody wants it.
  func publish(_ publication: Publication, of state: SyncState, record: () -> EventRecord) {
    if publication.contains(.event), publishers.events.hasSubscribers {
      let record = record()
      callBack { [self] in publishers.events.send(record) }
    }
    if publication.contains(.state) { publishState() }
    if publication.contains(.progress) {
      let progress = state.progress
      if callbackExecutor == nil {
        publishers.progress.send(progress)
      } else {
        callBack { [self] in publishers.progress.send(progress) }
      }
    }
    guard !publication.isDisjoint(with: [.halted, .accountStatus, .zone]) else { return }
    if publication.contains(.halted) {
      let error = state.haltReason?.error
      callBack { [self] in publishers.halted.send(error) }
    }
    if publication.contains(.accountStatus), let status = state.account.reported {
      callBack { [self] in publishers.accountStatus.send(status) }
    }
    if publication.contains(.zone) {
      let zone = state.zoneState
      callBack { [self] in publishers.zone.send(zone) }
    }
  }

  /// Delivers the announcements with these numbers, in order.
  func announce(_ numbers: Range<UInt64>, of state: SyncState) {
    for number in numbers {
      let note = state.notifications[number]
      if let callbackExecutor {
        callbackExecutor.run { [self] in deliver(note, numbered: number) }
      } else {
        deliver(note, numbered: number)
      }
    }
  }

  private func deliver(_ note: SyncNotification, numbered number: UInt64) {
    deliver(note)
    inbox.confirmDelivery(of: number)
  }

  /// Sends the newest state; on another executor older ones are skipped.
  private func publishState() {
    guard let callbackExecutor else { return publishers.state.sendKept() }
    let isOnItsWay = isStateOnItsWay.withLock { isOnItsWay in
      defer { isOnItsWay = true }
      return isOnItsWay
    }
    guard !isOnItsWay else { return }
    callbackExecutor.run { [self] in
      isStateOnItsWay.withLock { $0 = false }
      publishers.state.sendKept()
    }
  }

  /// Delivers an announcement: to the subscribers, and to the operation's own completion.
  private func deliver(_ note: SyncNotification) {
    switch note {
    case .modifyCompleted(let operation, let response):
      publishers.modifyCompleted.send((operation, response))
      publish { CloudChange(response) }
      complete(operation.id) { $0.modify?(.success(response)) }
    case .modifyFailed(let operation, let error, let response):
      var error = error
      error.itemErrors = response.failures
      publishers.failed.send((.modify(operation), error))
      // Some of its records may be in the cloud.
      publish { CloudChange(response) }
      fail(operation.id, with: error)
    case .fetchPage(let operation, let response):
      if !response.isEmpty { pagesOfNews.withLock { $0 += 1 } }
      publishers.fetchedPages.send((operation, response))
      publish { CloudChange(response) }
      if response.isLast { complete(operation.id) { $0.fetch?(.success(response)) } }
    case .fetchFailed(let operation, let error):
      publishers.failed.send((.fetch(operation), error))
      fail(operation.id, with: error)
    case .parked(let change):
      publishers.parked.send(change)
      publish { CloudChange(change) }
    }
  }

  private func publish(_ change: () -> CloudChange?) {
    // Nobody may want them, and each is some arrays.
    guard publishers.cloudChanges.hasSubscribers, let change = change() else { return }
    publishers.cloudChanges.send(change)
  }

  /// Ends an operation of which the state does not know.
  func tellDropped(_ work: SyncWork) {
    guard let id = work.operationID else { return }
    callBack { [self] in
      publishers.failed.send((work, .droppedByMiddleware))
      fail(id, with: .droppedByMiddleware)
    }
  }

  private func fail(_ id: OperationID, with error: SyncError) { complete(id) { $0.fail(error) } }

  private func complete(_ id: OperationID, _ body: (OperationCompletion) -> Void) {
    if let completion = completions.withLock({ $0.remove(id) }) { body(completion) }
  }
}
