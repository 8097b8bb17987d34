/// The front of the batch: what was sent and not answered.
extension ModifyRegion {
  /// Lets go of so many changes at the front of the batch, which were answered.
  mutating func thaw(count: Int) {
    repeated = 0
    writeToken = nil
    frozen = max(0, frozen - count)
    guard frozen == 0 else { return }
    part = 0
    losses = 0
    lostAt = nil
  }

  /// Keeps the first changes of the batch as they were sent.
  mutating func freeze(count: Int) {
    doubt(count: count)
    frozen = max(frozen, count)
    repeated = count
  }

  /// Notes that the cloud may have the first changes of the batch.
  mutating func doubt(count: Int) {
    for place in 0..<count where !batch[place].isInDoubt { batch[place].doubt = .unanswered }
  }

  /// Notes that a request of the first changes of the batch failed.
  mutating func noteFailure(_ error: SyncError, ofFirst count: Int) {
    for place in 0..<count { batch[place].noteFailure(error) }
  }

  /// Puts the first changes of the batch, which were answered and not settled, behind those that have
  /// not been answered.
  mutating func putBehindFrozen(count: Int) {
    let rest = frozen - count
    if rest > 0 {
      let answered = Array(batch.prefix(count))
      batch.removeFirst(count)
      batch.insert(contentsOf: answered, at: rest)
    }
    thaw(count: count)
  }

  /// Takes the deletions out whose response was lost: repeated, they might delete what came since.
  mutating func takeLostDeletions() -> [PendingChange] {
    let sent = Array(batch.prefix(frozen))
    let deletions = sent.filter { $0.edit == nil && !$0.wasParked }
    guard !deletions.isEmpty else { return [] }
    batch.replaceSubrange(0..<frozen, with: sent.filter { $0.edit != nil || $0.wasParked })
    thaw(count: deletions.count)
    return deletions
  }

  /// Notes what a page tells of records whose response was lost.
  mutating func hear(of page: FetchOperation.Response) {
    guard repeated > 0 else { return }
    var places: [RecordID: Int] = [:]
    for place in 0..<repeated { places[batch[place].recordID] = place }
    for record in page.changedRecords {
      if let place = places[record.recordID] { batch[place].doubt = .found(record) }
    }
    for deleted in page.deletedRecords {
      if let place = places[deleted.recordID] { batch[place].doubt = .gone }
    }
  }

  /// Forgets what pages told of changes that are about to be sent under a new write token: what is
  /// answered to that is newer than any of them.
  mutating func forgetPages(ofFirst count: Int) {
    for place in 0..<count where batch[place].hasHistory {
      switch batch[place].doubt {
      case .found, .gone: batch[place].doubt = .unanswered
      case .none, .unanswered: break
      }
    }
  }
}
