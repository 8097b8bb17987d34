extension SyncEvent {
  /// The names of the cases: what logs show.
  package static let names: [StaticString] = [
    "start", "halt", "reset", "restored", "doWork", "cancel", "retryNow", "connectivityChanged",
    "retryParked", "dropParked", "acknowledge", "accountDidChange", "resolveAccountSwitch",
    "decideZone", "accountProviderAttached", "accountCheckStarted", "accountStatusChanged",
    "gateClosed", "delivered", "woke", "startWork", "retryWork", "workSuccess", "workFailure",
    "settleItems", "resolveConflict", "retry", "split", "startOver", "failFetch", "noop",
    "workDropped",
  ]

  package var caseIndex: Int {
    switch self {
    case .start: 0
    case .halt: 1
    case .reset: 2
    case .restored: 3
    case .doWork: 4
    case .cancel: 5
    case .retryNow: 6
    case .connectivityChanged: 7
    case .retryParked: 8
    case .dropParked: 9
    case .acknowledge: 10
    case .accountDidChange: 11
    case .resolveAccountSwitch: 12
    case .decideZone: 13
    case .accountProviderAttached: 14
    case .accountCheckStarted: 15
    case .accountStatusChanged: 16
    case .gateClosed: 17
    case .delivered: 18
    case .woke: 19
    case .startWork: 20
    case .retryWork: 21
    case .workSuccess: 22
    case .workFailure: 23
    case .settleItems: 24
    case .resolveConflict: 25
    case .retry: 26
    case .split: 27
    case .startOver: 28
    case .failFetch: 29
    case .noop: 30
    case .workDropped: 31
    }
  }

  /// The name of the event's kind.
  public var name: String { "\(Self.names[caseIndex])" }

  /// The attempt that the event answers, if it is a response or was made of one.
  public var attempt: Attempt? {
    switch self {
    case .workSuccess(let attempt, _), .workFailure(let attempt, _), .settleItems(let attempt, _),
      .resolveConflict(let attempt, _), .retry(let attempt, _), .split(let attempt, _),
      .startOver(let attempt, _, _), .failFetch(let attempt, _):
      attempt
    default: nil
    }
  }
}

extension SyncEvent: CodedValue {
  /// Tells whether two events have the same bytes.
  public static func == (lhs: SyncEvent, rhs: SyncEvent) -> Bool {
    isSame(lhs, rhs) || lhs.caseIndex == rhs.caseIndex && lhs.codedBytes == rhs.codedBytes
  }

  /// Tells whether two events are one: an event is a pointer to what never changes, or a number.
  private static func isSame(_ lhs: SyncEvent, _ rhs: SyncEvent) -> Bool {
    withUnsafeBytes(of: lhs) { lhs in
      withUnsafeBytes(of: rhs) { rhs in UTF8Bytes.equal(lhs, rhs) }
    }
  }

  // Compiled for the formats of logs here: elsewhere every type is looked up at run time.
  @_specialize(where W == LineWriter)
  @_specialize(where W == BinaryWriter)
  @_specialize(where W == SkeletonDigest)
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.key("kind")
      $0.tag(caseIndex, of: Self.names)
      writePayload(to: &$0)
    }
  }

  private func writePayload<W: CodedWriter>(to writer: inout W) {
    switch self {
    case .start, .retryNow, .connectivityChanged, .accountDidChange, .accountProviderAttached,
      .accountCheckStarted, .woke, .noop:
      break
    case .halt(let error): writer.field("error", error)
    case .reset(let nonce): writer.field("nonce", nonce)
    case .restored(let nonce, let configuration):
      writer.field("nonce", nonce)
      writer.field("configuration", configuration)
    case .doWork(let work), .workDropped(let work): writer.field("work", work)
    case .cancel(let id): writer.field("operation", id)
    case .retryParked(let ids), .dropParked(let ids): writer.field("records", ids)
    case .acknowledge(let page, let answer):
      writer.field("page", page)
      writer.field("answer", answer)
    case .resolveAccountSwitch(let decision, let nonce):
      writer.field("decision", decision)
      writer.field("nonce", nonce)
    case .decideZone(let decision): writer.field("decision", decision)
    case .accountStatusChanged(let status, let identity):
      writer.field("status", status)
      writer.field("identity", identity)
    case .gateClosed(let wait): writer.field("wait", wait)
    case .delivered(let number): writer.field("upTo", number)
    case .startWork(let request), .retryWork(let request): writer.field("request", request)
    default: writeAnswer(to: &writer)
    }
  }

  private func writeAnswer<W: CodedWriter>(to writer: inout W) {
    if let attempt { writer.field("attempt", attempt) }
    switch self {
    case .workSuccess(_, let result): writer.field("result", result)
    case .workFailure(_, let error), .failFetch(_, let error): writer.field("error", error)
    case .settleItems(_, let settlement), .resolveConflict(_, let settlement):
      writer.field("settlement", settlement)
    case .retry(_, let retry): writer.field("retry", retry)
    case .split(_, let split): writer.field("split", split)
    case .startOver(_, let token, let error):
      writer.field("token", token)
      writer.field("error", error)
    default: break
    }
  }

  @_specialize(where R == LineReader)
  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    try reader.key("kind")
    let index = try reader.tag(of: Self.names)
    if index < 20 {
      self = try Self.readReport(index: index, reader: &reader)
    } else {
      self = try Self.readAnswer(index: index, reader: &reader)
    }
    try reader.endObject()
  }

  private static func readReport<R: CodedReader>(
    index: Int,
    reader: inout R
  ) throws(CodedError) -> SyncEvent {
    switch index {
    case 0: .start
    case 1: .halt(try reader.field("error"))
    case 2: .reset(nonce: try reader.field("nonce"))
    case 3:
      .restored(nonce: try reader.field("nonce"), configuration: try reader.field("configuration"))
    case 4: .doWork(try reader.field("work"))
    case 5: .cancel(try reader.field("operation"))
    case 6: .retryNow
    case 7: .connectivityChanged
    case 8: .retryParked(try reader.field("records"))
    case 9: .dropParked(try reader.field("records"))
    case 10: .acknowledge(try reader.field("page"), try reader.field("answer"))
    case 11: .accountDidChange
    case 12:
      .resolveAccountSwitch(try reader.field("decision"), nonce: try reader.field("nonce"))
    case 13: .decideZone(try reader.field("decision"))
    case 14: .accountProviderAttached
    case 15: .accountCheckStarted
    case 16: .accountStatusChanged(try reader.field("status"), try reader.field("identity"))
    case 17: .gateClosed(try reader.field("wait"))
    case 18: .delivered(upTo: try reader.field("upTo"))
    default: .woke
    }
  }

  private static func readAnswer<R: CodedReader>(
    index: Int,
    reader: inout R
  ) throws(CodedError) -> SyncEvent {
    switch index {
    case 20: return .startWork(try reader.field("request"))
    case 21: return .retryWork(try reader.field("request"))
    case 30: return .noop
    case 31: return .workDropped(try reader.field("work"))
    default: break
    }
    let attempt: Attempt = try reader.field("attempt")
    switch index {
    case 22: return .workSuccess(attempt, try reader.field("result"))
    case 23: return .workFailure(attempt, try reader.field("error"))
    case 24: return .settleItems(attempt, try reader.field("settlement"))
    case 25: return .resolveConflict(attempt, try reader.field("settlement"))
    case 26: return .retry(attempt, try reader.field("retry"))
    case 27: return .split(attempt, try reader.field("split"))
    case 28: return .startOver(attempt, try reader.field("token"), try reader.field("error"))
    default: return .failFetch(attempt, try reader.field("error"))
    }
  }
}
