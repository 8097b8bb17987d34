/// What a response with errors in it means: one verdict for each item of the request, and what it
/// means for the session.
public struct Settlement: Sendable {
  /// For each entry of the request, in its order; empty when nothing is known of any of them.
  public var verdicts: [ItemVerdict]
  /// The pause before the next request.
  public var wait: Wait?
  /// What was learnt about the zone.
  public var zone: ZoneLoss?
  /// Why the account cannot be used.
  public var account: AccountTrouble?
  /// Whether an item was too large together with the others, so that less is to be sent.
  public var isTooLarge: Bool
  /// Why the session must stop.
  public var halt: SyncError?
  /// The error that brought it about, for people.
  public var error: SyncError?

  /// Creates a settlement.
  public init(
    verdicts: [ItemVerdict] = [],
    wait: Wait? = nil,
    zone: ZoneLoss? = nil,
    account: AccountTrouble? = nil,
    isTooLarge: Bool = false,
    halt: SyncError? = nil,
    error: SyncError? = nil
  ) {
    self.verdicts = verdicts
    self.wait = wait
    self.zone = zone
    self.account = account
    self.isTooLarge = isTooLarge
    self.halt = halt
    self.error = error
  }
}

/// What becomes of one entry of a request.
public indirect enum ItemVerdict: Sendable {
  /// It is in the cloud: the record with its new change tag.
  case saved(Record)
  /// It is gone from the cloud.
  case deleted
  /// There is nothing to send: the server's record already says it.
  case alreadyThere(Record)
  /// A conflict was resolved: this edit, with the server's change tag, is sent next; the server's
  /// record is what it starts from now.
  case resolved(Record, server: Record)
  /// A conflict without a server record: it is looked up first.
  case lookUp
  /// The record is gone; this one is saved anew, without a change tag.
  case recreate(Record)
  /// Nothing is known against it; it is sent again from its place.
  case stay
  /// It failed in passing; it is sent again, within its budget if `counted`.
  case again(SyncError, counted: Bool)
  /// It is set aside with its error.
  case park(SyncError)
  /// It is set aside until storage is free.
  case parkForQuota(SyncError)
}

extension ItemVerdict {
  /// Whether the cloud has carried the item out, now or before.
  var isDone: Bool {
    switch self {
    case .saved, .deleted, .alreadyThere: true
    default: false
    }
  }

  /// Whether it shows that the cloud works, if nothing of the item is left in the request.
  var endsWaits: Bool { if case .again(let error, _) = self { !error.mayPass } else { true } }
}

/// Why an account cannot be used at the moment.
public enum AccountTrouble: Int, Sendable, CaseIterable {
  /// Nobody is signed in.
  case signedOut
  /// Somebody is signed in, but the account is not ready.
  case temporarilyUnavailable
  /// The device restricts the use of accounts.
  case restricted
  /// The status cannot be found out.
  case undetermined

  package static let codedNames: [StaticString] = [
    "signedOut", "temporarilyUnavailable", "restricted", "undetermined",
  ]
}

extension AccountTrouble: CodedTag {}

extension Settlement: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    verdicts = try coder.field("verdicts") { $0.verdicts }
    wait = try coder.field("wait") { $0.wait }
    zone = try coder.field("zone") { $0.zone }
    account = try coder.field("account") { $0.account }
    isTooLarge = try coder.field("isTooLarge") { $0.isTooLarge }
    halt = try coder.field("halt") { $0.halt }
    error = try coder.field("error") { $0.error }
  }
}

extension ItemVerdict: CodedValue {
  private static let names: [StaticString] = [
    "saved", "deleted", "alreadyThere", "resolved", "lookUp", "recreate", "stay", "again", "park",
    "parkForQuota",
  ]

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.key("kind")
      switch self {
      case .saved(let record): $0.tag(0, of: Self.names, record: record)
      case .deleted: $0.tag(1, of: Self.names)
      case .alreadyThere(let record): $0.tag(2, of: Self.names, record: record)
      case .resolved(let record, let server):
        $0.tag(3, of: Self.names, record: record)
        $0.field("server", server)
      case .lookUp: $0.tag(4, of: Self.names)
      case .recreate(let record): $0.tag(5, of: Self.names, record: record)
      case .stay: $0.tag(6, of: Self.names)
      case .again(let error, let counted):
        $0.tag(7, of: Self.names, error: error)
        $0.field("counted", counted)
      case .park(let error): $0.tag(8, of: Self.names, error: error)
      case .parkForQuota(let error): $0.tag(9, of: Self.names, error: error)
      }
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    try reader.key("kind")
    switch try reader.tag(of: Self.names) {
    case 0: self = .saved(try reader.field("record"))
    case 1: self = .deleted
    case 2: self = .alreadyThere(try reader.field("record"))
    case 3: self = .resolved(try reader.field("record"), server: try reader.field("server"))
    case 4: self = .lookUp
    case 5: self = .recreate(try reader.field("record"))
    case 6: self = .stay
    case 7: self = .again(try reader.field("error"), counted: try reader.field("counted"))
    case 8: self = .park(try reader.field("error"))
    default: self = .parkForQuota(try reader.field("error"))
    }
    try reader.endObject()
  }
}

extension CodedWriter {
  fileprivate mutating func tag(_ index: Int, of names: [StaticString], record: Record) {
    tag(index, of: names)
    field("record", record)
  }

  fileprivate mutating func tag(_ index: Int, of names: [StaticString], error: SyncError) {
    tag(index, of: names)
    field("error", error)
  }
}

extension Settlement {
  /// Whether no response has come in time.
  var isOfTimeout: Bool { error?.code == .timedOut }
}
