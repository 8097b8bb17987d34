/// Whether the cloud may have a change already.
package enum Doubt: Sendable {
  /// It has not been sent, or was answered.
  case none
  /// It was sent, and the response was lost.
  case unanswered
  /// The same, and a page has told of the record since.
  case found(Record)
  /// The same, and a page has told that the record is gone.
  case gone
}

/// What befell a change that did not go through at once, or did not go alone.
struct ChangeHistory: Sendable {
  var resolutions: [Resolution] = []
  var furtherSources: [UInt64] = []
  var conflicts = 0
  var failures = 0
  var trials = Trials()

  var isEmpty: Bool {
    resolutions.isEmpty && furtherSources.isEmpty && conflicts == 0 && failures == 0
      && trials.isEmpty
  }
}

/// What is known of attempts that failed.
struct Trials: Sendable {
  /// Whether the cloud may have it already.
  var doubt = Doubt.none
  /// Whether the cloud may have a part of it: it was in doubt before it was merged with something else.
  var wasInDoubt = false
  /// Whether it was sent and failed in a way that does not say that the cloud has nothing of it.
  var isOpen = false
  /// What the cloud may have of it: what was sent before it was merged with something else, the last first.
  var sent: [SentEdit] = []
  /// How often in a row it was parked for an error that may pass, and tried again by itself.
  var probes = 0
  /// The error for which it was parked then.
  var probedFor: SyncError?
  /// What ``SyncState/answered`` was when it was last refused in passing; 0 if it was not.
  var refusedAt: UInt64 = 0
  /// The number of the last operation that is told that the record is parked; 0 if none is.
  var reporter: UInt64 = 0

  var isEmpty: Bool {
    guard case .none = doubt else { return false }
    if wasInDoubt || isOpen || !sent.isEmpty { return false }
    return probes == 0 && probedFor == nil && refusedAt == 0 && reporter == 0
  }
}

extension PendingChange {
  /// Whether something has befallen it.
  package var hasHistory: Bool { history != nil }

  /// The conflicts that it went through, the last ones, oldest first.
  var resolutions: [Resolution] {
    get { history?.value.resolutions ?? [] }
    set { change { $0.resolutions = newValue } }
  }
  /// Whether what is sent was decided in a conflict.
  var isResolved: Bool { history?.value.resolutions.isEmpty == false }
  /// The numbers of the other operations whose edits were merged into it.
  package var furtherSources: [UInt64] {
    get { history?.value.furtherSources ?? [] }
    set { change { $0.furtherSources = newValue } }
  }
  /// How often it met a conflict.
  package var conflicts: Int {
    get { history?.value.conflicts ?? 0 }
    set { change { $0.conflicts = newValue } }
  }
  /// How often it was refused in passing.
  package var failures: Int {
    get { history?.value.failures ?? 0 }
    set { change { $0.failures = newValue } }
  }
  package var doubt: Doubt {
    get { history?.value.trials.doubt ?? .none }
    set { change { $0.trials.doubt = newValue } }
  }
  package var probes: Int { history?.value.trials.probes ?? 0 }
  package var probedFor: SyncError? { history?.value.trials.probedFor }

  /// Notes that it is parked for an error that may pass, and tried again by itself.
  package mutating func probe(_ count: Int, for error: SyncError) {
    change {
      $0.trials.probes = count
      $0.trials.probedFor = error
    }
  }

  /// Makes it a change like any other.
  package mutating func endProbing() {
    guard probes > 0 else { return }
    change {
      $0.trials.probes = 0
      $0.trials.probedFor = nil
    }
  }

  package var refusedAt: UInt64 {
    get { history?.value.trials.refusedAt ?? 0 }
    set { change { $0.trials.refusedAt = newValue } }
  }
  package var reporter: UInt64 {
    get { history?.value.trials.reporter ?? 0 }
    set { change { $0.trials.reporter = newValue } }
  }

  /// Whether it was sent and not answered, so that the cloud may have it already.
  package var isInDoubt: Bool { if case .none = doubt { false } else { true } }

  /// Whether nobody can say that the cloud has nothing of it.
  var mayBeSaved: Bool { isInDoubt || history?.value.trials.wasInDoubt == true }

  /// Ends the doubt because it is not what was sent any more: a part of it may be in the cloud all the same.
  mutating func endDoubt() {
    if !isInDoubt { return }
    change {
      $0.trials.doubt = .none
      $0.trials.wasInDoubt = true
    }
  }

  /// What the cloud may have of it, the last first.
  var sentEdits: [SentEdit] { history?.value.trials.sent ?? [] }

  /// Notes that it was sent, or looked up, and failed with an error.
  ///
  /// What could not be looked up is sent with the others: it must not hold them up. Only where a record that is gone must
  /// not be made anew an edit of two versions is looked up again.
  mutating func noteFailure(_ error: SyncError, mayMakeAnew: Bool = true) {
    if needsLookup {
      if !isMixed || mayMakeAnew { giveUpLookup() }
      return
    }
    switch error.code {
    case .serverResponseLost, .timedOut: if !isInDoubt { doubt = .unanswered }
    case .networkFailure, .operationCancelled, .invalidResponse:
      if history?.value.trials.isOpen != true { change { $0.trials.isOpen = true } }
    default: break
    }
  }

  /// Remembers what was sent, before something else is merged with it.
  mutating func rememberSent() {
    guard hasHistory, let edit, let trials = history?.value.trials else { return }
    guard trials.isOpen || isInDoubt else { return }
    let sent = SentEdit(edit: edit, isLost: isInDoubt)
    change {
      $0.trials.isOpen = false
      $0.trials.sent = Array(([sent] + $0.trials.sent).prefix(SentEdit.most))
    }
  }

  /// Forgets what was sent: the cloud has told what it has of the record.
  mutating func forgetSent() {
    guard let trials = history?.value.trials, trials.isOpen || !trials.sent.isEmpty else { return }
    change {
      $0.trials.isOpen = false
      $0.trials.sent = []
    }
  }

  /// Forgets that it was sent: the cloud that may have it is gone.
  mutating func forgetDoubt() {
    forgetSent()
    if !mayBeSaved { return }
    change {
      $0.trials.doubt = .none
      $0.trials.wasInDoubt = false
    }
  }

  /// Changes what befell it; nothing at all is kept as nil.
  mutating func change(_ body: (inout ChangeHistory) -> Void) {
    var changed = history ?? CopyOnWrite(ChangeHistory())
    // Only one holds it while it is changed: the numbers of thousands of merged edits would be
    // copied with every further one.
    history = nil
    body(&changed.value)
    if !changed.value.isEmpty { history = changed }
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

extension Trials: CodedStruct {
  init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    doubt = try coder.field("doubt") { $0.doubt }
    wasInDoubt = try coder.field("wasInDoubt") { $0.wasInDoubt }
    isOpen = try coder.field("isOpen") { $0.isOpen }
    sent = try coder.field("sent") { $0.sent }
    probes = try coder.amount("probes") { $0.probes }
    probedFor = try coder.field("probedFor") { $0.probedFor }
    refusedAt = try coder.field("refusedAt") { $0.refusedAt }
    reporter = try coder.field("reporter") { $0.reporter }
  }
}
