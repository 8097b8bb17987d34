/// One record's edit on its way: an entry of the batch, or a parked one.
package struct PendingChange: Sendable {
  package enum Intent: Sendable {
    case save(Record)
    case delete(RecordID)
  }

  package var intent: Intent
  /// What the app edited, if it said so.
  package var ancestor: Record?
  /// The server's record that it was last merged with: what the next merge begins with.
  package var base: Record?
  /// The bytes it takes in a request.
  package var byteCount: Int
  /// The number of the first operation that it carries; 0 when all of them have been answered.
  package var source: UInt64
  /// The numbers of the other operations whose edits were merged into it.
  package var furtherSources: [UInt64] = []
  package var conflicts = 0
  package var failures = 0
  /// Whether the server's record has to be looked up before it is sent.
  package var needsLookup = false
  /// Whether it was parked before.
  package var wasParked = false
  /// A deletion that takes one more attempt because the record is to be saved again.
  package var isLastTry = false
  /// Whether edits of different versions of the record were merged: the server's is looked up and
  /// the conflict resolver asked, because neither change tag stands for both.
  package var isMixed = false
  /// What befell it; nil for a change that nothing has befallen, as nearly all of them.
  package private(set) var trials: CopyOnWrite<Trials>?

  package init(intent: Intent, ancestor: Record?, byteCount: Int, source: UInt64) {
    self.intent = intent
    self.ancestor = ancestor
    self.byteCount = byteCount
    self.source = source
  }

  package var recordID: RecordID {
    switch intent {
    case .save(let record): record.recordID
    case .delete(let recordID): recordID
    }
  }

  package var edit: Record? {
    if case .save(let record) = intent { record } else { nil }
  }

  /// Takes over the edit of a later operation, if both can travel as one.
  ///
  /// A later field goes over an earlier one and a deletion over a save; a save never joins an
  /// earlier deletion.
  package mutating func merge(_ later: PendingChange) -> Bool {
    switch (intent, later.intent) {
    case (.save(let earlier), .save(let record)):
      if !UTF8Bytes.equal(earlier.changeTag, record.changeTag) { isMixed = true }
      let merged = earlier.merging(later: record)
      intent = .save(merged)
      byteCount = merged.byteCount
    case (.save, .delete):
      intent = later.intent
      byteCount = later.byteCount
      isMixed = false
      needsLookup = false
    case (.delete, .delete): break
    case (.delete, .save): return false
    }
    if isMixed { needsLookup = true }
    // What the cloud may have is no longer what is sent.
    doubt = .none
    endProbing()
    add(later.source)
    return true
  }

  package mutating func add(_ number: UInt64) {
    if source == 0 { source = number } else { furtherSources.append(number) }
  }

  package mutating func setChangeTag(tag: String?) {
    if case .save(let record) = intent, !UTF8Bytes.equal(record.changeTag, tag) {
      intent = .save(record.withChangeTag(tag))
    }
  }

  /// Gives the entry a fresh attempt and budget.
  package mutating func refresh() {
    conflicts = 0
    failures = 0
    endProbing()
    refusedAt = 0
    needsLookup = isMixed
  }
}

/// Whether the cloud may have a change already.
package enum Doubt: Sendable {
  /// It has not been sent, or was answered.
  case none
  /// It was sent, and the answer was lost.
  case unanswered
  /// The same, and a page has told of the record since.
  case found(Record)
  /// The same, and a page has told that the record is gone.
  case gone
}

/// What befell a change that did not go through at once.
package struct Trials: Sendable {
  /// Whether the cloud may have it already.
  var doubt = Doubt.none
  /// How often in a row it was parked for an error that may pass, and tried again by itself.
  var probes = 0
  /// The error for which it was parked then.
  var probedFor: SyncError?
  /// What ``SyncState/answered`` was when it was last refused in passing; 0 if it was not.
  var refusedAt: UInt64 = 0
  /// The number of the last operation that is told that the record is parked; 0 if none is.
  var reporter: UInt64 = 0

  fileprivate var isEmpty: Bool {
    guard case .none = doubt else { return false }
    return probes == 0 && probedFor == nil && refusedAt == 0 && reporter == 0
  }
}

extension PendingChange {
  package var doubt: Doubt {
    get { trials?.value.doubt ?? .none }
    set { change { $0.doubt = newValue } }
  }
  package var probes: Int { trials?.value.probes ?? 0 }
  package var probedFor: SyncError? { trials?.value.probedFor }

  /// Notes that it is parked for an error that may pass, and tried again by itself.
  package mutating func probe(_ count: Int, for error: SyncError) {
    change {
      $0.probes = count
      $0.probedFor = error
    }
  }

  /// Makes it a change like any other.
  package mutating func endProbing() {
    guard probes > 0 else { return }
    change {
      $0.probes = 0
      $0.probedFor = nil
    }
  }

  package var refusedAt: UInt64 {
    get { trials?.value.refusedAt ?? 0 }
    set { change { $0.refusedAt = newValue } }
  }
  package var reporter: UInt64 {
    get { trials?.value.reporter ?? 0 }
    set { change { $0.reporter = newValue } }
  }

  /// Whether it was sent and not answered, so that the cloud may have it already.
  package var isInDoubt: Bool { if case .none = doubt { false } else { true } }

  /// Changes what befell it; nothing at all is kept as nil, so that equal changes are coded alike.
  private mutating func change(_ body: (inout Trials) -> Void) {
    var changed = trials?.value ?? Trials()
    body(&changed)
    if changed.isEmpty {
      if trials != nil { trials = nil }
    } else {
      trials = CopyOnWrite(changed)
    }
  }
}

extension PendingChange: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("save", edit)
      if case .delete(let recordID) = intent { $0.field("delete", recordID) }
      $0.field("ancestor", ancestor)
      $0.field("base", base)
      $0.field("byteCount", byteCount)
      $0.field("source", source)
      $0.field("furtherSources", furtherSources)
      $0.field("conflicts", conflicts)
      $0.field("failures", failures)
      $0.field("needsLookup", needsLookup)
      $0.field("wasParked", wasParked)
      $0.field("isLastTry", isLastTry)
      $0.field("isMixed", isMixed)
      $0.field("trials", trials?.value)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    if let record: Record = try reader.field("save") {
      intent = .save(record)
    } else {
      intent = .delete(try reader.field("delete"))
    }
    ancestor = try reader.field("ancestor")
    base = try reader.field("base")
    byteCount = try reader.amount("byteCount")
    source = try reader.field("source")
    furtherSources = try reader.field("furtherSources")
    conflicts = try reader.amount("conflicts")
    failures = try reader.amount("failures")
    needsLookup = try reader.field("needsLookup")
    wasParked = try reader.field("wasParked")
    isLastTry = try reader.field("isLastTry")
    isMixed = try reader.field("isMixed")
    trials = (try reader.field("trials") as Trials?).map(CopyOnWrite.init)
    try reader.endObject()
  }
}

extension Doubt: CodedValue {
  private static let names: [StaticString] = ["none", "unanswered", "found", "gone"]

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.key("kind")
      switch self {
      case .none: $0.tag(0, of: Self.names)
      case .unanswered: $0.tag(1, of: Self.names)
      case .found(let record):
        $0.tag(2, of: Self.names)
        $0.field("record", record)
      case .gone: $0.tag(3, of: Self.names)
      }
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    try reader.key("kind")
    switch try reader.tag(of: Self.names) {
    case 0: self = .none
    case 1: self = .unanswered
    case 2: self = .found(try reader.field("record"))
    default: self = .gone
    }
    try reader.endObject()
  }
}

extension Trials: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("doubt", doubt)
      $0.field("probes", probes)
      $0.field("probedFor", probedFor)
      $0.field("refusedAt", refusedAt)
      $0.field("reporter", reporter)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    doubt = try reader.field("doubt")
    probes = try reader.amount("probes")
    probedFor = try reader.field("probedFor")
    refusedAt = try reader.field("refusedAt")
    reporter = try reader.field("reporter")
    try reader.endObject()
  }
}
