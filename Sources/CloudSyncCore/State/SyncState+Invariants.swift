extension SyncState {
  /// How thoroughly a state is checked.
  package enum InvariantLevel: Sendable {
    /// In constant time.
    case cheap
    /// Everything, in time linear in the state.
    case all
  }

  /// The first thing about the state that contradicts itself, in words; nil if nothing does.
  package func brokenInvariant(_ level: InvariantLevel) -> String? {
    if let broken = brokenCheapInvariant { return broken }
    return level == .all ? brokenDeepInvariant : nil
  }

  private var brokenCheapInvariant: String? {
    if let flight {
      if flight.attempt.epoch != epoch { return "a request of another epoch is in flight" }
      if flight.attempt.number >= nextAttempt { return "an attempt of the future is in flight" }
      if flight.mode == .modify {
        if flight.count < 1 || flight.count > modify.batch.count {
          return "\(flight.count) entries are in flight, the batch has \(modify.batch.count)"
        }
        if modify.repeated > 0, modify.repeated != flight.count {
          return "a lost request of \(modify.repeated) was sent as \(flight.count)"
        }
        if modify.frozen > 0, flight.count > modify.frozen {
          return "\(flight.count) entries were sent with \(modify.frozen) that are not answered"
        }
        if modify.writeToken == nil { return "a modification is in flight without a token" }
      }
      if flight.isLookup, flight.count < 1 || flight.count > modify.lookups {
        return "more is looked up than is wanted"
      }
      if flight.mode == .fetch, !flight.isLookup, fetch.run == nil {
        return "a page is in flight for no run"
      }
    }
    if modify.frozen < 0 || modify.frozen > modify.batch.count {
      return "\(modify.frozen) frozen entries in a batch of \(modify.batch.count)"
    }
    if modify.repeated < 0 || modify.repeated > modify.frozen {
      return "\(modify.repeated) of \(modify.frozen) entries are sent again"
    }
    if modify.repeated > 0, modify.writeToken == nil { return "a lost request has no token" }
    if modify.queuedItems < 0 || modify.queuedBytes < 0 { return "a negative amount is queued" }
    if modify.cursor < 0 { return "the cursor is negative" }
    if modify.cursor > 0, modify.cursor >= modify.queue.first?.itemCount ?? 0 {
      return "the cursor is behind the first operation"
    }
    if modify.lookups < 0 || modify.lookups > modify.batch.count {
      return "\(modify.lookups) lookups for a batch of \(modify.batch.count)"
    }
    if modify.open.first.map({ $0.left <= 0 }) ?? false {
      return "a settled operation was not announced"
    }
    return nil
  }

  private var brokenDeepInvariant: String? {
    brokenWindow ?? brokenOpenOperations ?? brokenQueue
  }

  private var brokenWindow: String? {
    var seen: Set<RecordID> = []
    for entry in modify.batch + Array(parked.returning) {
      let recordID = entry.recordID
      if !seen.insert(recordID).inserted { return "\(recordID) is twice on its way" }
      if parked.entries[recordID] != nil { return "\(recordID) is on its way and on the entries" }
    }
    if modify.lookups != modify.batch.count(where: \.needsLookup) {
      return "lookups are counted wrongly"
    }
    if modify.batch.prefix(modify.frozen).contains(where: { !$0.isInDoubt || $0.needsLookup }) {
      return "what was sent and not answered is not in doubt, or is looked up"
    }
    for number in modify.cancelling where modify.open[number] == nil {
      return "operation \(number) is given up and not open"
    }
    for parked in parked.inOrder where parked.entry.source != 0 {
      return "\(parked.entry.recordID) is parked and still counted as open"
    }
    return parked.brokenInvariant
  }

  private var brokenOpenOperations: String? {
    var left: [UInt64: Int] = [:]
    for entry in modify.batch + Array(parked.returning) where entry.source != 0 {
      left[entry.source, default: 0] += 1
      for number in entry.furtherSources { left[number, default: 0] += 1 }
    }
    if let first = modify.queue.first, modify.open.last?.number == first.id.number {
      left[first.id.number, default: 0] += first.itemCount - modify.cursor
    }
    var last: UInt64 = 0
    for open in modify.open {
      if open.number <= last { return "operation \(open.number) is out of order" }
      last = open.number
      let found = left.removeValue(forKey: open.number) ?? 0
      if found != open.left {
        return "operation \(open.number) has \(open.left) records left, \(found) are on their way"
      }
    }
    return left.isEmpty ? nil : "records are on their way for operations that have ended"
  }

  private var brokenQueue: String? {
    var items = -modify.cursor
    var bytes = 0
    var last: UInt64 = 0
    for (place, operation) in modify.queue.enumerated() {
      if operation.id.number <= last { return "the queue is out of order at \(operation.id)" }
      last = operation.id.number
      items += operation.itemCount
      bytes += max(0, operation.byteCount)
      guard place == 0 else { continue }
      for item in 0..<modify.cursor { bytes -= operation.byteCount(ofItem: item) }
    }
    if items != modify.queuedItems { return "\(items) items queued, \(modify.queuedItems) counted" }
    if bytes != modify.queuedBytes { return "\(bytes) bytes queued, \(modify.queuedBytes) counted" }
    if last >= nextOperation { return "an operation of the future is queued" }
    return nil
  }
}
