/// The one gate before every request, and how much the waits have grown.
package struct GateRegion: Sendable {
  /// Until when nothing is sent because the session itself waits.
  package var own: Deadline?
  /// Until when nothing is sent because the server asked for it: only `retryNow()` passes this.
  package var servers: Deadline?
  /// What the gate was closed for last.
  package var cause = Wait.Cause.transient
  /// How often in a row each cause has made the session wait, by the cause's raw value.
  package var retries = RetryCounters()

  /// When the gate opens, if it is closed.
  package func opening(at now: Timestamp) -> Timestamp? {
    if own == nil, servers == nil { return nil }
    let end = max(own?.end(at: now) ?? now, servers?.end(at: now) ?? now)
    return end > now ? end : nil
  }

  /// Closes the gate for every kind of work; one that is closed for longer stays so.
  mutating func close(for wait: Wait, length: Int64, at now: Timestamp) {
    retries[wait.cause] += 1
    cause = wait.cause
    let deadline = Deadline(from: now, nanoseconds: length)
    if wait.serverNanoseconds != nil {
      if deadline.until > servers?.until ?? now { servers = deadline }
    } else if deadline.until > own?.until ?? now {
      own = deadline
    }
  }

  /// Forgets the session's own waits; a wait that the server asked for stays.
  mutating func forgetOwnWaits() {
    own = nil
    let service = retries[.service]
    retries = RetryCounters()
    retries[.service] = service
  }

  /// Begins waits afresh, after something went well; whether storage is free, and whether the app can
  /// store a page, is told by nothing else.
  mutating func resetRetries() {
    var kept = RetryCounters()
    kept[.quota] = retries[.quota]
    kept[.storage] = retries[.storage]
    retries = kept
  }

  /// Opens the gate if its time has come; false if that changes nothing.
  mutating func open(at now: Timestamp) -> Bool {
    var didChange = false
    if let deadline = own, deadline.isPassed(at: now) {
      own = nil
      didChange = true
    }
    if let deadline = servers, deadline.isPassed(at: now) {
      servers = nil
      didChange = true
    }
    return didChange
  }

  /// Moves deadlines that a clock set back has pushed away.
  mutating func clamp(at now: Timestamp) {
    own?.clamp(at: now)
    servers?.clamp(at: now)
  }

  /// Whether any wait has grown.
  package var hasRetries: Bool { retries.hasAny }
}

extension GateRegion: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    own = try coder.field("own") { $0.own }
    servers = try coder.field("servers") { $0.servers }
    cause = try coder.field("cause") { $0.cause }
    retries = try coder.field("retries") { $0.retries }
  }
}

/// How often in a row each cause has made the session wait, up to 255 times: every wait is as long as
/// it can get by then.
package struct RetryCounters: Sendable {
  /// One byte for each cause, in one word: a state is copied often.
  private var counts: UInt64 = 0

  package init() {}

  package subscript(cause: Wait.Cause) -> Int {
    get { Int(truncatingIfNeeded: counts >> (8 * UInt64(cause.rawValue)) & 0xff) }
    set {
      let shift = 8 * UInt64(cause.rawValue)
      counts = counts & ~(0xff << shift) | UInt64(UInt8(clamping: newValue)) << shift
    }
  }

  package var hasAny: Bool { counts != 0 }
  package var most: Int { Wait.Cause.allCases.map { self[$0] }.max() ?? 0 }
}

extension RetryCounters: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.write(Wait.Cause.allCases.map { self[$0] })
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    let counts = try reader.array { (reader) throws(CodedError) in
      Int(clamping: max(0, try reader.readInt64()))
    }
    guard counts.count == Wait.Cause.allCases.count else {
      throw reader.failure("there are \(counts.count) counts of waits")
    }
    for (cause, count) in zip(Wait.Cause.allCases, counts) { self[cause] = count }
  }
}
