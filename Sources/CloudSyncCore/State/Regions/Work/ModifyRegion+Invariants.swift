/// What cannot be about the modifications, each in words; nil if nothing of it is.
extension ModifyRegion {
  /// Of a request of so many entries that is in flight.
  func brokenRequest(of count: Int) -> String? {
    if count < 1 || count > batch.count {
      return "\(count) entries are in flight, the batch has \(batch.count)"
    }
    if repeated > 0, repeated != count {
      return "a lost request of \(repeated) was sent as \(count)"
    }
    if frozen > 0, count > frozen {
      return "\(count) entries were sent with \(frozen) that are not answered"
    }
    return writeToken == nil ? "a modification is in flight without a token" : nil
  }

  /// In constant time.
  var brokenCounts: String? {
    if frozen < 0 || frozen > batch.count {
      return "\(frozen) frozen entries in a batch of \(batch.count)"
    }
    if repeated < 0 || repeated > frozen {
      return "\(repeated) of \(frozen) entries are sent again"
    }
    if repeated > 0, writeToken == nil { return "a lost request has no token" }
    if queuedItems < 0 || queuedBytes < 0 { return "a negative amount is queued" }
    if cursor < 0 { return "the cursor is negative" }
    if cursor > 0, cursor >= queue.first?.itemCount ?? 0 {
      return "the cursor is behind the first operation"
    }
    if lookups < 0 || lookups > batch.count {
      return "\(lookups) lookups for a batch of \(batch.count)"
    }
    return open.first.map({ $0.left <= 0 }) ?? false
      ? "a settled operation was not announced" : nil
  }

  /// Of the batch, and what is to be taken out of it.
  var brokenBatch: String? {
    if lookups != batch.count(where: \.needsLookup) { return "lookups are counted wrongly" }
    if batch.prefix(frozen).contains(where: { !$0.isInDoubt || $0.needsLookup }) {
      return "what was sent and not answered is not in doubt, or is looked up"
    }
    for number in cancelling where open[number] == nil {
      return "operation \(number) is given up and not open"
    }
    return nil
  }

  /// Of the open operations: how many of their records are on their way.
  func brokenOpenOperations(returning: [PendingChange]) -> String? {
    var left: [UInt64: Int] = [:]
    for entry in batch + returning {
      for number in entry.sources { left[number, default: 0] += 1 }
    }
    if let first = queue.first, open.lastNumber == first.id.number {
      left[first.id.number, default: 0] += first.itemCount - cursor
    }
    var last: UInt64 = 0
    for open in open {
      if open.number <= last { return "operation \(open.number) is out of order" }
      last = open.number
      let found = left.removeValue(forKey: open.number) ?? 0
      if found != open.left {
        return "operation \(open.number) has \(open.left) records left, \(found) are on their way"
      }
    }
    guard left.isEmpty else { return "records are on their way for operations that have ended" }
    return open.brokenIndex
  }

  /// Of the queue: its order, and what it holds.
  ///
  /// - Parameter next: The number of the operation that comes next.
  /// - Returns: What contradicts itself.
  func brokenQueue(next: UInt64) -> String? {
    var items = -cursor
    var bytes = 0
    var last: UInt64 = 0
    for (place, operation) in queue.enumerated() {
      if operation.id.number <= last { return "the queue is out of order at \(operation.id)" }
      last = operation.id.number
      items += operation.itemCount
      bytes += max(0, operation.byteCount)
      guard place == 0 else { continue }
      for item in 0..<cursor { bytes -= operation.byteCount(ofItem: item) }
    }
    if items != queuedItems { return "\(items) items queued, \(queuedItems) counted" }
    if bytes != queuedBytes { return "\(bytes) bytes queued, \(queuedBytes) counted" }
    return last >= next ? "an operation of the future is queued" : nil
  }
}
